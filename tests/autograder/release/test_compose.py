"""A sheet of chosen questions builds, is graded and counts like any assignment, and has what its questions need."""

import nbformat
import pytest

import autograder.grading.execute as execute_module
from autograder import assignments
from autograder.grading import records
from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.question.find import find
from autograder.question.form import COURSE, mentioned
from autograder.question.questions import opened
from autograder.release.build import build_exercises
from autograder.release.compose import compose, core_faults, core_of, core_sheets
from autograder.sandbox import Box
from autograder.texts import notebooks
from autograder.texts.text import from_text
from tests.autograder.courses import ROOT, course, hand_in, nothing, snapshot, writes
from tests.autograder.sandbox.conftest import NEEDS_SANDBOX
from tests.autograder.synthetic import answers

CHOSEN = ("transformer.rms_norm", "gates.leaky", "gates.lstm_step", "attention.attend", "gates.written")
CORE_SHEET = "attention_core"

pytestmark = pytest.mark.filterwarnings("ignore")


def composed(folder, *chosen):
    """The text of a sheet of these questions."""
    there = course(folder, *dict.fromkeys(name.partition(".")[0] for name in chosen))
    (place, _), notes = compose(there, "sheet", "A sheet", chosen)
    return (there / place).read_text(encoding="utf-8"), notes


# --- core and more ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COURSE)
def test_a_core_sheet_lacks_nothing_that_its_questions_need_or_mention(name, tmp_path):
    assert list(core_faults(ROOT, name)) == []
    core = core_of(ROOT, name)
    assert core
    text, notes = composed(tmp_path, *core)
    assert notes == []
    cells = opened(from_text(text, ROOT)).cells
    checks = [cell for cell in cells if cell.source.startswith("check(")]
    exercises = [find(each) for each in core if not each.endswith(".written")]
    assert [cell.metadata.nbgrader["points"] for cell in checks] == [exercise.points for exercise in exercises]
    assert all(exercise.core for exercise in exercises)


def test_what_a_core_question_needs_is_core(tmp_path):
    root = course(tmp_path, "attention")
    path = root / "solutions/attention/attention.py"
    text = path.read_text(encoding="utf-8")
    mark = "[[attention.attend, 30 minutes, medium, core]]"
    path.write_text(text.replace(mark, mark.replace("core", "more")))
    found = list(core_faults(root, "attention"))
    needs = "the question scaled_dot_product_attention also needs attend, which the heading calls more, not core"
    assert needs in found
    assert any(fault.startswith("a cell that needs multi_head_attention") for fault in found)


def test_an_assignment_that_is_all_core_is_its_own_core_sheet(tmp_path):
    root = course(tmp_path, "attention")
    path = root / "solutions/attention/attention.py"
    path.write_text(path.read_text(encoding="utf-8").replace(", more]]", ", core]]"), encoding="utf-8")
    assert core_sheets(root, ["attention"]) == ["attention"]


# --- chosen questions -------------------------------------------------------------------------------------


def test_a_sheet_has_the_given_cells_that_its_questions_need_and_no_others(tmp_path):
    text, _ = composed(tmp_path, "gates.reach", "gates.jacobian_norms", "gates.lstm_step")
    assert "def sigmoid(z):" in text
    assert "def beginning(seed):" in text
    assert "def leaky(" not in text
    assert 'passes("gates.lstm_step", lstm_step)' in text
    assert 'passes("gates.leaky", leaky)' not in text  # that part of the end needs a question that is left out


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (["gates.reach"], "gates.reach builds on gates.jacobian_norms, gates.lstm_step: choose that as well"),
        (["attention.attend", "transformer.attend"], "attention and transformer each define attend"),
        (["gates.written", "attention.written"], "each have a written question"),
        (["gates.nothing"], "gates does not ask for nothing; it has leaky, "),
        (["capstone.bits_per_byte"], "capstone has points that no question"),
        (["nowhere.attend"], "there is no assignment 'nowhere'"),
    ],
)
def test_what_cannot_be_on_one_sheet_is_named(chosen, words, tmp_path):
    names = [name for name in dict.fromkeys(each.partition(".")[0] for each in chosen) if name != "nowhere"]
    root = course(tmp_path, *(names or ["gates"]))
    with pytest.raises(ValueError, match=words):
        compose(root, "sheet", "A sheet", chosen)
    assert not (root / "solutions/sheet").exists()


def test_what_a_sheet_mentions_and_lacks_is_said(tmp_path):
    _, notes = composed(tmp_path, "gates.leaky", "gates.written")
    assert notes == ["gates, written: question 7 is mentioned, and is not on the sheet"]
    assert mentioned("Questions 1a and 2b, not question 3.") == {"1a", "2b", "3"}


# --- from the sheet to the mark ---------------------------------------------------------------------------


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.parametrize("sheet", ["chosen", CORE_SHEET])
def test_the_solutions_earn_everything_and_an_empty_sheet_nothing(sheet, tmp_path, monkeypatch):
    root = course(tmp_path, "attention", "gates", "transformer")
    if sheet == CORE_SHEET:
        assert core_sheets(root, ["attention"]) == [sheet] == core_sheets(root, ["attention"])
        asked = core_of(ROOT, "attention")
    else:
        compose(root, sheet, "Chosen", CHOSEN)
        asked = CHOSEN
    notebooks.build(root)
    for name in ("attention", "gates", "transformer"):
        (root / f"solutions/{name}/{name}.ipynb").unlink()  # only the sheet is released here
    monkeypatch.setattr(assignments, "CHECKOUT", root)
    monkeypatch.syspath_prepend(root)
    build_exercises(root, audited=False)
    hand_in(root, sheet, "solved", writes(answers(root, sheet)))
    hand_in(root, sheet, "empty", nothing)
    with Box() as box:
        monkeypatch.setattr(execute_module, "shared_box", lambda isolation: box)
        list(grade(Course.load(root), sheet))
    worth = {f"check_{name.partition('.')[2]}": find(name).points for name in asked if not name.endswith(".written")}
    for student, factor in (("solved", 1), ("empty", 0)):
        marks = {mark["cell"]: mark["points"] for mark in records.load(root, sheet, student).marks}
        assert marks == {cell: points * factor for cell, points in worth.items()}
    assert snapshot(root, sheet)["solved"]["score"] == sum(worth.values())
    graded = nbformat.read(root / f"autograded/solved/{sheet}/{sheet}.ipynb", as_version=4)
    assert not [out.evalue for cell in graded.cells for out in cell.get("outputs", []) if out.output_type == "error"]
