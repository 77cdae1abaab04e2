"""The pictures beside the stored results are drawn from them, described, and shown on their page."""

import json
import re
import xml.dom.minidom as xml
from pathlib import Path

import pytest

from lectures.results import draw
from tests.lectures.test_figures import same_picture
from tests.pictures import nameless_in_html

RESULTS = Path(__file__).resolve().parents[2] / "lectures" / "results"


@pytest.mark.parametrize("name", draw.PICTURES)
def test_a_picture_is_what_its_result_says(name: str) -> None:
    facts = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    drawn = draw.PICTURES[name](facts)
    committed = (RESULTS / f"{name}.svg").read_text(encoding="utf-8")
    assert same_picture(committed, drawn), f"{name}.svg is old: python lectures/results/draw.py {name}"
    xml.parseString(committed)
    assert not nameless_in_html(committed)
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert f"]({name}.svg)" in page
    assert f"python lectures/results/draw.py {name}" in page


def test_no_other_pictures_lie_there() -> None:
    assert {path.stem for path in RESULTS.glob("*.svg")} == set(draw.PICTURES)


def test_a_law_is_drawn_through_what_was_measured() -> None:
    """The constant belongs to the exponent: at the middle of the fitted lengths the line has the costs' mean."""
    facts = {
        "lines": {"a": "attention"},
        "seconds": {"a": {"2": 9.0, "4": 0.5, "8": 1.9, "16": 8.1}},
        "law": {"time": {"a": {"exponent": 2.0, "low": 1.5, "high": 2.5, "start": 4, "end": 16}}},
    }
    drawing = draw.costs_of(facts, "seconds", "time", {1: "1 s"}, "seconds", "Time")
    ends = re.findall(r'<polyline points="([\d.]+),([\d.]+) ([\d.]+),([\d.]+)"', drawing)[0]
    (x1, y1, x2, y2), dots = map(float, ends), re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawing)
    middle = [float(y) for _, y in dots[2:5]]  # the first is the legend's
    assert float(dots[2][0]) == pytest.approx(x1)
    assert float(dots[4][0]) == pytest.approx(x2)
    assert (y1 + y2) / 2 == pytest.approx(sum(middle) / 3, abs=0.2)
    assert "∝ n^2.00 (1.50 to 2.50)" in drawing


def test_a_name_that_is_none_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(SystemExit, match="no picture of 'memory'; there are: looking_back"):
        draw.main(["memory"])
    (tmp_path / "few_shot.json").write_text((RESULTS / "few_shot.json").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(draw, "HERE", tmp_path)
    draw.main(["few_shot"])
    assert capsys.readouterr().out == "few_shot.svg\n"
    assert (tmp_path / "few_shot.svg").read_text(encoding="utf-8").startswith("<svg")
