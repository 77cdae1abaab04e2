"""The unit of work that a worker does: one submission's notebooks, run in the box and judged. Plain data in and out.

It depends on nothing that the worker's machine must share with the grader's: no gradebook, no folder of the course.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.box import BoxFault, IsolationMissing
from autograder.box.tiers import Isolation
from autograder.engine.execute import run_plan, shared_box
from autograder.engine.plan import plan_notebook
from autograder.engine.results import to_json
from autograder.exercise.find import exercises_of
from autograder.exercise.verdict import GraderFault


@dataclass(frozen=True, kw_only=True)
class Task:
    """One submission."""

    student: str
    assignment: str
    notebooks: Mapping[str, list[dict[str, Any]]]
    """By name: the repaired cells, as plain dictionaries."""
    files: Mapping[str, bytes]
    secret: bytes
    isolation: Isolation
    pictures: bool = False
    """Whether the course's own pictures are drawn into the graded notebook."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of it."""

    student: str
    results: Mapping[str, str]
    """By notebook: `results.to_json`."""
    fault: str = ""
    """What is wrong with the grader, if something is. Then there are no marks."""


def work(task: Task) -> Done:
    """Run and judge. A student's failure is a result; what raises here is a fault of the grader's, and said."""
    results = {}
    try:
        box = shared_box(task.isolation)
        exercises = exercises_of(task.assignment)
        for name, cells in task.notebooks.items():
            place = (task.assignment, name, task.student)
            plan = plan_notebook("/".join(place), cells, exercises, task.secret, place, task.files, task.pictures)
            results[name] = to_json(run_plan(box, plan, cells))
    except (GraderFault, BoxFault, IsolationMissing) as fault:
        return Done(student=task.student, results={}, fault=str(fault))
    except Exception as fault:
        return Done(student=task.student, results={}, fault=f"{type(fault).__name__}: {fault}")
    return Done(student=task.student, results=results)
