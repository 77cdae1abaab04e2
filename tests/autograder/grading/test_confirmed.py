"""A mark that a person has given stays confirmed as long as the answer is the same, and no longer."""

import re
import shutil

import nbformat
import pytest

import autograder.grading.run as run_module
from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.grading.write import _earned
from autograder.preflight.finding import Prepared
from tests.autograder.courses import ANSWERS, FakeBox, hand_in, writes
from tests.autograder.courses import marked as by_hand
from tests.autograder.grading import fake
from tests.autograder.grading.test_own import by_nbgrader

pytestmark = pytest.mark.filterwarnings("ignore")
BY_HAND = {"why": 3.5, "drawing": 1.0, "test_double": 2.0}
POINTS = (("a", 2), ("b", 4))


@pytest.fixture
def marked(plain, monkeypatch):
    """ada's essay, task and one test are marked by hand."""
    monkeypatch.setattr(run_module, "work", fake.work)
    hand_in(plain, "plain", "ada", writes(ANSWERS))
    list(grade(Course.load(plain), "plain"))
    course = Course.load(plain)
    for cell, points in BY_HAND.items():
        by_hand(course, "ada", cell, points)
    with course.gradebook() as book:
        book.find_comment("why", "one", "plain", "ada").manual_comment = "Good."
        book.db.commit()
    return plain


@pytest.mark.parametrize(
    ("scores", "numbers"), [({"a": 1.5, "b": None}, ["1.5", "2", "4"]), ({"b": None}, ["4"]), ({}, ["0", "0"])]
)
def test_what_is_said_of_a_mark_leaves_out_what_nothing_checks(scores, numbers):
    cells = [nbformat.v4.new_markdown_cell(metadata={"nbgrader": {"grade_id": n, "points": p}}) for n, p in POINTS]
    said = _earned(Prepared({"one": nbformat.v4.new_notebook(cells=cells)}), {"one": scores})
    assert re.findall(r"[\d.]+", said) == numbers


def waits(root) -> set[str]:
    with Course.load(root).gradebook() as book:
        marks = book.find_submission_notebook("one", "plain", "ada").grades
        assert {mark.name: mark.manual_score for mark in marks if mark.manual_score is not None} == BY_HAND
        assert book.find_comment("why", "one", "plain", "ada").manual_comment == "Good."
        return {mark.name for mark in marks if mark.needs_manual_grade}


def handed_in_again(root, **answers: str) -> None:
    shutil.rmtree(root / "submitted" / "ada")
    hand_in(root, "plain", "ada", writes(ANSWERS | answers))


CASES = {
    "nothing but blanks": ({"why": ANSWERS["why"] + "  \n"}, set()),
    "the essay": ({"why": "Because."}, {"why", "drawing"}),  # a task may be answered anywhere
    "the code": ({"double": "def double(x):\n    return 2 * x"}, {"test_double", "drawing"}),
}


@pytest.mark.parametrize(("answers", "waiting"), CASES.values(), ids=CASES)
def test_a_regrade_asks_again_only_for_what_has_changed(marked, answers, waiting):
    list(grade(Course.load(marked), "plain", again=True))
    assert waits(marked) == set()
    handed_in_again(marked, **answers)
    list(grade(Course.load(marked), "plain"))
    assert waits(marked) == waiting
    list(grade(Course.load(marked), "plain", again=True))
    assert waits(marked) == waiting  # until somebody has looked


def test_a_new_picture_in_an_essay_is_another_answer(marked):
    path = marked / "submitted" / "ada" / "plain" / "one.ipynb"
    notebook = nbformat.read(path, as_version=4)
    essay = next(cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id == "why")
    essay["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}}
    nbformat.write(notebook, path)
    list(grade(Course.load(marked), "plain"))
    assert "why" in waits(marked)


def test_killed_before_the_answers_were_kept_it_asks_again(marked, monkeypatch):
    """The graded notebook is the new one already: it must not be taken for what was marked."""
    handed_in_again(marked, why="Because.")
    _killed_while_grading(marked, monkeypatch, again=False)
    list(grade(Course.load(marked), "plain"))
    assert "why" in waits(marked)


def _killed_while_grading(root, monkeypatch, again: bool) -> None:
    """Ends after the graded notebook has been written, before the gradebook."""

    def killed(*about, **more):
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr("autograder.grading.write.save_marks", killed)
        with pytest.raises(InterruptedError):
            list(grade(Course.load(root), "plain", again=again))


def test_a_run_that_was_stopped_confirms_no_less(marked, monkeypatch):
    _killed_while_grading(marked, monkeypatch, again=True)
    list(grade(Course.load(marked), "plain"))
    assert waits(marked) == set()


def test_nbgraders_own_way_confirms_the_same(marked, monkeypatch):
    monkeypatch.setattr("autograder.grading.execute.shared_box", lambda isolation: FakeBox())
    by_nbgrader(marked, "plain", force=True)
    assert waits(marked) == set()
    handed_in_again(marked, why="Because.")
    by_nbgrader(marked, "plain", force=True)
    assert waits(marked) == {"why", "drawing"}
