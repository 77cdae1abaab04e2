"""Work for other processes, without walls: what is looked at there is who is graded when, not the box."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import autograder.grading.execute as execute_module
import autograder.grading.run as run_module
from autograder.grading.course import Course
from autograder.grading.execute import Done, Task
from tests.autograder.courses import Change, FakeBox, copy, hand_in


def work(task: Task) -> Done:
    """`autograder.grading.execute.work` with a box that is none; afterwards the real one is back."""
    with mock.patch.object(execute_module, "shared_box", side_effect=lambda isolation: FakeBox()):
        return execute_module.work(task)


def graded(template: Path, root: Path, handed_in: Mapping[str, Change]) -> Path:
    """A copy of a course in `root`, whose "plain" each of these students has handed in, and which is graded."""
    copy(template, root)
    for student, change in handed_in.items():
        hand_in(root, "plain", student, change)
    with mock.patch.object(run_module, "work", work):
        list(run_module.grade(Course.load(root), "plain"))
    return root


def work_and_die_once(task: Task) -> Done:
    """The same, but the process that first gets the student "s2" dies of it."""
    marker = Path(os.environ["DIED_ONCE"])
    if task.student == "s2" and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work(task)


def work_and_always_die(task: Task) -> Done:
    """No process survives the student "s2"."""
    if task.student == "s2":
        os.kill(os.getpid(), signal.SIGKILL)
    return work(task)
