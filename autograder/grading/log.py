"""Who gave which mark by hand, and for which items of the mark scheme: lines that are only ever added.

The marks themselves are nbgrader's gradebook. A line says whose a mark is as long as the gradebook has the same points:
a mark that was changed elsewhere, in Formgrader for example, is nobody's here.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.files import append_rows, rows_in

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
    now = datetime.now(UTC).isoformat(timespec="seconds")
    append_rows(_file(root, assignment), ({**asdict(one), "when": now} for one in entries))


def entries(root: Path, assignment: str) -> Iterator[Entry]:
    """In the order in which they were written; what is no entry is left out."""
    for found in rows_in(_file(root, assignment)):
        with suppress(TypeError, KeyError):
            yield Entry(**{**found, "items": tuple(found["items"])})


def _file(root: Path, assignment: str) -> Path:
    return root / "grading" / assignment / FILE


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
