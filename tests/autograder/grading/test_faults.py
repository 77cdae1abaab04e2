"""A run that is killed, has no disk, no gradebook or no worker: run again, it ends where an undisturbed one does."""

import errno
import os
import random
import shutil
import signal
import sqlite3
import threading
import time
from pathlib import Path

import nbformat
import pytest

import autograder.grading.database as database_module
import autograder.grading.execute as execute_module
import autograder.grading.gradebook as gradebook_module
import autograder.grading.run as run_module
import autograder.grading.write as write_module
from autograder.grading import records
from autograder.grading.course import Course, NotACourse
from autograder.grading.database import GradebookBusy
from autograder.grading.execute import Done
from autograder.grading.execute import work as real_work
from autograder.grading.run import AlreadyRunning, Broken, grade, only_one, require_built
from autograder.grading.stale import stale
from autograder.preflight.master import Master, MasterCell
from autograder.sandbox import Box
from tests.autograder.courses import ANSWERS, copy, hand_in, nothing, snapshot, writes
from tests.autograder.grading import fake
from tests.autograder.sandbox.conftest import NEEDS_SANDBOX

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

STUDENTS = [f"s{number}" for number in range(5)]


@pytest.fixture(autouse=True)
def no_walls(monkeypatch):
    monkeypatch.setattr(run_module, "work", fake.work)


@pytest.fixture(scope="module")
def small(plain_template, tmp_path_factory):
    """A class of five, handed in, not graded."""
    root = copy(plain_template, tmp_path_factory.mktemp("small") / "course")
    for number, student in enumerate(STUDENTS):
        answers = dict(list(ANSWERS.items())[: number + 1])
        hand_in(root, "plain", student, writes(answers) if number else nothing)
    (root / "submitted" / "s4" / "plain" / "two.ipynb").unlink()
    (root / "grading").mkdir()
    (root / "grading" / "secret").write_text("00" * 32 + "\n")
    return root


@pytest.fixture
def fresh(small, tmp_path):
    return copy(small, tmp_path / "course")


@pytest.fixture(scope="module")
def undisturbed(small, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "work", fake.work)
        root = copy(small, tmp_path_factory.mktemp("undisturbed") / "course")
        assert len(list(grade(Course.load(root), "plain"))) == len(STUDENTS)
    return everything(root)


def everything(root: Path) -> dict[str, object]:
    """The gradebook, cell by cell; the graded notebooks; the records."""
    there = sorted((root / "autograded").rglob("*.ipynb"))
    graded = {path.relative_to(root).as_posix(): nbformat.read(path, as_version=4) for path in there}
    known = {student: records.load(root, "plain", student) for student in STUDENTS}
    return {"gradebook": snapshot(root, "plain"), "notebooks": graded, "records": known}


def in_a_process(root: Path, before) -> int:
    """Grade in a process of its own, in which `before` is called first; its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        before()
        list(grade(Course.load(root), "plain"))
        code = 0
    finally:
        os._exit(code)


def finish(root: Path) -> None:
    """Grade what is left. What has a record is left alone, and nothing else is."""
    done = {s for s in STUDENTS if records.load(root, "plain", s) is not None}
    lines = list(grade(Course.load(root), "plain"))
    assert {line.record.student for line in lines} == set(STUDENTS)
    assert {line.record.student for line in lines if not line.new} == done


@pytest.mark.everything
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_twenty_random_moments(fresh, undisturbed):
    rng, killed, longest = random.Random(5), 0, 0.3
    while killed < 20:
        began = time.monotonic()
        child = in_a_process(fresh, lambda: None)
        time.sleep(rng.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            killed += 1
        else:
            longest = max(0.05, (time.monotonic() - began) / 2)
        if all(records.load(fresh, "plain", s) for s in STUDENTS):  # all done: begin anew with one of them
            records.forget(fresh, "plain", rng.choice(STUDENTS))
        longest *= 1.1
    finish(fresh)
    assert everything(fresh) == undisturbed


@pytest.mark.everything
@NEEDS_SANDBOX
def test_killed_with_notebooks_in_the_real_box(fresh, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "work", real_work)
    alone, rng = copy(fresh, tmp_path / "alone"), random.Random(7)
    monkeypatch.setitem(execute_module._boxes, "auto", Box())
    with execute_module._boxes["auto"]:
        list(grade(Course.load(alone), "plain"))
        killed = 0
        for number in range(4):
            child = in_a_process(fresh, execute_module._boxes.clear)  # a box of its own, which dies with it
            wait_for(lambda done=number: len(list(fresh.rglob("record.json"))) >= done, child)
            time.sleep(rng.random() / 2)
            os.kill(child, signal.SIGKILL)
            killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert killed
        finish(fresh)
    assert snapshot(fresh, "plain") == snapshot(alone, "plain")


def wait_for(condition, child: int) -> None:
    """Until it holds, or the child has ended."""
    until = time.monotonic() + 120
    while not condition() and time.monotonic() < until:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.02)


STEPS = {
    "a file is put in its place": (os, "replace"),
    "an old folder is removed": (shutil, "rmtree"),
    "a notebook is written": (write_module, "write_notebook"),
    "marks are written": (write_module, "save_marks"),
    "a record is written": (records, "save"),
    "late penalties": (gradebook_module, "_penalise"),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_just_before_and_after_every_step(fresh, undisturbed, step, after):
    owner, name = STEPS[step]
    original = getattr(owner, name)

    def deadly(*arguments, **options):
        if after:
            original(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    list(grade(Course.load(fresh), "plain", ["s1"]))  # an older grading lies there
    records.forget(fresh, "plain", "s1")
    child = in_a_process(fresh, lambda: setattr(owner, name, deadly))
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the step was never reached"
    finish(fresh)
    assert everything(fresh) == undisturbed


@pytest.mark.parametrize("where", ["replace", "fsync"])
def test_a_full_disk_stops_the_run_and_spoils_nothing(fresh, undisturbed, monkeypatch, where):
    original, count = getattr(os, where), [0]

    def full(*arguments, **options):
        count[0] += 1
        if count[0] == 7:
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, where, full)
        with pytest.raises(OSError, match="No space left"):
            list(grade(Course.load(fresh), "plain"))
    assert not [path for path in fresh.rglob("*.writing")]
    finish(fresh)
    assert everything(fresh) == undisturbed


def lock(root: Path) -> sqlite3.Connection:
    held = sqlite3.connect(root / "gradebook.db", check_same_thread=False, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    return held


def test_a_gradebook_that_is_locked_for_a_while_is_waited_for(fresh, undisturbed):
    held = lock(fresh)
    threading.Timer(5.5, lambda: held.execute("ROLLBACK")).start()  # longer than SQLite's own patience
    list(grade(Course.load(fresh), "plain"))
    held.close()
    assert everything(fresh) == undisturbed


def test_a_gradebook_that_stays_locked_stops_the_run(fresh, undisturbed, monkeypatch):
    monkeypatch.setattr(database_module, "PATIENCE", 0.0)
    held = lock(fresh)
    with pytest.raises(GradebookBusy, match="locked"):
        list(grade(Course.load(fresh), "plain"))
    held.close()
    finish(fresh)
    assert everything(fresh) == undisturbed


def test_marks_that_are_gone_from_the_gradebook_are_written_again(fresh, undisturbed):
    kept = (fresh / "gradebook.db").read_bytes()
    list(grade(Course.load(fresh), "plain"))
    (fresh / "gradebook.db").write_bytes(kept)  # an older copy was put back
    assert all(line.new for line in grade(Course.load(fresh), "plain"))
    assert everything(fresh) == undisturbed


def test_another_submission_is_graded_anew_and_nobody_else_is(fresh):
    list(grade(Course.load(fresh), "plain"))
    shutil.rmtree(fresh / "submitted" / "s1" / "plain")
    hand_in(fresh, "plain", "s1", writes(ANSWERS))
    lines = list(grade(Course.load(fresh), "plain"))
    assert [line.record.student for line in lines if line.new] == ["s1"]
    assert records.load(fresh, "plain", "s1").words.startswith("5 of 10")  # no box, no files


def test_a_fault_of_the_grader_is_no_mark_and_is_tried_again(fresh, undisturbed, monkeypatch):
    def broken(task):
        if task.student == "s2":
            return Done(student=task.student, results={}, fault="the reference fails")
        return fake.work(task)

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "work", broken)
        lines = {line.record.student: line for line in grade(Course.load(fresh), "plain")}
    assert lines["s2"].record.state == "fault"
    assert "the reference fails" in lines["s2"].words
    assert "s2" not in snapshot(fresh, "plain")
    again = list(grade(Course.load(fresh), "plain"))
    assert [line.record.student for line in again if line.new] == ["s2"]
    assert everything(fresh) == undisturbed


def test_a_grader_that_is_broken_for_all_stops_early(fresh, monkeypatch):
    monkeypatch.setattr(run_module, "work", lambda task: Done(student=task.student, results={}, fault="no box"))
    with pytest.raises(Broken, match="no box"):
        list(grade(Course.load(fresh), "plain"))
    assert not snapshot(fresh, "plain")


def test_two_runs_at_a_time_are_refused(fresh):
    with only_one(fresh / "grading" / "plain"), pytest.raises(AlreadyRunning, match="plain is being graded"):
        list(grade(Course.load(fresh), "plain"))


def test_an_assignment_that_has_changed_since_it_was_built_is_not_graded():
    def sheet(points: float) -> list[Master]:
        kind = {"locked": True, "grade": True, "solution": False, "task": False}
        cell = MasterCell(id="check_additive", type="code", source="", points=points, checksum="", **kind)
        return [Master(name="ngrams", cells=(cell,))]

    require_built("ngrams", sheet(3.0))
    with pytest.raises(NotACourse, match="additive is worth 3 points, and 2 in the gradebook: ngrams has changed"):
        require_built("ngrams", sheet(2.0))


def test_a_second_grading_that_was_interrupted_goes_on_and_old_marks_stay_known_as_old(fresh, monkeypatch):
    course = Course.load(fresh)
    list(grade(course, "plain"))
    second = grade(course, "plain", again=True)
    renewed = next(second).record.student
    second.close()
    assert not stale(course, "plain", STUDENTS)
    with monkeypatch.context() as patch:
        patch.setattr("autograder.grading.stale.basis_of", lambda *_: "other checks")
        graded = {student for student in STUDENTS if records.load(fresh, "plain", student).state == "graded"}
        assert stale(course, "plain", STUDENTS).keys() == graded
        assert len(graded) > 1
    assert {line.record.student for line in grade(course, "plain") if not line.new} == {renewed}
