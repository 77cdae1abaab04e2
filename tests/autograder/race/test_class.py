"""A class races: released, handed in, graded, raced in the sandbox, marked; and a second run races nobody again."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.instructor import report_rows
from autograder.race import board, boxed, heats, parts, rules
from autograder.release.build import build_exercises
from autograder.sandbox.tiers import IsolationMissing
from tests.autograder.courses import course as masters
from tests.autograder.courses import hand_in, nothing
from tests.autograder.race.entries import RIGHT, SMALL

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(300)]


ODD = "\ndef encode(model, text):\n    return []\n"


def broken(name: str, cells: dict[str, nbformat.NotebookNode], notebook: nbformat.NotebookNode) -> None:
    """A student whose entry returns nonsense."""
    their_own(name, cells, notebook)
    notebook.cells[-1].source += ODD
    cells["race"].source = "Name: SURROGATE =1+1"


def their_own(name: str, cells: dict[str, nbformat.NotebookNode], notebook: nbformat.NotebookNode) -> None:
    """A student who replaces all parts: the given cells that define a function of the entry."""
    kept = [
        c for c in notebook.cells if c.cell_type != "code" or not any(f"def {f}(" in c.source for f in parts.FUNCTIONS)
    ]
    notebook.cells = [*kept, new_code_cell(RIGHT)]
    cells["written"].source = "I changed everything at once."
    cells["race"].source = "Name: bigrams of bytes, really. All five parts are mine."


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, list[heats.Result]]:
    root = masters(tmp_path_factory.mktemp("race"), "capstone")
    build_exercises(root, audited=False)
    hand_in(root, "capstone", "ada", their_own)
    hand_in(root, "capstone", "bob", nothing)
    for path in hand_in(root, "capstone", "abe", broken).glob("*.ipynb"):
        path.write_text(path.read_text(encoding="utf-8").replace("SURROGATE", "\\ud800"), encoding="utf-8")
    course = Course.load(root)
    try:
        list(grade(course, "capstone"))
    except IsolationMissing as missing:
        pytest.skip(f"no sandbox on this machine: {missing}")
    return course, list(heats.race(course, "capstone", ["abe", "ada"], SMALL, 0.5, 2, scale=1.0))


def test_one_entrys_fault_is_its_own(raced: tuple[Course, list[heats.Result]]) -> None:
    course, (abe, ada) = raced
    assert [run["fault"] for run in abe.runs["0.5"].values()] == ["raised"]
    assert "encode must return a list of ids" in abe.words
    assert (abe.student, abe.points, ada.student) == ("abe", 0.0, "ada")
    everybody = heats.everybody(course.root, "capstone")
    _, table = board.write(course.root, "capstone", everybody, b"secret", names=True)
    line = next(line for line in table.read_text(encoding="utf-8").splitlines() if ",abe," in line)
    assert line.endswith("no result: raised")


def test_the_entry_is_known_by_its_name_and_its_own_parts(raced: tuple[Course, list[heats.Result]]) -> None:
    _, ada = raced[1]
    assert ada.name == "bigrams of bytes, really"
    assert ada.borrowed == []
    assert {seed: found["fault"] for seed, found in ada.runs["0.5"].items()} == {"0": "", "1": ""}


def test_a_second_run_races_nobody_again(
    raced: tuple[Course, list[heats.Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    course, first = raced
    monkeypatch.setattr(boxed, "run", lambda *given: pytest.fail("raced again"))
    again = list(heats.race(course, "capstone", ["abe", "ada"], SMALL, 0.5, 2, scale=1.0))
    assert [one.runs for one in again] == [one.runs for one in first]


def test_points_and_reasons_go_into_the_gradebook_and_a_mark_by_hand_stays(
    raced: tuple[Course, list[heats.Result]],
) -> None:
    course, (_, ada) = raced
    ada.runs["60"] = ada.runs["0.5"]  # as if it had been a sprint
    assert heats.write_marks(course, "capstone", [ada]) == []
    worth = rules.points(ada.bits(60.0) or 9.0, rules.THRESHOLDS[60.0]) + 5 * rules.PART
    assert ada.written == ada.points == worth
    row = next(row for row in report_rows(course, "capstone") if row.student == "ada")
    assert row.state == "waiting", "the report is for a person"
    with course.gradebook() as book:
        grade = book.find_grade("race", "capstone", "capstone", "ada")
        assert grade.manual_score == worth
        comment = book.find_comment("race", "capstone", "capstone", "ada").manual_comment
        assert "Your own parts: tokenizer, model, optimiser, loop, decoder" in comment
        grade.manual_score = 3.0
        book.db.commit()
    assert heats.write_marks(course, "capstone", [ada]) == ["ada: the mark 3 was given by hand, and stays"]


def test_the_release_says_nothing_that_only_the_grader_may_know(raced: tuple[Course, list[heats.Result]]) -> None:
    text = (Path(raced[0].root) / "exercises" / "capstone" / "capstone.ipynb").read_text(encoding="utf-8")
    assert "MARK SCHEME" not in text
    assert "BEGIN SOLUTION" not in text
    assert "def train(" in text
