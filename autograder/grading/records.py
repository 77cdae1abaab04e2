"""The data kept about a submission under `grading/<assignment>/<student>/`, as plain data: results and a record.

The result of a notebook comes from a worker; a student's own live objects never do: outputs are nbformat's
dictionaries, marks are floats. The record is written last, after the graded notebook and the gradebook, so a submission
with a matching record is done, and every other is graded again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from autograder.files import write_whole
from autograder.preflight.finding import scan


@dataclass(frozen=True, kw_only=True)
class Mark:
    cell: str
    exercise: str
    points: float
    of: float
    verdict: dict[str, Any]  # `Report.machine`: properties, misconceptions, closed names
    stopped: str = ""  # why there was nothing to judge, if the box had to stop the notebook here
    unsure: str = ""  # why it has to be marked by hand: what failed may be the grader's own code
    failed: bool = False  # whether the rest of the notebook may be to blame for calls that gave nothing to compare
    again: bool = False  # whether it was earned in a run without the notebook's other cells


@dataclass(frozen=True, kw_only=True)
class NotebookResult:
    outputs: dict[str, list[dict[str, Any]]]  # the outputs of each code cell, by the number of the cell in the notebook
    marks: list[Mark] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)  # what the box refused, and what it had to stop
    isolation: str = ""  # the tier under which it ran; "none" means that it was not contained
    seconds: float = 0.0


def to_json(result: NotebookResult) -> str:
    facts = vars(result) | {"marks": [vars(mark) for mark in result.marks]}
    return json.dumps(facts, ensure_ascii=False)


def from_json(text: str) -> NotebookResult:
    """The result; ValueError if the text is incomplete."""
    try:
        facts = json.loads(text)
        marks = [Mark(**mark) for mark in facts.pop("marks")]
        return NotebookResult(marks=marks, **facts)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"this is no whole result: {error}") from None


def result_file(root: Path, assignment: str, notebook: str, student: str) -> Path:
    return root / "grading" / assignment / student / f"{notebook}.result.json"


State = Literal["graded", "blocked", "fault"]


@dataclass(frozen=True, kw_only=True)
class Record:
    student: str
    assignment: str
    fingerprint: str  # of the submitted files, and of the assignment: with another one, it is graded anew
    state: State  # graded; blocked: it cannot be graded as it is, and is not zero but ungraded; fault: the grader's own
    words: str  # one line
    findings: list[dict[str, str]] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)  # `Mark` of every test cell of ours
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)  # automatic marks, by notebook and cell
    isolation: str = ""
    seconds: float = 0.0


def remarks(findings: Sequence[Mapping[str, str]], incidents: Sequence[str]) -> list[str]:
    """The remarks in the line about a graded submission, besides its marks."""
    repaired = sum(finding.get("kind") == "repaired" for finding in findings)
    said = [f"{repaired} repaired"] if repaired else []
    return said + ([f"look at it: {incidents[0]}"] if incidents else [])


def record_file(root: Path, assignment: str, student: str) -> Path:
    return root / "grading" / assignment / student / "record.json"


def save(root: Path, record: Record) -> None:
    path = record_file(root, record.assignment, record.student)
    write_whole(path, json.dumps(vars(record), ensure_ascii=False) + "\n")


def load(root: Path, assignment: str, student: str) -> Record | None:
    try:
        return Record(**json.loads(record_file(root, assignment, student).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def forget(root: Path, assignment: str, student: str) -> None:
    """From now on the submission counts as not graded."""
    record_file(root, assignment, student).unlink(missing_ok=True)


def outdate(root: Path, assignment: str, student: str) -> None:
    """From now on the submission counts as not graded, but of which version its marks are stays known."""
    if (record := load(root, assignment, student)) is not None:
        save(root, replace(record, fingerprint="+" + record.fingerprint.partition("+")[2]))


LARGE = 100 * 2**20  # files with more bytes are known by their size and time alone


def fingerprint(folder: Path, basis: str, group: str = "") -> str:
    """A digest of every plain file in the folder, by path and content, and of the student's group, which decides the
    hidden inputs; and `basis`, the digest of the assignment."""
    made = hashlib.sha256(group.encode())
    linked = folder.is_symlink() or folder.parent.is_symlink()
    there = [] if linked or not folder.is_dir() else sorted(path for _, path in scan(folder, []))
    if not folder.exists() and folder.parent.is_dir():  # handed in as an archive, in the place of a folder
        there = sorted(folder.parent.glob(f"{folder.name}.*"))
    for path in there:
        if path.is_symlink() or not path.is_file():
            continue
        made.update(f"\0{path.relative_to(folder.parent).as_posix()}\0".encode("utf-8", "surrogateescape"))
        made.update(_content(path))
    return f"{made.hexdigest()}+{basis}"


def is_of(record: Record, basis: str) -> bool:
    """Whether a submission was graded by this version of the assignment."""
    return record.fingerprint.endswith(f"+{basis}")


def _content(path: Path) -> bytes:
    try:
        about = path.stat()
        if about.st_size > LARGE:
            return f"{about.st_size} {about.st_mtime_ns}".encode()
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return f"unreadable: {error.errno}".encode()
