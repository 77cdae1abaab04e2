"""The newest submission of a student lies where `grade` looks, every other one aside; nothing is overwritten."""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.files import write_whole
from autograder.grading.beside import MARKED_LATE_FILE, SECRET_FILE, timestamp_of
from autograder.grading.course import Course
from autograder.intake.handed import STAMPS, Files, Piece
from autograder.intake.when import in_utc, moment
from autograder.preflight.archive import is_archive

EARLIER = ".earlier"


@dataclass
class Place:
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

    def piece(self) -> Piece | None:
        """The submission that is there, with its time, for other members of a group."""
        files = {inside: path for inside, path in self._there().items() if inside != SECRET_FILE}
        late = (self.folder / MARKED_LATE_FILE).is_file()
        return Piece(label=self.student, files=files, when=self._when(), late=late) if files else None

    def take(self, pieces: Sequence[Piece], timed: bool = False) -> str:
        """Put the newest into its place, and the others aside. Returns its state. timed: the newest one's time counts
        for the same files, too."""
        kept = {digest(_files(path)) for path in self.earlier.glob("*")}
        there = self._there()
        last, now = pieces[-1], digest(there)
        for piece in pieces[:-1]:
            if digest(piece.files) not in kept | {now, digest(last.files)}:
                kept.add(digest(piece.files))
                self._aside(piece.files, _stamp(piece))
        if there and digest(last.files) == now:
            return self._same(last, timed)
        when = self._when()
        if there and last.when is not None and when is not None and in_utc(when) > in_utc(last.when):
            if digest(last.files) in kept:
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

    def _same(self, piece: Piece, timed: bool) -> str:
        """The files exist already; at most their time is new."""
        for name, words in _stamp(piece).items():
            path = self.folder / name
            if not self.write or not self.folder.is_dir() or (path.exists() and not timed):
                continue
            if not path.exists() or path.read_text(encoding="utf-8").strip() != words.strip():
                write_whole(path, words)
        return "same"

    def _aside(self, files: Files, stamp: Mapping[str, str]) -> None:
        if self.write:
            name = stamp.get("timestamp.txt", "no time").replace(":", ".").removesuffix(" UTC")
            self._lay(files, stamp, free(self.earlier / name))

    def _move_aside(self) -> None:
        when = self._when()
        name = in_utc(when).strftime("%Y-%m-%d %H.%M.%S") if when else "no time"
        target = free(self.earlier / name)
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


def free(path: Path) -> Path:
    """This path, or a similar one that is free."""
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


def digest(files: Files) -> str:
    """A digest of all files, ignoring times and nbgrader's secret."""
    made = hashlib.sha256()
    for inside, path in sorted(files.items()):
        if inside not in (*STAMPS, SECRET_FILE):
            made.update(f"\0{inside}\0".encode("utf-8", "surrogateescape"))
            with open(path, "rb") as file:
                made.update(hashlib.file_digest(file, "sha256").digest())
    return made.hexdigest() if files else ""
