"""What is known of one submission: the file that a resumed run, a report and the instructor's page read.

`grading/<assignment>/<student>/record.json` is written last, after the graded notebook and the gradebook: where it
is there and fits the submission, everything before it is done; where it is not, everything is done again.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.engine.results import write_whole

State = Literal["graded", "blocked", "fault"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One submission."""

    student: str
    assignment: str
    fingerprint: str
    """Of the submitted files and of the assignment's masters: with another one, the submission is graded anew."""
    state: State
    """graded; blocked: it cannot be graded as it is, and is not zero but ungraded; fault: the grader's own."""
    words: str
    """One line."""
    findings: list[dict[str, str]] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    """`results.Mark` of every test cell of ours."""
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)
    """By notebook and cell: the automatic marks that were written into the gradebook."""
    isolation: str = ""
    seconds: float = 0.0


def record_file(root: Path, assignment: str, student: str) -> Path:
    return root / "grading" / assignment / student / "record.json"


def save(root: Path, record: Record) -> None:
    path = record_file(root, record.assignment, record.student)
    write_whole(path, json.dumps(vars(record), ensure_ascii=False) + "\n")


def load(root: Path, assignment: str, student: str) -> Record | None:
    """The record; None if there is none, or no whole one."""
    try:
        return Record(**json.loads(record_file(root, assignment, student).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def forget(root: Path, assignment: str, student: str) -> None:
    """From here on the submission counts as not graded."""
    record_file(root, assignment, student).unlink(missing_ok=True)


LARGE = 100 * 2**20
"""Files with more bytes are known by their size and time alone."""


def fingerprint(folder: Path, basis: str) -> str:
    """Of every plain file in the folder, by path and content, and of `basis`, what the masters ask."""
    made = hashlib.sha256(basis.encode())
    there = [] if folder.is_symlink() or folder.parent.is_symlink() else sorted(folder.rglob("*"))
    if not folder.exists() and folder.parent.is_dir():  # handed in as an archive, in the place of a folder
        there = sorted(folder.parent.glob(f"{folder.name}.*"))
    for path in there:
        if path.is_symlink() or not path.is_file():
            continue
        made.update(f"\0{path.relative_to(folder.parent).as_posix()}\0".encode("utf-8", "surrogateescape"))
        made.update(_content(path))
    return made.hexdigest()


def _content(path: Path) -> bytes:
    try:
        about = path.stat()
        if about.st_size > LARGE:
            return f"{about.st_size} {about.st_mtime_ns}".encode()
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return f"unreadable: {error.errno}".encode()
