"""Downloads -> submitted/STUDENT/ASSIGNMENT/, each file in its place, and no existing file is lost.

The newest submission of a student goes where `grade` looks; every other one goes under `submitted/STUDENT/.earlier/`,
where neither it nor nbgrader looks. Collecting the same downloads again changes nothing.
"""

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from autograder.files import WRITING, write_whole
from autograder.grading.course import Course
from autograder.grading.run import only_one
from autograder.intake.handed import Download, Expected, Piece, read_download
from autograder.intake.naming import Found, Names, joined, spellings
from autograder.intake.place import Place
from autograder.intake.roster import people_of
from autograder.intake.when import Known, in_utc, read_pairs

NUMBERS = "moodle.json"
"""In grading/ASSIGNMENT/: by student, the numbers under which Moodle or Canvas gave the submission out, and takes
feedback."""


@dataclass(frozen=True)
class Unmatched:
    label: str
    why: str
    nearest: tuple[str, ...]
    suggested: tuple[str, ...] = ("",)  # an id, or none, for each who has handed it in


@dataclass
class Collected:
    """The changes made with the downloads, or planned."""

    downloads: list[Download] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    """By student. new: there was no submission. newer: the existing one is now among the earlier ones. kept: this is an
    earlier one. same: it existed already."""
    unmatched: list[Unmatched] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # by the list of pairs
    trouble: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)  # marked so by the system, without a time
    timeless: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # who has handed in nothing

    def pairs(self) -> str:
        """Lines for everything that was not matched, to be corrected by hand: NAME,STUDENT."""
        text = io.StringIO()
        lines = ([one.label, student] for one in self.unmatched for student in one.suggested)
        csv.writer(text, lineterminator="\n").writerows(lines)
        return text.getvalue()


def collect(
    course: Course, assignment: str, downloads: Sequence[Path], pairs: Sequence[Path] = (), write: bool = True
) -> Collected:
    """Raises Unusable or ValueError, with a message, for a download or a list that cannot be read; then nothing is
    collected. NotACourse for an assignment that the gradebook does not know, AlreadyRunning while it is being
    graded."""
    notebooks = tuple(master.name for master in course.masters(assignment))
    with course.gradebook() as gradebook:
        names = Names(people_of(gradebook))
    if not names.people:
        raise ValueError("the gradebook knows no students to match names with: python3 -m autograder roster FILE")
    made = Collected()
    known: dict[str, Known] = {}
    for path in pairs:
        found, trouble = read_pairs(path, names)
        for name, said in found.items():
            known[name] = replace(said, when=said.when or known.get(name, said).when)
        made.trouble += trouble
    expected = Expected(assignment, notebooks, lambda name: bool(names.find(name).ids))
    course.submitted.mkdir(exist_ok=True)
    with only_one(course.root / "grading" / assignment):
        begun = f".collect-{assignment}-"
        for left in course.submitted.glob(f"{begun}*{WRITING}"):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=begun, suffix=WRITING, dir=course.submitted) as folder:
            pieces: dict[str, list[Piece]] = {}
            numbers: dict[str, str] = {}
            for number, path in enumerate(downloads):
                scratch = Path(folder) / str(number)
                scratch.mkdir()
                download = read_download(path, scratch, expected)
                made.downloads.append(download)
                for student, piece in _owners(download, names, known, made):
                    pieces.setdefault(student, []).append(piece)
                    if piece.back:
                        numbers[student] = piece.back
            for student, theirs in sorted(pieces.items()):
                place = Place(course, student, assignment, Path(folder) / "new", write)
                made.states[student] = place.take(_in_order(theirs))
                if theirs[-1].late and theirs[-1].when is None:
                    made.late.append(student)
                elif theirs[-1].when is None:
                    made.timeless.append(student)
        if numbers and write:
            text = json.dumps(numbers_of(course, assignment) | numbers, indent=1)
            write_whole(course.root / "grading" / assignment / NUMBERS, text)
    there = set(course.students(assignment)) | set(pieces)
    made.missing = [names.people[student].shown for student in sorted(names.people.keys() - there)]
    return made


def numbers_of(course: Course, assignment: str) -> dict[str, str]:
    """By student, the number under which Moodle takes feedback, or Canvas's two, "102_90001"; empty where nothing came
    from either."""
    path = course.root / "grading" / assignment / NUMBERS
    numbers: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return numbers


# --- whose it is --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Owner:
    """The owner of a piece: the students, or why they are not certain; neither, if it should be left out."""

    students: tuple[str, ...]
    why: str = ""
    nearest: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ("",)
    sure: frozenset[str] = frozenset()  # of the students, those who are known by more than their names


def _owners(
    download: Download, names: Names, known: Mapping[str, Known], made: Collected
) -> Iterator[tuple[str, Piece]]:
    """(student, piece) for all that is certain; the rest is reported in `made`. Two people in a download who match one
    student only by name are not certain, because anybody could take another's name where names can be changed."""
    found = [(piece, _owner(piece, names, known)) for piece in download.pieces]
    labels: dict[str, set[str]] = {}
    for piece, owner in found:
        for student in owner.students:
            labels.setdefault(student, set()).add(piece.label)
    for piece, owner in found:
        twice = [student for student in owner.students if len(labels[student]) > 1 and student not in owner.sure]
        if twice:
            said = tuple("" if student in twice else student for student in owner.students)
            why = "another in this download fits the same student"
            made.unmatched.append(Unmatched(piece.label, why, tuple(twice), said))
        elif owner.why:
            made.unmatched.append(Unmatched(piece.label, owner.why, owner.nearest, owner.suggested))
        elif not owner.students:
            made.ignored.append(piece.label)
        else:
            yield from ((student, piece) for student in owner.students)


def _owner(piece: Piece, names: Names, known: Mapping[str, Known]) -> _Owner:
    keys = [piece.label, piece.key, *piece.names] if len(piece.names) < 2 else [piece.label, piece.key]
    said = next((known[joined(key)] for key in keys if joined(key) in known), None)
    if said is not None:
        own = piece.names[0] if piece.names else ""
        if said.called not in ("", joined(own)) and not _checked(Found(said.students), own, names).ids:
            return _Owner((), "the list says otherwise: is it this assignment's?", said.students)
        timed = known.get(joined(piece.key))  # of Moodle's worksheet, which has the times
        piece.when = piece.when or said.when or (timed.when if timed else None)
        return _Owner(said.students, sure=frozenset(said.students))
    found = [
        _checked(names.find(name, numbers), name, names, numbers)
        for name, numbers in zip(piece.names, [*piece.numbers, *([()] * len(piece.names))], strict=False)
    ]
    if found and all(len(one.ids) == 1 for one in found):
        sure = frozenset(one.ids[0] for one in found if one.sure)
        return _Owner(tuple(dict.fromkeys(one.ids[0] for one in found)), sure=sure)
    why = "nobody in the gradebook is called so"
    if any(len(one.ids) > 1 for one in found):
        why = "several are called so"
    elif any(one.nearest for one in found):
        why = "nobody in the gradebook is called quite so"
    elif not found:
        why = "the download does not say whose it is"
    nearest = tuple(dict.fromkeys(i for one in found for i in (one.ids or one.nearest)))
    fitting = [one.ids if len(one.ids) == 1 else one.nearest for one in found]
    return _Owner((), why, nearest, tuple(ids[0] if len(ids) == 1 else "" for ids in fitting) or ("",))


def _checked(found: Found, name: str, names: Names, numbers: Sequence[str] = ()) -> Found:
    """Somebody who was found by a number but has a completely different name may have the number of somebody else in a
    different system. Addresses are unique."""
    if len(found.ids) != 1 or not joined(name):
        return found
    person = names.people[found.ids[0]]
    if not person.name or (person.email and person.email.casefold() in map(str.casefold, numbers)):
        return found
    parts = [one for part in (person.id, *person.name.split()) for one in spellings(part)]
    alike = any(part in whole for part in parts for whole in spellings(name) if len(part) > 1 or not part.isascii())
    return found if alike else Found((), found.ids)


def _in_order(pieces: list[Piece]) -> list[Piece]:
    """The newest last: by their times if all have one, otherwise in the order of the downloads."""
    if all(piece.when is not None for piece in pieces):
        pieces.sort(key=lambda piece: in_utc(piece.when or datetime.now()))
    return pieces
