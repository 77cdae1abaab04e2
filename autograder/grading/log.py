"""Who gave which mark by hand, and for which items of the mark scheme: lines that are only ever added.

The marks themselves are nbgrader's gradebook. A line says whose a mark is as long as the gradebook has the same points:
a mark that was changed elsewhere, in Formgrader for example, is nobody's here.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

FILE = "by-hand.jsonl"  # in grading/ASSIGNMENT/


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One mark for one student's answer."""

    student: str
    notebook: str
    cell: str
    by: str
    points: float | None  # None: taken back
    words: str = ""
    items: tuple[str, ...] = ()
    more: float = 0.0  # what was added to the items' points, or taken from them
    second: bool = False  # by a second marker, who did not see the first mark
    when: str = ""

    @property
    def where(self) -> tuple[str, str, str]:
        return self.notebook, self.cell, self.student


def add(root: Path, assignment: str, entries: Iterable[Entry]) -> None:
    """Write lines at the end, in one call of the system: several markers may do so at the same time. They are ASCII,
    so that no comment has a line's end in it, and a crash cuts no character in two."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    lines = "".join(f"{json.dumps({**asdict(one), 'when': now})}\n" for one in entries)
    path = root / "grading" / assignment / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        torn = end and file.seek(end - 1) is not None and file.read(1) != b"\n"  # by a crash
        file.write((b"\n" if torn else b"") + lines.encode())
        os.fsync(file.fileno())


def entries(root: Path, assignment: str) -> Iterator[Entry]:
    """In the order in which they were written; a line that a crash cut off is left out."""
    try:
        lines = (root / "grading" / assignment / FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            found = json.loads(line)
            yield Entry(**{**found, "items": tuple(found["items"])})
        except (ValueError, TypeError, KeyError):
            continue


class Log:
    """The newest entries."""

    def __init__(self, root: Path, assignment: str) -> None:
        self.first: dict[tuple[str, str, str], Entry] = {}
        self.second: dict[tuple[str, str, str], dict[str, Entry]] = {}  # by marker
        for one in entries(root, assignment):
            if one.second:
                self.second.setdefault(one.where, {})[one.by] = one
            else:
                self.first[one.where] = one

    def of(self, notebook: str, cell: str, student: str, points: float | None) -> Entry | None:
        """The entry that explains a mark of the gradebook."""
        found = self.first.get((notebook, cell, student))
        return found if found is not None and points is not None and found.points == points else None
