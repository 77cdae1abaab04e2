"""Work for other processes, without walls: what is looked at there is who is graded when, not the box."""

import os
import signal
from pathlib import Path
from unittest import mock

import autograder.grading.execute as execute_module
from autograder.grading.execute import Done, Task
from tests.autograder.courses import FakeBox


def work(task: Task) -> Done:
    """`autograder.grading.execute.work` with a box that is none; afterwards the real one is back."""
    with mock.patch.object(execute_module, "shared_box", side_effect=lambda isolation: FakeBox()):
        return execute_module.work(task)


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
