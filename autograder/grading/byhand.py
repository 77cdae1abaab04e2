"""Marks given by hand: the gradebook's entry for one question, and one transaction to change it.

Formgrader may be open on the same marks, and `grade` may be running: changes made since the mark was read are not
overwritten (the condition is part of the SQL's UPDATE), and the code waits while the gradebook is locked.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from nbgrader.api import BaseCell, Comment, Grade, Notebook, Student, SubmittedAssignment
from sqlalchemy import func, update

from autograder.grading.database import patiently
from autograder.grading.gradebook import all_of


class Answer(NamedTuple):
    """One student's mark for one question, given by hand."""

    grade: str  # its key in the gradebook
    comment: str | None  # the comment's key
    student: str
    name: str  # "Ada Lovelace"; "" if the gradebook does not know it
    auto: float | None
    manual: float | None
    waiting: bool
    words: str  # the person's comment


class ChangedMeanwhile(Exception):  # noqa: N818 - said to the instructor
    """Somebody else, in Formgrader perhaps, has changed one of the marks or comments since they were read."""


def answers_to(gradebook: Any, assignment: str, notebook: str, cell: str) -> list[Answer]:
    """Everybody's mark for one question, two queries for a class."""

    def of(table: Any, kind: str, *columns: Any) -> Any:
        asked = all_of(table, assignment, table.notebook_id, table.id, *columns)
        asked = asked.join(Student, SubmittedAssignment.student_id == Student.id)
        here = asked.where(Notebook.name == notebook, BaseCell.name == cell, BaseCell.type.in_((kind, "TaskCell")))
        return gradebook.db.execute(here)

    comments = of(Comment, "SolutionCell", Comment.manual_comment)
    said = {where: (key, words or "") for where, key, words in comments}
    columns = (Student.id, Student.first_name, Student.last_name)
    found = of(Grade, "GradeCell", *columns, Grade.auto_score, Grade.manual_score, Grade.needs_manual_grade)
    made = []
    for where, key, student, first, last, auto, manual, waiting in found:
        comment, words = said.get(where, (None, ""))
        name = " ".join(filter(None, (first, last)))
        made.append(Answer(key, comment, student, name, auto, manual, waiting, words))
    return made


def mark_by_hand(
    gradebook: Any, seen: Collection[Answer], points: float | None, words: str, patience: float | None = None
) -> None:
    """Give all of these answers the same points and comment, in one transaction. points: None withdraws a mark given by
    hand. Raises ChangedMeanwhile if one of them has changed since it was read, or GradebookBusy; then nothing is
    written.
    """

    def work() -> None:
        for answer in seen:
            waiting = points is None and answer.auto is None
            changed = gradebook.db.execute(
                update(Grade)
                .where(Grade.id == answer.grade, Grade.needs_manual_grade == answer.waiting)
                .where(Grade.manual_score.is_not_distinct_from(answer.manual))
                .values(manual_score=points, needs_manual_grade=waiting),
                execution_options={"synchronize_session": False},
            ).rowcount
            if answer.comment is not None:
                changed &= gradebook.db.execute(
                    update(Comment)
                    .where(Comment.id == answer.comment, func.coalesce(Comment.manual_comment, "") == answer.words)
                    .values(manual_comment=words or None),
                    execution_options={"synchronize_session": False},
                ).rowcount
            if not changed:
                gradebook.db.rollback()
                raise ChangedMeanwhile("a mark or a comment has been changed elsewhere since you saw it")
        gradebook.db.commit()

    patiently(gradebook, work, patience)
