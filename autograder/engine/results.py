"""What became of one notebook, as plain data: it can be sent from a worker, kept in a file, and read by a table.

Nothing here is a live object of a student's: outputs are nbformat's own dictionaries, marks are floats.
"""

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One test cell of ours."""

    cell: str
    exercise: str
    points: float
    of: float
    verdict: dict[str, Any]
    """What `autograder.exercise.report.Report.machine` says: properties, misconceptions, closed names."""
    stopped: str = ""
    """Why there was nothing to judge, if the box had to stop the notebook here."""


@dataclass(frozen=True, kw_only=True)
class NotebookResult:
    """One notebook."""

    outputs: dict[str, list[dict[str, Any]]]
    """The outputs of each code cell, by the number of the cell in the notebook."""
    marks: list[Mark] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    """What the box refused, and what it had to stop."""
    isolation: str = ""
    """The tier under which it ran; "none" means that it was not contained."""
    seconds: float = 0.0


def to_json(result: NotebookResult) -> str:
    facts = vars(result) | {"marks": [vars(mark) for mark in result.marks]}
    return json.dumps(facts, ensure_ascii=False)


def from_json(text: str) -> NotebookResult:
    """The result; ValueError if the text is not a whole one."""
    try:
        facts = json.loads(text)
        marks = [Mark(**mark) for mark in facts.pop("marks")]
        return NotebookResult(marks=marks, **facts)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"this is no whole result: {error}") from None


def result_file(root: Path, assignment: str, notebook: str, student: str) -> Path:
    """Where the result of a notebook is kept."""
    return root / "grading" / assignment / student / f"{notebook}.result.json"


def write_whole(path: Path, text: str) -> None:
    """The file is there whole or not at all, whenever the process dies or the disk is full."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}{WRITING}")
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


WRITING = ".writing"
"""How the names of half-made files and folders end: whoever finds one may remove it."""


def sweep(folder: Path) -> None:
    """Remove what a process that was killed left half-made in a folder."""
    for path in folder.glob(f".*{WRITING}"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
