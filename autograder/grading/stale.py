"""Marks that were given before the assignment changed: they are out of other points, or were judged by other checks.

Such a mark stays what it is until `grade` or `regrade` renews it, and whatever shows it or passes it on says so.
"""

from collections.abc import Collection, Iterable

from autograder.grading import records
from autograder.grading.answers import Known
from autograder.grading.course import Course
from autograder.grading.run import basis_of
from autograder.preflight.finding import listed


def stale(course: Course, assignment: str, students: Collection[str]) -> dict[str, float]:
    """Those of the students whose marks are of another version of the assignment, with the maximum that it had then.
    Raises NotACourse for an assignment that the gradebook does not know."""
    masters = course.masters(assignment)
    basis = basis_of(assignment, masters, course.files(assignment))
    notebooks = {master.name for master in masters}
    worth = {
        (master.name, cell.id): float(cell.points or 0.0)
        for master in masters
        for cell in master.cells
        if cell.grade or cell.task
    }
    found = {}
    for student in students:
        record = records.load(course.root, assignment, student)
        known = Known(course.root, assignment, student, course.directory.db_url).points()
        was = {where: of for where, of in known.items() if where[0] in notebooks}
        judged = record is not None and record.state == "graded" and not records.is_of(record, basis)
        if judged or any(worth.get(where) != of for where, of in was.items()):
            found[student] = sum((worth | was).values())
    return found


def in_words(students: Iterable[str], assignment: str) -> str:
    """What to say of them, and to do about it; "" if there are none."""
    there = sorted(students)
    if not there:
        return ""
    who = f"{len(there)} student{'s' if len(there) > 1 else ''} ({listed(there, 12)})"
    return f"graded before the assignment changed: {who}; run python3 -m autograder regrade {assignment}"
