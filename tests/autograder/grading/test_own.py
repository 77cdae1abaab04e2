"""The course's own assignment: our command and nbgrader's write the same, known mistakes by name."""

import re
import shutil
from dataclasses import replace

import nbformat
import pytest
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log

import autograder.grading.execute as execute_module
from autograder.grading import records
from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.question.outcome import UNREAD, Fault, Outcome
from solutions.attention.checks import EXERCISES
from tests.autograder.answers import answers, second
from tests.autograder.courses import FakeBox, by_hand, copy, hand_in, nothing, snapshot, writes

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

FULL = sum(exercise.points for exercise in EXERCISES.values())
STUDENTS = [f"wrong-{number}" for number in range(6)]
"""That each mistake is named, the audit asks (`test_checks.py`); here a few show that the name gets into the record."""
BOTH_WAYS = ["right", *STUDENTS[:3]]
"""Those whom nbgrader grades as well: it takes a second for each."""


def by_nbgrader(root, assignment, force=False):
    """`nbgrader autograde`, in this process."""
    config = Course.load(root).config
    config.CourseDirectory.assignment_id, config.Autograde.force = assignment, force
    result = capture_log(Autograde(coursedir=CourseDirectory(config=config), config=config))
    assert result["success"], result
    return result


def mistaken(name, function):
    """The function of a student: "wrong-k" has the k-th misconception of every exercise, "right" has none."""
    exercise = EXERCISES[f"attention.{function}"]
    student = name.rpartition("/")[2]
    if student == "right":
        return second(answers("attention"))[function]
    number = int(student.rpartition("-")[2]) % len(exercise.misconceptions)
    return exercise.misconceptions[number].implementation


@pytest.fixture(scope="module")
def both(own_template, tmp_path_factory):
    """(graded by us, graded by nbgrader), with one secret."""
    ours = copy(own_template, tmp_path_factory.mktemp("ours") / "course")
    for student in [*STUDENTS, "right"]:
        hand_in(ours, "attention", student, writes({"written": "Because."}) if student == "right" else nothing)
    (ours / "grading").mkdir()
    (ours / "grading" / "secret").write_text("17" * 32 + "\n")
    theirs = copy(ours, tmp_path_factory.mktemp("theirs") / "course")
    for student in STUDENTS[3:]:
        shutil.rmtree(theirs / "submitted" / student)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute_module, "shared_box", lambda isolation: FakeBox(mistaken))
        list(grade(Course.load(ours), "attention"))
        by_nbgrader(theirs, "attention")
    return ours, theirs


def test_the_gradebooks_are_equal_cell_by_cell(both):
    one, two = (snapshot(root, "attention") for root in both)
    assert set(one) == {*STUDENTS, "right"}
    assert {student: one[student] for student in BOTH_WAYS} == two


def test_the_graded_notebooks_show_the_same(both):
    for student in ("right", STUDENTS[0]):
        paths = (root / "autograded" / student / "attention" / "attention.ipynb" for root in both)
        one, two = (nbformat.read(path, as_version=4) for path in paths)
        assert [c.source for c in one.cells] == [c.source for c in two.cells]
        assert [c.get("outputs") for c in one.cells] == [c.get("outputs") for c in two.cells]


def test_right_solutions_earn_everything_and_wrong_ones_do_not(both):
    said = f"{FULL:g} of {FULL:g}, and {by_hand('attention'):g} for a human to give"
    assert records.load(both[0], "attention", "right").words == said
    for student in STUDENTS:
        marks = records.load(both[0], "attention", student).marks
        assert len(marks) == len(EXERCISES)
        assert all(0 <= mark["points"] < mark["of"] for mark in marks), marks


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.function)
def test_a_misconception_is_named_in_the_record(both, exercise):
    for number, student in enumerate(STUDENTS):
        mistake = exercise.misconceptions[number % len(exercise.misconceptions)]
        (mark,) = (m for m in records.load(both[0], "attention", student).marks if m["exercise"] == exercise.name)
        assert mark["verdict"]["misconceptions"] == [mistake.id]


def test_the_mark_is_the_last_output_and_the_only_result(both):
    path = both[0] / "autograded" / "wrong-0" / "attention" / "attention.ipynb"
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.metadata.get("nbgrader", {}).get("grade")]
    for cell in (c for c in cells if c.cell_type == "code"):
        assert [o.output_type for o in cell.outputs].count("execute_result") == 1
        assert re.fullmatch(r"\d+\.\d+", cell.outputs[-1].data["text/plain"])


class Unread(FakeBox):
    """What the function returns cannot be read by our own code."""

    def run(self, job):
        fault = Outcome(fault=Fault(kind=UNREAD, words="it cannot be read here"))
        ran = super().run(job)
        cells = [replace(c, outcomes=tuple((fault,) * len(row) for row in c.outcomes)) for c in ran.cells]
        return replace(ran, cells=tuple(cells))


def test_what_our_own_code_fails_at_waits_for_a_person_both_ways(own_template, tmp_path):
    roots = [copy(own_template, tmp_path / name) for name in ("ours", "theirs")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute_module, "shared_box", lambda isolation: Unread(mistaken))
        for root in roots:
            hand_in(root, "attention", "right", nothing)
        (line,) = grade(Course.load(roots[0]), "attention")
        by_nbgrader(roots[1], "attention")
    assert f"{FULL:g} for a human to give" in line.words, line.words
    ours, theirs = (snapshot(root, "attention") for root in roots)
    assert ours == theirs
    grades = ours["right"]["attention"]["grades"]
    assert all((auto, asks) == (None, True) for name, auto, _, asks in grades if name.startswith("check_")), grades


def test_a_mark_does_not_depend_on_who_was_graded_before(both, tmp_path):
    root = copy(both[0], tmp_path / "course")
    before = snapshot(root, "attention")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute_module, "shared_box", lambda isolation: FakeBox(mistaken))
        list(grade(Course.load(root), "attention", [STUDENTS[-1]], again=True))
    assert snapshot(root, "attention") == before
