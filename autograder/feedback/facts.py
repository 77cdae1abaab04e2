"""The facts about one student's notebook, from the gradebook and the record, for the feedback page."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry

from autograder.grading import records
from autograder.grading.incidents import for_students


@dataclass(frozen=True, kw_only=True)
class Grade:
    score: float | None  # None: not marked yet. That is not zero.
    of: float
    by_hand: bool = False
    waiting: bool = False  # a person still has to look at it
    extra: float = 0.0  # extra credit; `score` holds it already


@dataclass(frozen=True, kw_only=True)
class Facts:
    student: str
    assignment: str
    notebook: str
    grades: dict[str, Grade] = field(default_factory=dict)  # by the name of the graded cell
    comments: dict[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    late: float = 0.0  # seconds
    arithmetic: str = ""  # how the penalty comes about
    others: tuple[tuple[str, float, float], ...] = ()  # other notebooks: name, score less penalty, maximum
    stale: bool = False  # graded before the assignment changed
    state: str = "graded"
    words: str = ""
    findings: tuple[dict[str, str], ...] = ()
    incidents: tuple[str, ...] = ()  # as a student is told them

    @property
    def score(self) -> float:
        """The points earned so far, minus the penalty."""
        return max(0.0, sum(g.score or 0.0 for g in self.grades.values()) - self.penalty)

    @property
    def of(self) -> float:
        return sum(grade.of for grade in self.grades.values())

    @property
    def extra(self) -> float:
        return sum(grade.extra for grade in self.grades.values())

    @property
    def open(self) -> float:
        return sum(grade.of for grade in self.grades.values() if grade.score is None)


def facts(gradebook: Any, root: Path, assignment: str, notebook: str, student: str) -> Facts:
    """All the facts; if the gradebook does not have the submission, those of the record."""
    known = records.load(root, assignment, student)
    about: dict[str, Any] = {"student": student, "assignment": assignment, "notebook": notebook}
    if known is not None:
        about |= {"state": known.state, "words": known.words, "incidents": for_students(map(str, known.incidents))}
        about["findings"] = tuple(known.findings)
    try:
        submitted = gradebook.find_submission_notebook(notebook, assignment, student)
    except MissingEntry:
        return Facts(**about)
    comments = {c.name: str(c.comment) for c in submitted.comments if c.comment}
    others = tuple(
        (other.name, other.score - (other.late_submission_penalty or 0.0), other.max_score)
        for other in submitted.assignment.notebooks
        if other.name != notebook
    )
    return Facts(
        grades={grade.name: grade_of(grade) for grade in submitted.grades},
        comments=comments,
        penalty=float(submitted.late_submission_penalty or 0.0),
        late=float(submitted.assignment.total_seconds_late),
        others=others,
        **about,
    )


def grade_of(grade: Any) -> Grade:
    """From nbgrader's Grade, whose own `score` is 0 if there is no mark."""
    given = grade.manual_score if grade.manual_score is not None else grade.auto_score
    extra = float(grade.extra_credit or 0.0)
    return Grade(
        score=None if given is None else float(given) + extra,
        of=float(grade.cell.max_score),
        by_hand=grade.manual_score is not None,
        waiting=bool(grade.needs_manual_grade),
        extra=extra,
    )
