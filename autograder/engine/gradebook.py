"""Marks go into nbgrader's gradebook here, by its own rules, and by one writer.

The same as nbgrader's SaveAutoGrades and AssignLatePenalties, all marks of a submission in one transaction (nbgrader
commits the student and the empty submission before): a mark that a human
gave stays, and the cell is flagged for a second look; an unchanged answer is "No response."; a late submission is
penalised by the course's own plugin. A process that dies leaves the old marks or the new ones, never a mixture.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader import utils
from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    GradeCell,
    InvalidEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.exc import OperationalError

PATIENCE = 60.0
"""Seconds to wait for a gradebook that somebody else has locked."""

Scores = dict[str, dict[str, float | None]]
"""By notebook and cell: the automatic marks; None is no mark."""


class GradebookBusy(Exception):  # noqa: N818 - said to the instructor
    """Another program keeps the gradebook locked, or its server cannot be reached."""


def save_marks(
    gradebook: Any,
    student: str,
    assignment: str,
    notebooks: Mapping[str, Any],
    timestamp: str | None,
    config: Any,
    patience: float | None = None,
) -> Scores:
    """Write a submission's marks, and say which; `notebooks` are graded, by name. Those of the assignment that are not
    among them stay without a mark and ask for a human. Raises GradebookBusy if it cannot be written."""
    until = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        try:
            return _save(gradebook, student, assignment, notebooks, timestamp, config)
        except (OperationalError, InvalidEntry) as error:  # nbgrader makes InvalidEntry of everything
            gradebook.db.rollback()
            if not _passes(error):
                raise
            if time.monotonic() > until:
                raise GradebookBusy(
                    "another program keeps the gradebook locked, or its server cannot be reached"
                    f" ({str(error).splitlines()[0]}). Close what uses it, and run the same command again"
                ) from error
            time.sleep(0.5)


def _passes(error: Exception) -> bool:
    """Whether it is worth another try."""
    said = str(error).lower()
    return any(words in said for words in ("locked", "connection", "connect to server", "deadlock"))


def _save(
    gradebook: Any, student: str, assignment: str, notebooks: Mapping[str, Any], timestamp: str | None, config: Any
) -> Scores:
    gradebook.update_or_create_student(student)
    facts = {"timestamp": timestamp} if timestamp else {}
    submission = gradebook.update_or_create_submission(assignment, student, **facts)
    scores: Scores = {}
    for submitted in submission.notebooks:
        cells = _named(notebooks.get(submitted.name))
        scores[submitted.name] = {}
        for grade in submitted.grades:
            cell = cells.get(grade.name)
            if cell is not None and not utils.is_grade(cell):
                continue  # a task: a human's alone, and nbgrader leaves it to them too
            grade.auto_score = None if cell is None else utils.determine_grade(cell)[0]
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
            scores[submitted.name][grade.name] = grade.auto_score
        for comment in submitted.comments:
            cell = cells.get(comment.name)
            if cell is not None:
                untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
                comment.auto_comment = "No response." if untouched and not utils.is_task(cell) else None
    gradebook.db.flush()
    _penalise(gradebook, submission, student, notebooks, config)
    gradebook.db.commit()
    return scores


def _named(notebook: Any) -> dict[str, Any]:
    """The cells of a notebook by grade_id."""
    cells = [] if notebook is None else notebook.cells
    return {cell.metadata.nbgrader["grade_id"]: cell for cell in cells if cell.metadata.get("nbgrader")}


def _penalise(gradebook: Any, submission: Any, student: str, notebooks: Mapping[str, Any], config: Any) -> None:
    """As the course's plugin says, where the submission is late; none where it is not."""
    late = submission.total_seconds_late
    for submitted in submission.notebooks:
        penalty = None
        if late > 0 and submitted.name in notebooks:
            gradebook.db.refresh(submitted)
            preprocessor = AssignLatePenalties(config=config)
            plugin = preprocessor.plugin_class(parent=preprocessor)
            penalty = plugin.late_submission_penalty(student, submitted.score, late)
            penalty = None if penalty is None else min(max(0, penalty), submitted.score)
        submitted.late_submission_penalty = penalty


def scores_of(gradebook: Gradebook, assignment: str) -> dict[str, Scores]:
    """The automatic marks of everybody, as the gradebook has them: by student, notebook and cell."""
    rows = (
        gradebook.db.query(Student.id, Notebook.name, GradeCell.name, Grade.auto_score)
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(Student, SubmittedAssignment.student_id == Student.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(GradeCell, Grade.cell_id == GradeCell.id)
        .filter(Assignment.name == assignment)
        .all()
    )
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for student, notebook, cell, score in rows:
        found.setdefault(student, {}).setdefault(notebook, {})[cell] = score
    return found


def timestamp_of(folder: Path) -> tuple[str | None, str]:
    """(what nbgrader wrote when it collected the submission, what is wrong with it); (None, "") if there is nothing."""
    path = folder / "timestamp.txt"
    if not path.exists():
        return None, ""
    try:
        if path.is_symlink() or not path.is_file():
            raise ValueError("it is no plain file")
        with open(path, encoding="utf-8") as file:
            words = file.read(200).strip()
        if isinstance(utils.parse_utc(words), datetime):
            return words, ""
    except (OSError, ValueError, OverflowError):
        pass
    return None, "its timestamp.txt holds no time: whether it was late is not known"
