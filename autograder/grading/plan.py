"""The plan for a submitted notebook: which cells run, and which functions get which questions at which point.

Our test cells, such as `check("attention.attend", attend)`, are not run. Instead, the student's function is called at
that point on public and hidden inputs, and its results are judged outside. Every other code cell runs unchanged. The
text of the test cells is that of the source notebook (nbgrader restores it first), so the names in it are reliable.
"""

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.grading.seeds import hidden_seed
from autograder.question.interview import Answers, Question, call_seconds, cases_of, questions
from autograder.question.questions import check_calls, is_dotted, is_text
from autograder.question.specification import Exercise
from autograder.question.verdict import expected_answers
from autograder.sandbox import Cell, Interview, Job

MODULES = "the course's own modules"


@dataclass(frozen=True, kw_only=True)
class Test:
    """One of our test cells: an exercise, and its questions."""

    cell: str  # the cell's grade_id
    exercise: Exercise
    function: str  # the name that the student's function has at this cell
    seed: int
    asked: tuple[Question, ...]

    @functools.cached_property
    def right(self) -> list[Answers]:
        return expected_answers(self.exercise, self.asked, self.seed)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A job for the sandbox, and what the grader needs to judge the results."""

    job: Job
    places: tuple[int, ...]  # for each cell of the job, the number of the notebook's cell; -1 for none
    tests: Mapping[str, Test]  # by the id of the job's cell: a name for humans
    stock: frozenset[str]  # ids of test cells that are plain nbgrader: asserts, which run in the box


def plan_notebook(
    name: str,
    cells: Sequence[Any],
    exercises: Mapping[str, Exercise],
    secret: bytes,
    place: Sequence[str],
    files: Mapping[str, bytes],
    pictures: bool = False,
) -> Plan:
    """The plan for a notebook's cells.

    name: for messages. place: assignment, notebook and student: with `secret`, they determine the hidden inputs. files:
    the submission's other files, which its cells may read. pictures: draw the course's own pictures.
    """
    jobs: list[Cell] = []
    known: set[str] = set()
    places, tests, stock = [], {}, set()
    if any(name.endswith(".py") for name in files):  # the instructor's own: a submission's are left behind
        jobs.append(Cell(id=MODULES, source="import sys; sys.path.insert(0, '')", whole=True))
        places.append(-1)
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code" or not cell["source"].strip():
            continue
        about = cell["metadata"].get("nbgrader", {})
        key = about.get("grade_id") or f"code cell {number + 1}"
        if key in known:
            key = f"{key} (cell {number + 1})"
        known.add(key)
        interviews: tuple[Interview, ...] = ()
        if about.get("grade") and not about.get("solution"):
            found = check_in(cell["source"])
            if found is not None and found[0] in exercises:
                test = _test(about["grade_id"], exercises[found[0]], found[1], secret, place)
                tests[key] = test
                interviews = (_interview(test),)
            else:
                stock.add(key)
        plain = key in stock
        jobs.append(Cell(id=key, source=cell["source"], interviews=interviews, whole=plain, test=plain))
        places.append(number)
    closed = tuple(sorted({full for test in tests.values() for full in test.exercise.closed}))
    seed = hidden_seed(secret, *place, "the notebook's own generator")
    job = Job(name=name, cells=tuple(jobs), closed=closed, seed=seed, files=files, pictures=pictures)
    return Plan(job=job, places=tuple(places), tests=tests, stock=frozenset(stock))


def check_in(source: str) -> tuple[str, str] | None:
    """(exercise, function) if a test cell's text calls `check` for the hidden inputs; None if it is something else."""
    try:
        calls = list(check_calls(source))
    except SyntaxError:
        return None
    for call in calls:
        if len(call.args) == 2 and any(k.arg == "hidden" for k in call.keywords):
            name, function = call.args
            if is_text(name) and is_dotted(function):
                return ast.literal_eval(name), ast.unparse(function)
    return None


def _test(cell: str, exercise: Exercise, function: str, secret: bytes, place: Sequence[str]) -> Test:
    seed = hidden_seed(secret, *place, exercise.name)
    return Test(cell=cell, exercise=exercise, function=function, seed=seed, asked=tuple(questions(exercise, seed)))


def _interview(test: Test) -> Interview:
    calls = tuple(tuple(arguments) for case in cases_of(test.asked) for arguments in case.calls)
    exercise = test.exercise
    return Interview(
        function=test.function,
        arguments=exercise.arguments,
        returns=exercise.returns,
        calls=calls,
        numpy=exercise.numpy,
        call_cpu=call_seconds(exercise),
        meanwhile=lambda: test.right,
    )
