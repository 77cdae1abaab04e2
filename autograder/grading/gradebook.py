"""Marks go into nbgrader's gradebook here, by its own rules, and by one writer.

The same as nbgrader's SaveAutoGrades and AssignLatePenalties, but one transaction per submission, the student and all
marks included: a mark given by hand stays, and is flagged for a second look if the answer has changed; an untouched
answer is "No response."; a late submission is penalised by the course's own plugin. A process that dies leaves the old
marks or the new ones, never a mixture.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader import utils
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import select
from sqlalchemy.orm import selectinload

from autograder.grading import deadlines
from autograder.grading.database import patiently

Scores = dict[str, dict[str, float | None]]  # by notebook and cell: the automatic marks; None is no mark
Same = Mapping[str, Collection[str]]  # by notebook: the cells whose answer is what it was at the last grading

UNMARKED = "nlm-unmarked"
"""In a graded cell's metadata: there is no automatic mark, and the cell must be marked by hand."""


def save_marks(
    gradebook: Any,
    student: str,
    assignment: str,
    notebooks: Mapping[str, Any],
    timestamp: str | None,
    config: Any,
    same: Same,
) -> Scores:
    """Write a submission's marks, and return them; `notebooks` are the graded ones, by name. Other notebooks of the
    assignment stay without a mark and wait to be marked by hand."""
    about = gradebook.find_assignment(assignment)
    shape = _shape(gradebook.db, about)
    submission = _submission(gradebook.db, about, student, shape)
    if timestamp:
        submission.timestamp = utils.parse_utc(timestamp)
    deadlines.apply(submission, deadlines.in_force(_root(config)))
    scores: Scores = {}
    for submitted in submission.notebooks:
        notebook, names = shape[submitted.notebook_id]
        cells = _named(notebooks.get(notebook))
        scores[notebook] = {}
        for grade in submitted.grades:
            name = names[grade.cell_id][0]
            cell = cells.get(name)
            confirmed = stays_confirmed(grade, name in same.get(notebook, ()))
            if cell is not None and not utils.is_grade(cell):
                grade.needs_manual_grade = not confirmed
                continue  # a task: a human's alone, and without an automatic mark
            unmarked = cell is None or cell.metadata.get(UNMARKED)
            grade.auto_score = None if unmarked else utils.determine_grade(cell)[0]
            by_hand = grade.manual_score is not None
            grade.needs_manual_grade = not confirmed if by_hand else grade.auto_score is None
            scores[notebook][name] = grade.auto_score
        for comment in submitted.comments:
            cell = cells.get(names[comment.cell_id][0])
            if cell is not None:
                untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
                comment.auto_comment = "No response." if untouched and not utils.is_task(cell) else None
    gradebook.db.flush()
    _penalise(gradebook, submission, config)
    gradebook.db.commit()
    return scores


def stays_confirmed(grade: Any, same: bool) -> bool:
    """Whether a mark given and confirmed by hand needs no second look, because the answer has not changed."""
    return grade.manual_score is not None and not grade.needs_manual_grade and same


Shape = dict[str, tuple[str, dict[str, tuple[str, str]]]]
"""An assignment's contents, by ids: a notebook's name, and its cells' names and kinds."""


def _shape(db: Any, assignment: Any) -> Shape:
    rows = db.execute(
        select(Notebook.id, Notebook.name, BaseCell.id, BaseCell.name, BaseCell.type)
        .outerjoin(BaseCell, BaseCell.notebook_id == Notebook.id)
        .where(Notebook.assignment_id == assignment.id)
        .order_by(Notebook.name)
    )
    found: Shape = {}
    for notebook, name, cell, cell_name, kind in rows:
        cells = found.setdefault(notebook, (name, {}))[1]
        if cell is not None:
            cells[cell] = (cell_name, kind)
    return found


def _submission(db: Any, assignment: Any, student: str, shape: Shape) -> Any:
    """The submission with everything below it, the existing one or a new one, made as nbgrader does it but not
    committed."""
    found = db.scalars(
        select(SubmittedAssignment)
        .where(SubmittedAssignment.assignment_id == assignment.id, SubmittedAssignment.student_id == student)
        .options(
            selectinload(SubmittedAssignment.notebooks).options(
                selectinload(SubmittedNotebook.grades), selectinload(SubmittedNotebook.comments)
            )
        )
    ).one_or_none()
    if found is not None:
        return found
    if db.get(Student, student) is None:
        db.add(Student(id=student))
        db.flush()  # the submission's key refers to it
    made = SubmittedAssignment(assignment=assignment, student_id=student)
    for notebook, (_, cells) in shape.items():
        submitted = SubmittedNotebook(notebook_id=notebook, assignment=made)
        for cell, (_, kind) in cells.items():
            if kind in ("GradeCell", "TaskCell"):
                Grade(cell_id=cell, notebook=submitted)
            if kind in ("SolutionCell", "TaskCell"):
                Comment(cell_id=cell, notebook=submitted)
    db.add(made)
    return made


def _named(notebook: Any) -> dict[str, Any]:
    cells = [] if notebook is None else notebook.cells
    return {cell.metadata.nbgrader["grade_id"]: cell for cell in cells if cell.metadata.get("nbgrader")}


def renew_penalties(gradebook: Any, assignment: str, config: Any, students: Collection[str] | None = None) -> None:
    """Bring late penalties up to date (by default everybody's): they follow from marks, due dates and extensions, all
    of which may have changed since `grade`. Writes only what differs. Raises GradebookBusy."""
    penalised = all_of(Grade, assignment, SubmittedAssignment.id).where(
        SubmittedNotebook.late_submission_penalty.is_not(None)
    )

    extensions = deadlines.in_force(_root(config))

    def work() -> None:
        known = set(gradebook.db.scalars(penalised))
        for submission in gradebook.assignment_submissions(assignment):
            deadlines.apply(submission, extensions)
            chosen = students is None or submission.student_id in students
            if chosen and (submission.total_seconds_late > 0 or submission.id in known):
                _penalise(gradebook, submission, config)
        gradebook.db.commit()

    patiently(gradebook, work)


def _root(config: Any) -> Path:
    return Path(CourseDirectory(config=config).root)


def _penalise(gradebook: Any, submission: Any, config: Any) -> None:
    late = submission.total_seconds_late
    for submitted in submission.notebooks:
        penalty = None
        if late > 0 and any(
            grade.auto_score is not None or grade.manual_score is not None for grade in submitted.grades
        ):
            gradebook.db.refresh(submitted)
            penalty = late_penalty(config, submission.student_id, submitted.score, late)
        before = submitted.late_submission_penalty
        if (before is None) != (penalty is None) or not math.isclose(before or 0.0, penalty or 0.0, abs_tol=1e-9):
            submitted.late_submission_penalty = penalty


def late_penalty(config: Any, student: str, score: float, late: float) -> float | None:
    """The points that the course's own plugin subtracts from a notebook for so many seconds."""
    penalty = _late_rule(config).late_submission_penalty(student, score, late)
    return None if penalty is None else min(max(0, penalty), score)


def late_arithmetic(config: Any, late: float) -> str:
    """How the penalty for so many seconds comes about, if the plugin says so (`explained`, as in `grading.late`)."""
    explained = getattr(_late_rule(config), "explained", None)
    return "" if explained is None or late <= 0 else str(explained(late))


def _late_rule(config: Any) -> Any:
    preprocessor = AssignLatePenalties(config=config)
    return preprocessor.plugin_class(parent=preprocessor)


def automatic_marks(notebook: Any) -> dict[str, float | None]:
    """The automatic marks of a graded notebook, by cell, as nbgrader reads them; None means that there is no mark."""
    return {name: utils.determine_grade(cell)[0] for name, cell in _named(notebook).items() if utils.is_grade(cell)}


class GradeRow(NamedTuple):
    student: str
    notebook: str
    cell: str
    kind: str  # GradeCell, or TaskCell: a human's alone
    auto: float | None
    manual: float | None
    extra: float | None
    waiting: bool
    penalty: float | None  # of the notebook, for being late


def grade_rows(gradebook: Any, assignment: str) -> Iterator[GradeRow]:
    """Every mark of everybody: one query for a class, not one per mark."""
    where = (SubmittedAssignment.student_id, Notebook.name, BaseCell.name, BaseCell.type)
    marks = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    found = all_of(Grade, assignment, *where, *marks, SubmittedNotebook.late_submission_penalty)
    return (GradeRow(*row) for row in gradebook.db.execute(found))


def all_of(table: Any, assignment: str, *columns: Any) -> Any:
    """A query for every grade, or comment (`table`), of an assignment, joined with all that it belongs to."""
    return (
        select(*columns)
        .select_from(table)
        .join(BaseCell, table.cell_id == BaseCell.id)
        .join(SubmittedNotebook, table.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == assignment)
    )


def scores_of(gradebook: Any, assignment: str) -> dict[str, Scores]:
    """The automatic marks of everybody, as the gradebook has them: by student, notebook and cell."""
    found: dict[str, Scores] = {}
    for row in grade_rows(gradebook, assignment):
        if row.kind == "GradeCell":
            found.setdefault(row.student, {}).setdefault(row.notebook, {})[row.cell] = row.auto
    return found
