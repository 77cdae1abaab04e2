"""What is known of one submission: the file that a resumed run, a report and the instructor's page read.

`grading/<assignment>/<student>/record.json` is written last, after the graded notebook and the gradebook: where it
is there and fits the submission, everything before it is done; where it is not, everything is done again.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
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
    isolation: str = ""
    seconds: float = 0.0


def record_file(root: Path, assignment: str, student: str) -> Path:
    return root / "grading" / assignment / student / "record.json"


def save(root: Path, record: Record) -> None:
    path = record_file(root, record.assignment, record.student)
    write_whole(path, json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")


def load(root: Path, assignment: str, student: str) -> Record | None:
    """The record; None if there is none, or no whole one."""
    try:
        return Record(**json.loads(record_file(root, assignment, student).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def fingerprint(folder: Path, basis: str) -> str:
    """Of every plain file in the folder, by path and content, and of `basis`, what the masters ask."""
    made = hashlib.sha256(basis.encode())
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        made.update(f"\0{path.relative_to(folder).as_posix()}\0".encode("utf-8", "surrogateescape"))
        with open(path, "rb") as file:
            made.update(hashlib.file_digest(file, "sha256").digest())
    return made.hexdigest()
