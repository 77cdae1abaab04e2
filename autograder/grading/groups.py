"""Groups of students: one submission counts for all members, with one mark, one lateness and the same hidden inputs.

Every member has a submission and a row in the gradebook, so all that follows needs to know nothing of groups.
`intake.handing_in_together` gives each member the group's newest submission.
"""

from collections.abc import Iterable
from pathlib import Path

from autograder.files import read_json

KEPT = "grading/groups.json"
ALL = ""  # every assignment without groups of its own
Groups = dict[str, list[str]]  # members by the group's name


def kept(root: Path) -> dict[str, Groups]:
    """By assignment, or `ALL`. Raises ValueError if the file cannot be read."""
    return read_json(root / KEPT, "read the lists again: groups FILE")


def of(root: Path, assignment: str) -> Groups:
    found = kept(root)
    return found.get(assignment, found.get(ALL, {}))


def group(root: Path, assignment: str, student: str) -> str:
    """The name of the student's group; "" if there is none."""
    return names(root, assignment).get(student, "")


def members(root: Path, assignment: str, student: str) -> list[str]:
    """Who hands in together with a student, who is one of them."""
    return partners(of(root, assignment), student)


def partners(found: Groups, student: str) -> list[str]:
    return next((them for them in found.values() if student in them), [student])


def inputs_of(root: Path, assignment: str, student: str) -> str:
    """For whom hidden inputs are drawn: the group, so that its members get the same mark and keep it if one leaves."""
    name = group(root, assignment, student)
    return f"group\t{name}" if name else student


def names(root: Path, assignment: str) -> dict[str, str]:
    """By student, the name of the group; without those who are in none."""
    return {student: name for name, found in of(root, assignment).items() for student in found}


def one_of_each(root: Path, assignment: str, students: Iterable[str]) -> list[str]:
    """The students, but of each group the first only."""
    known, seen = names(root, assignment), set[str]()
    found = []
    for student in students:
        name = known.get(student, "")
        if not name or name not in seen:
            found.append(student)
            seen.add(name)
    return found
