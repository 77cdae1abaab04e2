"""One row per student, from the gradebook and the records. What has no mark has none: it is not zero.

States of a row:
    graded          every question has a mark, and none waits
    waiting         some question waits for a person, for a mark or a second look; `score` is what there is so far
    blocked, fault  the submission could not be graded, by its own fault or the grader's; no score
    not graded      handed in, and nobody has graded it yet; no score
    missing         nothing was handed in; no score
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from nbgrader import api

from autograder.engine import records
from autograder.engine.course import Course
from autograder.engine.records import Record

State = Literal["graded", "waiting", "blocked", "fault", "not graded", "missing"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One student."""

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    state: State
    score: float | None
    """Less the penalty, with extra credit."""
    of: float
    penalty: float = 0.0
    extra: float = 0.0
    late: float = 0.0
    """Seconds."""
    questions: dict[str, float | None] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    """Questions at which a person still has to look: those without a mark, and those whose answer has changed since
    somebody marked it by hand."""
    words: str = ""
    """What the record says, in one line."""


@dataclass(frozen=True)
class Asked:
    """One question: its column."""

    notebook: str
    cell: str
    of: float
    name: str
    """The cell's name; with the notebook's before it where two notebooks have the same."""


def questions_asked(course: Course, assignment: str) -> list[Asked]:
    """In the order of the notebooks. Raises NotACourse for an assignment that the gradebook does not know."""
    cells = [
        (master.name, cell.id, float(cell.points or 0.0))
        for master in course.masters(assignment)
        for cell in master.cells
        if cell.grade or cell.task
    ]
    names = [cell for _, cell, _ in cells]
    return [Asked(nb, cell, of, cell if names.count(cell) == 1 else f"{nb}/{cell}") for nb, cell, of in cells]


def report_rows(course: Course, assignment: str) -> list[Row]:
    """A row for everybody whom the gradebook knows or who has handed something in, by the student's name.

    Raises NotACourse for an assignment that the gradebook does not know.
    """
    asked = questions_asked(course, assignment)
    with course.gradebook() as gradebook:
        people = {student.id: student for student in gradebook.students}
        found = _grades(gradebook, assignment)
        late = {s.student_id: s.total_seconds_late for s in gradebook.assignment_submissions(assignment)}
        penalties = _penalties(gradebook, assignment)
        handed_in = set(course.students(assignment))
        return [
            _row(
                people.get(student),
                student,
                asked,
                found.get(student, {}),
                penalties.get(student, 0.0),
                float(late.get(student, 0.0)),
                records.load(course.root, assignment, student) if student in handed_in else None,
                student in handed_in,
            )
            for student in sorted(set(people) | handed_in)
        ]


def _grades(gradebook: Any, assignment: str) -> dict[str, dict[tuple[str, str], Any]]:
    """student -> (notebook, cell) -> the columns of its grade: one query for a class, not one per mark."""
    lines = (
        gradebook.db.query(
            api.SubmittedAssignment.student_id,
            api.Notebook.name,
            api.BaseCell.name,
            api.Grade.auto_score,
            api.Grade.manual_score,
            api.Grade.extra_credit,
            api.Grade.needs_manual_grade,
        )
        .select_from(api.Grade)
        .join(api.BaseCell, api.Grade.cell_id == api.BaseCell.id)
        .join(api.SubmittedNotebook, api.Grade.notebook_id == api.SubmittedNotebook.id)
        .join(api.Notebook, api.SubmittedNotebook.notebook_id == api.Notebook.id)
        .join(api.SubmittedAssignment, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
        .filter(api.Assignment.name == assignment)
    )
    found: dict[str, dict[tuple[str, str], Any]] = {}
    for student, notebook, cell, *columns in lines:
        found.setdefault(student, {})[notebook, cell] = columns
    return found


def _penalties(gradebook: Any, assignment: str) -> dict[str, float]:
    lines = (
        gradebook.db.query(api.SubmittedAssignment.student_id, api.SubmittedNotebook.late_submission_penalty)
        .select_from(api.SubmittedNotebook)
        .join(api.SubmittedAssignment, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
        .filter(api.Assignment.name == assignment)
    )
    found: dict[str, float] = {}
    for student, penalty in lines:
        found[student] = found.get(student, 0.0) + float(penalty or 0.0)
    return found


def _row(
    person: Any,
    student: str,
    asked: Iterable[Asked],
    grades: dict[tuple[str, str], Any],
    penalty: float,
    late: float,
    record: Record | None,
    handed_in: bool,
) -> Row:
    marks: dict[str, float | None] = {}
    waiting = []
    extra = of = 0.0
    for question in asked:
        of += question.of
        automatic, by_hand, more, needs = grades.get((question.notebook, question.cell), (None, None, None, True))
        given = by_hand if by_hand is not None else automatic
        marks[question.name] = None if given is None else float(given) + float(more or 0.0)
        extra += float(more or 0.0) if given is not None else 0.0
        if given is None or needs:
            waiting.append(question.name)
    state = _state(marks, record, handed_in, bool(waiting))
    none = state in ("missing", "not graded", "blocked", "fault")
    return Row(
        student=student,
        first_name=str(getattr(person, "first_name", None) or ""),
        last_name=str(getattr(person, "last_name", None) or ""),
        email=str(getattr(person, "email", None) or ""),
        state=state,
        score=None if none else max(0.0, sum(mark or 0.0 for mark in marks.values()) - penalty),
        of=of,
        penalty=0.0 if none else penalty,
        extra=0.0 if none else extra,
        late=late,
        questions=dict.fromkeys(marks) if none else marks,
        waiting=() if none else tuple(waiting),
        words=record.words if record is not None else "",
    )


def _state(marks: dict[str, float | None], record: Record | None, handed_in: bool, waits: bool) -> State:
    """A record of what failed outweighs marks of an older submission; marks without a record are nbgrader's own."""
    if record is not None and record.state == "fault":
        return "fault"
    if record is not None and record.state == "blocked":
        return "blocked" if all(mark is None for mark in marks.values()) else "waiting"
    if all(mark is None for mark in marks.values()):
        return "not graded" if handed_in else "missing"
    return "waiting" if waits else "graded"
