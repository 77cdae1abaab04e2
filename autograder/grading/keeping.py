"""A semester in one file: everything about students and marks. Feedback pages can be made again, so only the end of a
semester keeps them too.

A gradebook in SQLite is copied by SQLite, so that the copy is sound even while somebody marks. A gradebook on a server
is that server's to save.
"""

import hashlib
import os
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from itertools import zip_longest
from pathlib import Path, PurePosixPath

from autograder.files import WRITING, write_whole
from autograder.grading import vectors
from autograder.grading.course import Course
from autograder.grading.run import only_one
from autograder.temporary import folder

SETTINGS, GRADEBOOK = "course_config.py", "gradebook.db"
OF_A_RUN = (".lock", ".graded-by", ".rubric-lock", vectors.FILE)
SQLITE = "sqlite:///"


def save(course: Course, path: Path, feedback: bool = False) -> int:
    """Write the file, whole or not at all, and return how many files are in it. Raises FileExistsError, ValueError,
    AlreadyRunning while something is graded, OSError."""
    if path.exists():
        raise FileExistsError(17, "it is there already, so give another name", str(path))
    gradebook = gradebook_of(course)
    if gradebook is not None and not gradebook.is_file():
        raise ValueError(f"{course.root} has no gradebook yet, so there is nothing to keep")
    beside = path.with_name(f".{path.name}.{os.getpid()}{WRITING}")
    try:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with ExitStack() as open_now:
            for lock in sorted((course.root / "grading").glob("*/.lock")):
                open_now.enter_context(only_one(lock.parent))
            made = open_now.enter_context(zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False))
            if gradebook is not None:
                copy = folder("backup") / GRADEBOOK
                with closing(sqlite3.connect(gradebook)) as old, closing(sqlite3.connect(copy)) as new:
                    old.backup(new)
                made.write(copy, GRADEBOOK)
            for one in _files(course, feedback):
                made.write(one, one.relative_to(course.root).as_posix())
            many = len(made.namelist())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return many


def put_back(course: Course, path: Path, db: str | None = None) -> int:
    """Write a backup's files into a course without marks, all of them or none, and return how many; db: the URL that
    the course was loaded with. Raises ValueError for a file that is not a backup, and if anything of it is there
    already; OSError."""
    try:
        with zipfile.ZipFile(path) as kept, ExitStack() as undo:
            broken = kept.testzip()
            if broken is not None:
                raise ValueError(f"{path} is damaged ({broken}): take another copy")
            names = [name for name in kept.namelist() if not name.endswith("/")]
            if SETTINGS in names:  # first, because they say where the rest goes
                _same_settings(course.root / SETTINGS, kept.read(SETTINGS), undo)
                course = Course.load(course.root, db)
            rest = [name for name in names if name != SETTINGS]
            _refuse(course, path, rest)
            _write(course, kept, rest)
            undo.pop_all()
            return len(names)
    except (zipfile.BadZipFile, zlib.error):
        raise ValueError(f"{path} is damaged, or no backup") from None


def _same_settings(path: Path, content: bytes, undo: ExitStack) -> None:
    if not path.exists():
        undo.callback(path.unlink, missing_ok=True)
        write_whole(path, content)
    elif path.read_bytes() != content:
        raise ValueError(f"nothing is put back, because {path} is there already and differs. Move it away")


def _refuse(course: Course, path: Path, names: list[str]) -> None:
    for name in names:
        inside = PurePosixPath(name)
        ours = name == GRADEBOOK or any(inside.is_relative_to(top) for top in folders(course, True))
        if not ours or ".." in inside.parts or "\\" in name:
            raise ValueError(f"{path} is no backup of this course: it has {name}")
    if GRADEBOOK not in names and gradebook_of(course) is not None:
        raise ValueError(f"{path} has no gradebook, as its course kept that on a server: give its --db URL")
    there = [name for name in names if name != GRADEBOOK and (course.root / name).exists()]
    if there:
        raise ValueError(
            f"nothing is put back, because {course.root / there[0]} is there already, as"
            f" {len(there)} of its {len(names)} files are. Move what is there away, or take a new checkout"
        )
    if GRADEBOOK in names:
        book = gradebook_of(course)
        if book is None:
            raise ValueError(f"this course has its gradebook on a server, and {path} has a file: it would not be used")
        if book.exists():
            with course.gradebook() as gradebook:
                if gradebook.students:
                    raise ValueError(f"nothing is put back, because {book} has students already. Move it away")


def unlike(course: Course, path: Path) -> list[str]:
    """What the course has and the file has not, or has otherwise. Raises ValueError for a file that is not whole."""
    try:
        with zipfile.ZipFile(path) as kept:
            broken, book = kept.testzip(), gradebook_of(course)
            if broken is not None:
                raise ValueError(f"{path} is damaged ({broken})")
            found = [
                one for one in _files(course, True) if not same(kept, one.relative_to(course.root).as_posix(), one)
            ]
            return [*map(str, found), *([] if book is None or same_marks(kept, book) else [str(book)])]
    except (zipfile.BadZipFile, zlib.error):
        raise ValueError(f"{path} is damaged, or no backup") from None


def same(kept: zipfile.ZipFile, name: str, path: Path) -> bool:
    """Whether a backup has a file to the byte, and whole."""
    try:
        with kept.open(name) as one, open(path, "rb") as other:
            there = hashlib.file_digest(one, "sha256").digest()  # type: ignore[arg-type] # it has readinto
            return there == hashlib.file_digest(other, "sha256").digest()
    except (KeyError, zipfile.BadZipFile, zlib.error):
        return False


def same_marks(kept: zipfile.ZipFile, book: Path) -> bool:
    """Whether a backup has a gradebook, to the row."""
    if GRADEBOOK not in kept.namelist() or not book.is_file():
        return False
    copy = kept.extract(GRADEBOOK, folder("backup"))
    with closing(sqlite3.connect(copy)) as one, closing(sqlite3.connect(book)) as other:
        return all(a == b for a, b in zip_longest(one.iterdump(), other.iterdump()))


def _write(course: Course, kept: zipfile.ZipFile, names: list[str]) -> None:
    beside = course.root / f".restore.{os.getpid()}{WRITING}"
    made: list[Path] = []
    try:
        beside.mkdir(mode=0o700)
        kept.extractall(beside, names)
        for name in sorted(names, key=lambda name: name == GRADEBOOK):  # last: with it the course is there
            book = gradebook_of(course) if name == GRADEBOOK else None
            target = book or course.root / name
            for above in reversed(target.parents):
                if not above.exists():
                    above.mkdir(mode=0o700 if above.parent == course.root else 0o777)
                    made.append(above)
            if book is not None:
                (beside / name).chmod(0o600)
            _move(beside / name, target)
            made.append(target)
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _move(path: Path, target: Path) -> None:
    """Whole or not at all, also to another disk."""
    beside = target.with_name(f".{os.getpid()}{WRITING}")
    try:
        shutil.move(path, beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


JOURNALS = ("", "-journal", "-wal", "-shm")
"""Ends of the names of a gradebook and what SQLite writes beside it."""


def gradebook_of(course: Course) -> Path | None:
    url = str(course.directory.db_url)
    return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None


def folders(course: Course, feedback: bool) -> tuple[str, ...]:
    about = course.directory
    pages = (about.feedback_directory,) if feedback else ()
    return (about.submitted_directory, about.autograded_directory, "grading", *pages)


def _files(course: Course, feedback: bool) -> Iterator[Path]:
    """Links are left out: a student may have made them, and they lead anywhere."""
    if (course.root / SETTINGS).is_file():
        yield course.root / SETTINGS
    for top in folders(course, feedback):
        for path in sorted((course.root / top).rglob("*")):
            if path.is_file() and not path.is_symlink() and not passing(path.relative_to(course.root)):
                yield path


def passing(path: Path) -> bool:
    """Half-made, or of a run. Elsewhere a student may have handed in a file of such a name."""
    half_made = any(part.startswith(".") and part.endswith(WRITING) for part in path.parts)
    return half_made or (path.parts[0] == "grading" and path.name in OF_A_RUN)
