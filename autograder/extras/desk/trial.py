"""One notebook and one question through pre-flight, sandbox and judges, as in `grade`; returns the part of the answer
that students may see.

The hidden inputs come from a different seed from those used for marks, so nothing learned here is about them. The
answer says which properties hold, and gives the message of a known mistake. For plain nbgrader tests it says only
whether they pass, because their errors would reveal what they test.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader import utils

from autograder import temporary
from autograder.grading.course import Course
from autograder.grading.execute import run_plan, shared_box, show
from autograder.grading.plan import Plan, check_in, plan_notebook
from autograder.grading.seeds import course_secret
from autograder.guard import Guard
from autograder.preflight import Master, prepare_guarded
from autograder.preflight.names import grade_id
from autograder.question.find import exercises_of
from autograder.sandbox.tiers import Isolation

Question = tuple[Master, str]  # a notebook, and the name of a test cell in it


class NoSuch(ValueError):  # noqa: N818 - said to the student
    """There is no such question, or the notebook cannot be read."""


def questions(course: Course, assignment: str) -> dict[str, Question]:
    """The questions, by the names that a student may use: the exercise's, its function's, or the test cell's."""
    found: dict[str, Question] = {}
    for master in course.masters(assignment):
        for cell in master.cells:
            if cell.test:
                asked = check_in(cell.source)
                names = (asked[0], asked[0].partition(".")[2], cell.id) if asked else (cell.id,)
                for name in names:
                    found.setdefault(name, (master, cell.id))
    return found


def chosen(course: Course, assignment: str, name: str) -> Question:
    """Raises NoSuch, which lists the existing ones."""
    known = questions(course, assignment)
    if name not in known:
        cells: dict[tuple[str, str], str] = {}
        for each, (master, cell) in known.items():
            cells.setdefault((master.name, cell), each)
        raise NoSuch(f"no question is called {name[:80]!r}; there are: {', '.join(cells.values())}")
    return known[name]


def tried(
    course: Course, assignment: str, student: str, question: Question, notebook: bytes, isolation: Isolation = "auto"
) -> dict[str, Any]:
    """The answer, as plain data. Raises NoSuch for a notebook that cannot be run, and the box's and grader's faults."""
    master, cell = question
    with tempfile.TemporaryDirectory(prefix="desk-", dir=temporary.home()) as home, Guard() as guard:
        folder = Path(home) / "student" / assignment
        folder.mkdir(parents=True)
        (folder / f"{master.name}.ipynb").write_bytes(notebook)
        prepared = prepare_guarded(guard, folder, [master])
    if master.name not in prepared.notebooks:
        raise NoSuch(" ".join(f.words for f in prepared.findings if f.kind == "blocked") or "the notebook is empty")
    cells = [dict(each) for each in prepared.notebooks[master.name].cells]
    exercises, place = exercises_of(assignment), (assignment, master.name, student, "at the desk")
    secret, files = course_secret(course.root), course.files(assignment)
    plan = _only(plan_notebook("/".join(place), cells, exercises, secret, place, files), cell)
    result = run_plan(shared_box(isolation), plan, cells)
    if result.marks:
        return _judged(result.marks[0].verdict, result.marks[0].stopped, exercises[result.marks[0].exercise])
    show(prepared.notebooks[master.name], result)
    graded = next(c for c in prepared.notebooks[master.name].cells if grade_id(c) == cell)
    earned, of = utils.determine_grade(graded)
    stopped = ["The notebook had to be stopped before its end."] if result.incidents and not result.outputs else []
    return {"holds": bool(earned is not None and earned >= of), "properties": [], "words": stopped}


def _only(plan: Plan, wanted: str) -> Plan:
    """The plan without other test cells, which cost time and are not needed."""
    silent = {*plan.tests, *plan.stock} - {wanted}
    cells = tuple(replace(c, source="", interviews=()) if c.id in silent else c for c in plan.job.cells)
    tests = {key: test for key, test in plan.tests.items() if key == wanted}
    return replace(plan, job=replace(plan.job, cells=cells), tests=tests, stock=plan.stock & {wanted})


def _judged(verdict: Mapping[str, Any], stopped: str, exercise: Any) -> dict[str, Any]:
    sentences = {each.id: each.sentence for each in exercise.misconceptions}
    closed = [f"It uses {name}, which is closed in this question." for name in verdict["closed"]]
    known = [sentences[name] for name in verdict["misconceptions"] if name in sentences]
    written = ["It is not written yet."] if verdict["unwritten"] else []
    return {
        "holds": all(each["holds"] for each in verdict["properties"]),
        "properties": [{"name": each["name"], "holds": each["holds"]} for each in verdict["properties"]],
        "words": [*written, *closed, *known, *(["It had to be stopped before it answered."] if stopped else [])],
    }
