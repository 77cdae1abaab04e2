"""What pre-flight found, for a terminal; and pre-flight for a class."""

from collections.abc import Sequence
from typing import Any

from autograder.preflight.folder import Prepared, prepare

_HEADS = {"blocked": "NOT GRADABLE", "repaired": "repaired", "note": "note", "ignored": "left behind"}
"""The kinds of findings, in the order in which they are said."""


def report(prepared: Prepared) -> str:
    """One line per finding, kinds apart; "nothing to say" if there is none."""
    width = max(map(len, _HEADS.values()))
    lines = [
        f"{head:<{width}}  {finding.words}"
        for kind, head in _HEADS.items()
        for finding in prepared.findings
        if finding.kind == kind
    ]
    return "\n".join(lines) or "nothing to say"


def check_folder(course: Any, assignment: str, students: Sequence[str] | None = None) -> list[tuple[str, Prepared]]:
    """(student, what was found) for everybody, or for these students; one who has handed in nothing is blocked.

    course: `autograder.engine.course.Course`, or anything with its `masters`, `students` and `submission`.
    """
    masters = course.masters(assignment)
    chosen = course.students(assignment) if students is None else students
    return [(student, prepare(course.submission(student, assignment), masters)) for student in chosen]
