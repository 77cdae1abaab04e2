"""Marks go into nbgrader's gradebook here, by its own rules, and by one writer.

The same as nbgrader's SaveAutoGrades and AssignLatePenalties, in one transaction per submission: a mark that a human
gave stays, and the cell is flagged for a second look; an unchanged answer is "No response."; a late submission is
penalised by the course's own plugin. A process that dies leaves the old marks or the new ones, never a mixture.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from nbgrader import utils
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.exc import OperationalError

PATIENCE = 60.0
"""Seconds to wait for a gradebook that somebody else has locked."""


def save_marks(
    gradebook: Any, student: str, assignment: str, notebooks: Mapping[str, Any], timestamp: str | None, config: Any
) -> None:
    """Write a submission's marks: `notebooks` are graded, by name. Those of the assignment that are not among them
    stay without a mark and ask for a human."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            _save(gradebook, student, assignment, notebooks, timestamp)
            break
        except OperationalError as error:
            gradebook.db.rollback()
            if time.monotonic() > until:
                raise
            if "locked" not in str(error) and "connection" not in str(error):
                raise
            time.sleep(0.5)
    _penalise(gradebook, student, assignment, notebooks, config)


def _save(gradebook: Any, student: str, assignment: str, notebooks: Mapping[str, Any], timestamp: str | None) -> None:
    gradebook.update_or_create_student(student)
    facts = {"timestamp": timestamp} if timestamp else {}
    submission = gradebook.update_or_create_submission(assignment, student, **facts)
    for submitted in submission.notebooks:
        cells = {}
        if submitted.name in notebooks:
            for cell in notebooks[submitted.name].cells:
                about = cell.metadata.get("nbgrader")
                if about:
                    cells[about["grade_id"]] = cell
        for grade in submitted.grades:
            cell = cells.get(grade.name)
            grade.auto_score = None if cell is None or not utils.is_grade(cell) else utils.determine_grade(cell)[0]
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        for comment in submitted.comments:
            cell = cells.get(comment.name)
            if cell is not None:
                untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
                comment.auto_comment = "No response." if untouched and not utils.is_task(cell) else None
    gradebook.db.commit()


def _penalise(gradebook: Any, student: str, assignment: str, notebooks: Mapping[str, Any], config: Any) -> None:
    """As the course's plugin says, where the submission is late; none where it is not."""
    submission = gradebook.find_submission(assignment, student)
    late = submission.total_seconds_late
    preprocessor = AssignLatePenalties(config=config)
    for submitted in submission.notebooks:
        penalty = None
        if late > 0 and submitted.name in notebooks:
            plugin = preprocessor.plugin_class(parent=preprocessor)
            penalty = plugin.late_submission_penalty(student, submitted.score, late)
            penalty = None if penalty is None else min(max(0, penalty), submitted.score)
        submitted.late_submission_penalty = penalty
    gradebook.db.commit()


def timestamp_of(folder: Any) -> str | None:
    """What nbgrader wrote when it collected the submission; None if it says nothing that is a time."""
    try:
        words = (folder / "timestamp.txt").read_text(encoding="utf-8").strip()[:100]
        parsed = utils.parse_utc(words)
    except (OSError, ValueError, OverflowError, UnicodeDecodeError):
        return None
    return words if isinstance(parsed, datetime) else None
