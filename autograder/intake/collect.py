"""Downloads -> submitted/STUDENT/ASSIGNMENT/, each file where it belongs, and nothing that was there is lost.

The newest submission of a student lies where `grade` looks; every other one under `submitted/STUDENT/.earlier/`, where
neither it nor nbgrader does. The same downloads once more change nothing.
"""

import csv
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder.engine.course import Course
from autograder.engine.gradebook import MARKED_LATE_FILE, timestamp_of
from autograder.engine.records import WRITING
from autograder.engine.run import only_one
from autograder.intake.handed import STAMPS, Download, Expected, Files, Piece, read_download
from autograder.intake.naming import Found, Names, joined, spellings
from autograder.intake.roster import people_of
from autograder.intake.when import Known, in_utc, moment, read_pairs
from autograder.preflight.archive import is_archive

EARLIER = ".earlier"


@dataclass(frozen=True)
class Unmatched:
    label: str
    why: str
    nearest: tuple[str, ...]
    suggested: tuple[str, ...] = ("",)  # an id, or none, for each who has handed it in


@dataclass
class Collected:
    """What was done with the downloads, or would be."""

    downloads: list[Download] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    """By student. new: nothing was there. newer: what was there is now among the earlier ones. kept: this is an earlier
    one. same: it was there."""
    unmatched: list[Unmatched] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # by the list of pairs
    trouble: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)  # marked so by the system, without a time
    timeless: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # who has handed in nothing

    def pairs(self) -> str:
        """The lines that settle what was not matched, to be corrected: NAME,STUDENT."""
        text = io.StringIO()
        lines = ([one.label, student] for one in self.unmatched for student in one.suggested)
        csv.writer(text, lineterminator="\n").writerows(lines)
        return text.getvalue()


def collect(
    course: Course, assignment: str, downloads: Sequence[Path], pairs: Sequence[Path] = (), write: bool = True
) -> Collected:
    """Raises Unusable or ValueError, in words, for a download or a list that cannot be read; then nothing is taken.
    NotACourse for an assignment that the gradebook does not know, AlreadyRunning while it is being graded."""
    notebooks = tuple(master.name for master in course.masters(assignment))
    with course.gradebook() as gradebook:
        names = Names(people_of(gradebook))
    if not names.people:
        raise ValueError("the gradebook knows no students to match names with: python -m autograder roster FILE")
    made = Collected()
    known: dict[str, Known] = {}
    for path in pairs:
        found, trouble = read_pairs(path, names)
        known |= found
        made.trouble += trouble
    expected = Expected(assignment, notebooks, lambda name: bool(names.find(name).ids))
    course.submitted.mkdir(exist_ok=True)
    with only_one(course.root / "grading" / assignment):
        begun = f".collect-{assignment}-"
        for left in course.submitted.glob(f"{begun}*{WRITING}"):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=begun, suffix=WRITING, dir=course.submitted) as folder:
            pieces: dict[str, list[Piece]] = {}
            for number, path in enumerate(downloads):
                scratch = Path(folder) / str(number)
                scratch.mkdir()
                download = read_download(path, scratch, expected)
                made.downloads.append(download)
                for student, piece in _owners(download, names, known, made):
                    pieces.setdefault(student, []).append(piece)
            for student, theirs in sorted(pieces.items()):
                place = _Place(course, student, assignment, Path(folder) / "new", write)
                made.states[student] = place.take(_in_order(theirs))
                if theirs[-1].late and theirs[-1].when is None:
                    made.late.append(student)
                elif theirs[-1].when is None:
                    made.timeless.append(student)
    there = set(course.students(assignment)) | set(pieces)
    made.missing = [names.people[student].shown for student in sorted(names.people.keys() - there)]
    return made


# --- whose it is --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Owner:
    """Of a piece: the students, or why they are not certain; neither, if it is to be left out."""

    students: tuple[str, ...]
    why: str = ""
    nearest: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ("",)
    sure: frozenset[str] = frozenset()  # of the students, those who are known by more than their names


def _owners(
    download: Download, names: Names, known: Mapping[str, Known], made: Collected
) -> Iterator[tuple[str, Piece]]:
    """(student, piece) for all that is certain; the rest is said in `made`. Two people of a download who fit one
    student by their names alone are not certain: anybody may take another's name where names can be changed."""
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
        piece.when = piece.when or said.when
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
    """Somebody who was found by a number, and is called quite otherwise, may have another's number of another system.
    An address is nobody else's."""
    if len(found.ids) != 1 or not joined(name):
        return found
    person = names.people[found.ids[0]]
    if not person.name or (person.email and person.email.casefold() in map(str.casefold, numbers)):
        return found
    parts = [one for part in (person.id, *person.name.split()) for one in spellings(part)]
    alike = any(part in whole for part in parts for whole in spellings(name) if len(part) > 1 or not part.isascii())
    return found if alike else Found((), found.ids)


def _in_order(pieces: list[Piece]) -> list[Piece]:
    """The newest last: by their times where all have one, else as the downloads were given."""
    if all(piece.when is not None for piece in pieces):
        pieces.sort(key=lambda piece: in_utc(piece.when or datetime.now()))
    return pieces


# --- where it goes ------------------------------------------------------------------------------------------


@dataclass
class _Place:
    """A student's folders for one assignment."""

    course: Course
    student: str
    assignment: str
    scratch: Path
    write: bool

    @property
    def folder(self) -> Path:
        return self.course.submission(self.student, self.assignment)

    @property
    def earlier(self) -> Path:
        return self.folder.parent / EARLIER / self.assignment

    def take(self, pieces: Sequence[Piece]) -> str:
        """Put the last of them in its place, the others aside. Returns its state."""
        kept = {_digest(_files(path)) for path in self.earlier.glob("*")}
        there = self._there()
        last, now = pieces[-1], _digest(there)
        for piece in pieces[:-1]:
            if _digest(piece.files) not in kept | {now, _digest(last.files)}:
                kept.add(_digest(piece.files))
                self._aside(piece.files, _stamp(piece))
        if there and _digest(last.files) == now:
            return self._same(last)
        if there and self._is_newer(last):
            if _digest(last.files) in kept:
                return "same"
            self._aside(last.files, _stamp(last))
            return "kept"
        if there and self.write:
            self._move_aside()
        if self.write:
            self._lay(last.files, _stamp(last), self.folder)
        return "newer" if there else "new"

    def _there(self) -> Files:
        if self.folder.is_dir():
            return _files(self.folder)
        beside = self.folder.parent.glob(f"{self.assignment}.*")
        return {path.name: path for path in sorted(beside) if is_archive(path.name)}

    def _when(self) -> datetime | None:
        words = timestamp_of(self.folder)[0]
        return moment(words) if words else None

    def _is_newer(self, piece: Piece) -> bool:
        """Whether what lies there was handed in after this."""
        when = self._when()
        return piece.when is not None and when is not None and in_utc(when) > in_utc(piece.when)

    def _same(self, piece: Piece) -> str:
        """The files are there: at most their time is new."""
        for name, words in _stamp(piece).items():
            path = self.folder / name
            if self.write and self.folder.is_dir() and not path.exists():
                path.write_text(words, encoding="utf-8")
        return "same"

    def _aside(self, files: Files, stamp: Mapping[str, str]) -> None:
        if self.write:
            name = stamp.get("timestamp.txt", "no time").replace(":", ".").removesuffix(" UTC")
            self._lay(files, stamp, _free(self.earlier / name))

    def _move_aside(self) -> None:
        when = self._when()
        name = in_utc(when).strftime("%Y-%m-%d %H.%M.%S") if when else "no time"
        target = _free(self.earlier / name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.folder.is_dir():
            os.replace(self.folder, target)
            return
        target.mkdir()
        for path in self._there().values():
            os.replace(path, target / path.name)

    def _lay(self, files: Files, stamp: Mapping[str, str], target: Path) -> None:
        """The whole folder, or none."""
        self.scratch.mkdir()
        for inside, path in files.items():
            (self.scratch / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.scratch / inside)
        for name, words in stamp.items():
            (self.scratch / name).write_text(words, encoding="utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(self.scratch, target)


def _stamp(piece: Piece) -> dict[str, str]:
    if piece.when is not None:
        return {"timestamp.txt": in_utc(piece.when).strftime("%Y-%m-%d %H:%M:%S UTC")}
    return {MARKED_LATE_FILE: "late\n"} if piece.late else {}


def _free(path: Path) -> Path:
    """This path, or one beside it that is not taken."""
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{path.name.partition(' (')[0]} ({number})")
    return path


def _files(folder: Path) -> Files:
    if not folder.is_dir():
        return {}
    there = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path for path in there}


def _digest(files: Files) -> str:
    """Of all files but the times."""
    made = hashlib.sha256()
    for inside, path in sorted(files.items()):
        if inside not in STAMPS:
            made.update(f"\0{inside}\0".encode("utf-8", "surrogateescape"))
            with open(path, "rb") as file:
                made.update(hashlib.file_digest(file, "sha256").digest())
    return made.hexdigest() if files else ""
