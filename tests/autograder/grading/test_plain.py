"""Assignments of stock nbgrader, asserts in cells, several notebooks: graded in the box by the same engine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.grading.course import Course
from autograder.grading.run import grade
from tests.autograder.courses import ANSWERS, copy, hand_in, nothing, snapshot, writes

pytestmark = [pytest.mark.slow, pytest.mark.everything, pytest.mark.filterwarnings("ignore")]

FORMATTER = """
def triple(x):
    return 1
get_ipython().display_formatter.formatters['text/plain'].for_type(float, lambda x, p, c: p.text('2.0'))
get_ipython().display_formatter.formatters['text/plain'].for_type(int, lambda x, p, c: p.text('99'))
"""


def a_class(root: Path) -> None:
    late = "2025-11-25 12:00:00 UTC"
    hand_in(root, "plain", "all", writes(ANSWERS))
    hand_in(root, "plain", "late", writes(ANSWERS), late)
    hand_in(root, "plain", "half", writes(ANSWERS | {"triple": "def triple(x):\n    return x", "count": "1/0"}))
    hand_in(root, "plain", "loud", writes(ANSWERS | {"double": LOUD}))
    hand_in(root, "plain", "none", nothing, "")
    hand_in(root, "plain", "formats", writes(ANSWERS | {"triple": FORMATTER}))
    hand_in(root, "plain", "leaves", writes(ANSWERS | {"triple": "import os\nos._exit(0)"}))
    gone = hand_in(root, "plain", "gone", writes(ANSWERS))
    (gone / "two.ipynb").unlink()


LOUD = """
import sys, warnings
def double(x):
    warnings.warn('careful')
    print('hm', file=sys.stderr)
    return 2 * x
"""
FULL = {"test_double": 3.0, "test_triple": 2.0, "why": None, "drawing": None, "test_count": 5.0}
EXPECTED = {
    "all": FULL,
    "late": FULL,
    "loud": FULL,
    "half": FULL | {"test_triple": 0.5, "test_count": 0.0},
    "none": FULL | {"test_double": 0.0, "test_triple": 0.0, "test_count": 0.0, "why": 0.0},
    "leaves": FULL | {"test_triple": 0.0},
}

PENALTY = """
from nbgrader.plugins import BasePlugin
class Daily(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late // 86400
get_config().AssignLatePenalties.plugin_class = Daily
"""


def due(root: Path) -> None:
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(PENALTY)
    with Course.load(root).gradebook() as book:
        book.update_or_create_assignment("plain", duedate="2025-11-22 12:00:00 UTC")


@pytest.fixture(scope="module")
def graded(plain_template, tmp_path_factory):
    """The same class, graded by our command and by nbgrader's."""
    ours, theirs = (copy(plain_template, tmp_path_factory.mktemp(name) / "course") for name in ("ours", "theirs"))
    for root in (ours, theirs):
        due(root)
        a_class(root)
    lines = list(grade(Course.load(ours), "plain"))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "JUPYTER_PLATFORM_DIRS": "1"}
    (theirs / "grading").mkdir()
    shutil.copy(ours / "grading" / "secret", theirs / "grading" / "secret")
    line = [sys.executable, "-m", "nbgrader", "autograde", "plain"]
    done = subprocess.run(line, cwd=theirs, env=environment, capture_output=True, text=True, check=False)
    return ours, theirs, lines, done.stdout + done.stderr


def marks(root: Path, student: str) -> dict[str, float | None]:
    one = snapshot(root, "plain")[student]
    return {g[0]: g[1] for name in ("one", "two") for g in one[name]["grades"]}  # type: ignore[index]


@pytest.mark.parametrize("student", sorted(EXPECTED))
def test_every_cell_has_the_mark_that_it_deserves(graded, student):
    assert marks(graded[0], student) == EXPECTED[student]


def test_a_missing_notebook_has_no_marks_and_is_said(graded):
    ours, _, lines, _ = graded
    assert marks(ours, "gone") == FULL | {"test_count": None}
    line = next(line for line in lines if line.record.student == "gone")
    assert line.record.state == "blocked"
    assert "no two.ipynb" in line.words


def test_a_formatter_cannot_write_its_own_mark(graded):
    """In a plain test cell the displayed number is the student's own process's: it is never above the maximum."""
    assert marks(graded[0], "formats")["test_triple"] <= 2.0


def test_both_ways_write_the_same_into_the_gradebook(graded):
    ours, theirs, _, log = graded
    one, two = snapshot(ours, "plain"), snapshot(theirs, "plain")
    assert set(one) == set(two), log
    for student in sorted(set(one) - {"gone"}):
        assert one[student] == two[student], (student, log)


def test_the_late_one_pays_what_the_plugin_says_and_nobody_else(graded):
    found = snapshot(graded[0], "plain")
    late = {student: [one[name]["late"] for name in ("one", "two")] for student, one in found.items()}  # type: ignore[index]
    assert late == {student: [3, 3] if student == "late" else [None, None] for student in found}


def test_a_mark_by_hand_and_extra_credit_survive_another_grading(graded):
    root = graded[0]
    with Course.load(root).gradebook() as book:
        mark = book.find_grade("why", "one", "plain", "all")
        mark.manual_score, mark.extra_credit, mark.needs_manual_grade = 3.5, 1, False
        book.find_comment("why", "one", "plain", "all").manual_comment = "Good."
        book.db.commit()
    lines = list(grade(Course.load(root), "plain", ["all"], again=True))
    assert [line.new for line in lines] == [True]
    with Course.load(root).gradebook() as book:
        kept = book.find_grade("why", "one", "plain", "all")
        assert (kept.manual_score, kept.extra_credit, kept.needs_manual_grade) == (3.5, 1, False)
        assert book.find_comment("why", "one", "plain", "all").manual_comment == "Good."
        assert book.find_submission("plain", "all").score == 3 + 2 + 5 + 3.5 + 1


def test_one_who_ends_the_process_is_told_of_and_harms_only_that_cell(graded):
    line = next(line for line in graded[2] if line.record.student == "leaves")
    assert line.record.state == "graded"
    assert any("triple" in words for words in line.record.incidents), line.record.incidents
