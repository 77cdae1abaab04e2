"""A notebook that a student hands in: it goes where `collect` puts a download, and the student gets a receipt."""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.extras.desk.trial import NoSuch
from autograder.files import WRITING
from autograder.grading.beside import timestamp_of
from autograder.grading.course import Course
from autograder.guard import Guard
from autograder.intake.handed import Piece
from autograder.intake.place import Place
from autograder.intake.when import in_utc, moment
from autograder.preflight import prepare_guarded

BEGUN = ".hand-in-"
"""How the name of a folder begins in which a notebook is being taken."""


def sweep(course: Course) -> None:
    """Remove what a desk that was killed left half done."""
    for left in course.submitted.glob(f"{BEGUN}*{WRITING}"):
        shutil.rmtree(left, ignore_errors=True)


def assignment_of(course: Course, assignments: Sequence[str], name: str) -> str:
    """The assignment with this notebook. Raises NoSuch."""
    with course.gradebook() as gradebook:
        about = {each.name: each for each in gradebook.assignments}
        known = {
            f"{notebook.name}.ipynb": each
            for each in assignments
            if each in about
            for notebook in sorted(about[each].notebooks, key=lambda one: str(one.name))
        }
    if name not in known:
        raise NoSuch(f"no assignment here has a notebook {name[:80]!r}; there are: {', '.join(known)}. Rename yours")
    return known[name]


def take(
    course: Course, assignment: str, student: str, name: str, notebook: bytes, now: datetime, earlier: Sequence[Any]
) -> dict[str, Any]:
    """Put it into the student's folder, and return the receipt; what was there is kept, and other notebooks of the
    assignment stay. The same notebook once more has the receipt that it had (among the `earlier` ones), or the time at
    which it came in some other way. Raises OSError."""
    made = {
        "student": student,
        "assignment": assignment,
        "notebook": name,
        "time": now.isoformat(timespec="seconds"),
        "bytes": len(notebook),
        "sha256": hashlib.sha256(notebook).hexdigest(),
    }
    course.submitted.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix=BEGUN, suffix=WRITING, dir=course.submitted) as folder,
        Guard() as guard,
    ):
        (Path(folder) / name).write_bytes(notebook)
        place = Place(course, student, assignment, Path(folder) / "new", write=True)
        masters = course.masters(assignment)
        there = place.piece() if len(masters) > 1 else None
        files = {inside: path for inside, path in (there.files if there else {}).items() if inside.endswith(".ipynb")}
        state = place.take([Piece(student, files=files | {name: Path(folder) / name}, when=now)])
        prepared = prepare_guarded(guard, place.folder, masters)
    if state == "same":
        since = moment(timestamp_of(place.folder)[0] or "")
        other = {"time": in_utc(since).isoformat(timespec="seconds")} if since else {}
        made = next((one for one in reversed(earlier) if one["sha256"] == made["sha256"]), made | other)
    wrong = [found.words for found in prepared.findings if found.kind == "blocked"]
    if state == "kept":
        wrong.append("What lies there already has a later time, and counts. Tell your instructor.")
    return {**made, "wrong": wrong}


def in_words(receipt: dict[str, Any]) -> list[str]:
    when = datetime.fromisoformat(receipt["time"])
    return [
        f"Handed in: {receipt['notebook']} of {receipt['assignment']}, by {receipt['student']}.",
        f"  when      {when:%A, %d %B %Y, %H:%M:%S} ({when:%Z})",
        f"  size      {receipt['bytes']} bytes",
        f"  sha256    {receipt['sha256']}",
        *(f"It CANNOT BE GRADED as it is: {words}" for words in receipt["wrong"]),
    ]
