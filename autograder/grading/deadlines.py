"""Due dates, and extensions for single students.

Both are nbgrader's: a date of the assignment, and a time that is added to it for one submission. nbgrader can extend
only a submission that is there already, so extensions are kept in a file of the course, and every command that writes
or shows marks copies them to the submissions that have come since.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.files import read_json, write_json
from autograder.grading import groups
from autograder.grading.course import Course, unknown
from autograder.grading.database import patiently

KEPT = "grading/extensions.json"  # by assignment and student: seconds, by the clock on the wall


def kept(root: Path) -> dict[str, dict[str, float]]:
    """All extensions. Raises ValueError if the file cannot be read."""
    return read_json(root / KEPT, "extend again")


def in_force(root: Path) -> dict[str, dict[str, float]]:
    """All extensions as they count: a group has the longest that one of its members has."""
    found = kept(root)
    for assignment, granted in found.items():
        for members in groups.of(root, assignment).values():
            if longest := max((granted[student] for student in members if student in granted), default=0.0):
                granted |= dict.fromkeys(members, longest)
    return found


def apply(submission: Any, extensions: dict[str, dict[str, float]]) -> None:
    """Give a submission the extension that its student was granted, if any. Without a due date there is nothing to
    extend, and nbgrader could not add the two up."""
    seconds = extensions.get(submission.assignment.name, {}).get(submission.student_id)
    if submission.assignment.duedate is None:
        submission.extension = None
    elif seconds is not None:
        due = _here(submission.assignment.duedate)
        submission.extension = later(due, timedelta(seconds=seconds)) - due


def later(due: datetime, by: timedelta) -> datetime:
    """A due date of this machine's zone, moved by the clock on the wall: three days later it is the same time of day,
    even if the clocks have changed."""
    return (due.replace(tzinfo=None) + by).astimezone() if by else due


def due_dates(course: Course) -> dict[str, datetime | None]:
    """By assignment, in nbgrader's order; in this machine's time zone."""
    with course.gradebook() as gradebook:
        return {each.name: each.duedate and _here(each.duedate) for each in gradebook.assignments}


def set_due(course: Course, assignment: str, when: datetime | None) -> None:
    """Set or remove (None) a due date; a time without a zone is this machine's. Raises NotACourse, GradebookFault."""
    extensions = in_force(course.root)
    with course.gradebook() as gradebook:
        about = _assignment(gradebook, assignment)

        def work() -> None:
            about.duedate = None if when is None else when.astimezone(UTC).replace(tzinfo=None)
            for submission in about.submissions:
                apply(submission, extensions)
            gradebook.db.commit()

        patiently(gradebook, work)


def extend(course: Course, assignment: str, students: Iterable[str], by: timedelta) -> datetime:
    """Give students so much longer, instead of any earlier extension, whether they have handed in or not. Returns
    their new due date. Raises NotACourse, ValueError, GradebookFault."""
    chosen, extensions = list(students), kept(course.root)
    together = {one for student in chosen for one in groups.members(course.root, assignment, student)}
    with course.gradebook() as gradebook:
        about = _assignment(gradebook, assignment)
        if about.duedate is None:
            raise ValueError(f"{assignment} has no due date; set one: python3 -m autograder due {assignment} WHEN")
        unknown = sorted(set(chosen) - {student.id for student in gradebook.students})
        if unknown:
            raise ValueError(f"the gradebook knows no student {', '.join(unknown)}; see roster")
        try:
            new = later(_here(about.duedate), by)
        except OverflowError:
            raise ValueError(f"{by.days} days after the due date is after the last day that there can be") from None
        granted = extensions.setdefault(assignment, {})
        for student in chosen:
            granted[student] = by.total_seconds()
            if not by:
                del granted[student]
        write_json(course.root / KEPT, {n: g for n, g in extensions.items() if g})
        counting = in_force(course.root)

        def work() -> None:
            for submission in about.submissions:
                if submission.student_id in together:
                    submission.extension = None
                    apply(submission, counting)
            gradebook.db.commit()

        patiently(gradebook, work)
    return new


def _assignment(gradebook: Any, name: str) -> Any:
    about = {each.name: each for each in gradebook.assignments}
    if name not in about:
        raise unknown(name, about)
    return about[name]


def _here(when: datetime) -> datetime:
    """A time of the gradebook, which has them in UTC without saying so, in this machine's zone."""
    return when.replace(tzinfo=UTC).astimezone()
