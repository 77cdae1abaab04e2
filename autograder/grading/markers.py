"""Several markers: their names and shares, who marks whose answers, and which answers are marked a second time.

Both follow from the course's secret and the students' ids, so nothing has to be handed out: every marker's page shows
the same division, today and after a restart.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.files import read_json, write_json
from autograder.grading import groups
from autograder.grading.seeds import course_secret, keyed

KEPT = "grading/markers.json"


def shares(root: Path) -> dict[str, float]:
    """By marker; none if nobody has named any. Raises ValueError if the file cannot be read."""
    return read_json(root / KEPT, "name the markers again: markers --share NAME=SHARE")


def keep(root: Path, found: Mapping[str, float]) -> None:
    if found:
        write_json(root / KEPT, dict(found))
    else:
        (root / KEPT).unlink(missing_ok=True)


def divided(root: Path, assignment: str, students: Iterable[str], among: Mapping[str, float]) -> dict[str, str]:
    """By student, the marker. A group has one; shares hold to the nearest student; among: their shares."""
    there = sorted(students)
    drawn = in_drawn_order(root, assignment, groups.one_of_each(root, assignment, there))
    names, whole = list(among), sum(among.values())
    together = groups.of(root, assignment)
    found: dict[str, str] = {}
    for number, student in enumerate(drawn):
        place, name = (number + 0.5) / len(drawn) * whole, 0
        while name < len(names) - 1 and place > sum(among[one] for one in names[: name + 1]):
            name += 1
        found |= dict.fromkeys(groups.partners(together, student), names[name])
    return {student: found[student] for student in there}


def in_drawn_order(root: Path, kind: str, names: Sequence[str]) -> list[str]:
    """In an order that nobody can know or choose, and that is the same every time."""
    secret = course_secret(root)
    return sorted(names, key=lambda name: keyed(secret, kind, name))
