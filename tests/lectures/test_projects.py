"""Projects: results are kept, sides are compared in pairs, and each has its questions, items and examples."""

import json
import re
from pathlib import Path

import jupytext
import pytest

from autograder.grading.rubric import in_scheme
from autograder.guide.teaching import all_assignments, all_lectures
from autograder.instructor.written import split
from autograder.question.questions import opened
from lectures.projects import compared, examples, kept

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = sorted(path.name for path in (ROOT / "solutions").glob("project_*"))


def test_a_result_is_computed_once_and_read_from_the_file_afterwards(tmp_path: Path) -> None:
    file, runs = tmp_path / "runs.json", []

    def run(seed: int) -> dict[str, float]:
        runs.append(seed)
        return {"loss": seed / 2}

    found = [kept(name, run, seed, file=file) for name, seed in (("a", 1), ("a", 1), ("b", 5))]
    assert found == [{"loss": 0.5}, {"loss": 0.5}, {"loss": 2.5}]
    assert runs == [1, 5]
    assert set(json.loads(file.read_text())) == {"a", "b"}


def test_sides_are_compared_pair_by_pair() -> None:
    assert compared([1.0, 5.0, 9.0], [1.5, 5.5, 9.5]) == "+0.500 ± 0.000 (3 pairs)"  # however far apart seeds are
    assert compared([0.0, 0.0], [1.0, 3.0]) == "+2.000 ± 12.706 (2 pairs)"
    for first, second in (([1.0], [2.0]), ([1.0, 2.0], [1.0])):
        with pytest.raises(ValueError, match="same seeds, two or more"):
            compared(first, second)


@pytest.mark.parametrize("name", PROJECTS)
def test_students_see_the_items_by_which_a_report_is_marked(name: str) -> None:
    cells = opened(jupytext.read(ROOT / "solutions" / name / f"{name}.py")).cells
    (asked,) = (split(cell.source) for cell in cells if "BEGIN MARK SCHEME" in cell.source)
    seen, items = in_scheme(asked[0]), in_scheme(asked[1])
    assert items == seen
    (answer,) = (cell.metadata["nbgrader"] for cell in cells if cell.metadata.get("nbgrader", {}).get("solution"))
    assert sum(item.points for item in items) == answer["points"]
    assert not any("[[" in cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("name", PROJECTS)
def test_three_extracts_have_figures_of_stored_results(name: str) -> None:
    cells = jupytext.read(ROOT / "solutions" / name / f"{name}.py").cells
    (source,) = (cell.source for cell in cells if "examples(" in cell.source and "import" not in cell.source)
    space: dict[str, object] = {"examples": lambda **given: space.update(made=given)}
    exec(
        "from statistics import fmean\nfrom lectures import stored\nfrom lectures.projects import compared\n"
        "from lectures.recipes import tuned_layers\n" + source,
        space,
    )
    reports = space["made"]
    assert list(reports) == ["good", "middling", "poor"]  # type: ignore[call-overload]
    typed = re.findall(r"\d+\.\d{2,}", re.sub(r"\{.*?\}", "", source))
    assert set(typed) <= {"0.001", "0.004", "0.05"}  # rates and a size that matters; every result is computed
    assert "**From a poor report.**" in examples(**reports).data  # type: ignore[arg-type]


def test_every_lecture_has_an_assignment_or_a_project_that_its_text_names() -> None:
    of = {number: [] for number in (one.number for one in all_lectures())}
    for one in all_assignments():
        for number in one.lectures:
            of[number].append(one.name)
    texts = {one.number: one.path.read_text(encoding="utf-8") for one in all_lectures()}
    linked = {number: re.findall(r"\.\./exercises/(\w+)/", text) for number, text in texts.items()}
    without = {number for number, names in of.items() if not {*names} & {*linked[number]}}
    assert without <= {
        one.number for one in all_lectures() if one.topic == "pretraining"
    }  # its assignment is on its way
