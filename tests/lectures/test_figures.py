"""The pictures beside the lectures are those that their functions draw, and each is described and shown somewhere."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lectures.figures import make
from tests.pictures import nameless_in_html

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "lectures" / "figures"
SECONDS = 10.0
"""What one picture may take of the processor to draw; more belongs into a recipe whose results the picture reads.

Processor time: on a machine that is busy with other things the clock on the wall says nothing of the picture.
"""


SOURCES = {name: source.stem for source in make.sources() for name in make.pictures(source)}
DRAWN = {name: draw for source in make.sources() for name, draw in make.pictures(source).items()}


def same_picture(one: str, other: str) -> bool:
    """Equal but for the last digits of numbers and the last shade of colours, which differ between machines.

    Some drawings name themselves by a digest of their numbers (`nlm-3c12f7d8`); that name differs then, too.
    """
    one, other = (re.sub(r"nlm-[0-9a-f]{8}", "nlm", text) for text in (one, other))
    numbers = re.compile(r"#[0-9a-fA-F]{6}\b|-?\d+(?:\.\d+)?")
    if numbers.split(one) != numbers.split(other):
        return False
    for left, right in zip(numbers.findall(one), numbers.findall(other), strict=True):
        if left.startswith("#") != right.startswith("#"):
            return False
        if left.startswith("#"):
            shades = [(int(left[i : i + 2], 16), int(right[i : i + 2], 16)) for i in (1, 3, 5)]
            if any(abs(a - b) > 2 for a, b in shades):
                return False
        elif abs(float(left) - float(right)) > max(0.11, 0.002 * abs(float(left))):
            return False
    return True


@pytest.mark.parametrize(("name", "draw"), DRAWN.items(), ids=DRAWN)
def test_a_picture_is_as_its_function_draws_it(name: str, draw: Callable[[], str]) -> None:
    began = time.process_time()
    drawn = draw()
    seconds = time.process_time() - began
    path = FIGURES / f"{name}.svg"
    assert path.exists(), f"not drawn yet: python lectures/figures/make.py {SOURCES[name]}"
    committed = path.read_text(encoding="utf-8")
    assert same_picture(committed, drawn), f"{path.name} is old: python lectures/figures/make.py {SOURCES[name]}"
    assert drawn == draw(), "drawn twice, the picture differs: something in it is random"
    assert not nameless_in_html(committed), "a picture without alternative text"
    assert committed.startswith("<svg") or committed.startswith("<?xml")
    assert "xmlns" in committed[:2000], "without xmlns a browser does not show the file"
    assert seconds < SECONDS * float(os.environ.get("NLM_TIME_FACTOR", "1")), (
        f"{seconds:.1f} s of the processor to draw {name}"
    )


def test_every_picture_has_a_function_and_a_place() -> None:
    lectures = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "lectures").glob("[0-9][0-9]_*.py"))}
    shown = {name for text in lectures.values() for name in re.findall(r"figures/([\w.-]+\.(?:svg|png))", text)}
    there = {path.name for path in FIGURES.iterdir() if path.suffix in (".svg", ".png")}
    assert there == {f"{name}.svg" for name in DRAWN}, "every picture beside the lectures is drawn by a function"
    assert shown <= there, f"shown, but not there: {sorted(shown - there)}"
    assert there <= shown, f"no lecture shows {sorted(there - shown)}"


def test_only_the_lectures_that_are_asked_for_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for topic in ("gates", "cells"):
        (tmp_path / f"{topic}.py").write_text(f"PICTURES = {{'{topic}_dot': lambda: '<svg/>'}}\n")
    monkeypatch.setattr(make, "HERE", tmp_path)
    make.main(["gates"])
    assert capsys.readouterr().out == "gates_dot.svg\n"
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == ["gates_dot.svg"]
    with pytest.raises(ValueError, match="these have: cells, gates"):
        make.main(["7"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('<g class="nlm-3c12f7d8" x="1"/>', '<g class="nlm-a0b5ce9d" x="1"/>', True),
        ('<rect x="1.0" fill="#102030"/>', '<rect x="1.1" fill="#112131"/>', True),
        ('<rect x="1.0"/>', '<rect x="1.3"/>', False),
        ('<rect fill="#102030"/>', '<rect fill="#902030"/>', False),
        ('<rect x="1.0"/>', '<circle x="1.0"/>', False),
        ('<path d="M1 2L3 4"/>', '<path d="M1 2L3 4L5 6"/>', False),
    ],
)
def test_pictures_are_compared_as_pictures(one: str, other: str, same: bool) -> None:
    assert same_picture(one, other) is same
