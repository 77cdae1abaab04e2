"""The items of a mark scheme: what an answer can have, and the points that it is worth, negative ones too.

At first they are what the scheme names with its points, "**Bottleneck** (1)". From the first mark for an item on they
are kept in grading/ASSIGNMENT/rubric.json, where an update of the course renumbers nothing. A person may change them;
then whoever has an item gets its new points.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.files import read_json, write_json

FILE, LOCK, COMMENTS = "rubric.json", ".rubric-lock", "comments.json"
MOST = 12  # comments that a page offers
PATIENCE = 10.0  # seconds to wait for somebody else who is changing items
NAMED = re.compile(r"\*\*([^*]+?)\.?\*\*\s+\((\d*½|\d+(?:\.\d+)?)(?=[,;)])")


@dataclass(frozen=True)
class Item:
    id: str
    words: str
    points: float


def in_scheme(scheme: str) -> list[Item]:
    found = enumerate(NAMED.findall(scheme), 1)
    return [Item(str(number), " ".join(words.split()), _points(points)) for number, (words, points) in found]


def _points(written: str) -> float:
    return float(written.replace("½", "") or 0) + 0.5 * written.endswith("½")


def items(root: Path, assignment: str, notebook: str, cell: str, scheme: str) -> list[Item]:
    """Those that are kept, otherwise the scheme's. Raises ValueError if the file cannot be read."""
    kept = _kept(root, assignment).get(f"{notebook}/{cell}")
    return in_scheme(scheme) if kept is None else [Item(**one) for one in kept]


def keep(root: Path, assignment: str, notebook: str, cell: str, new: Sequence[Item]) -> None:
    found = _kept(root, assignment) | {f"{notebook}/{cell}": [asdict(item) for item in new]}
    write_json(root / "grading" / assignment / FILE, found)


def pin(root: Path, assignment: str, notebook: str, cell: str, scheme: str) -> None:
    """Keep the items as they are, now that somebody has a mark for one."""
    if f"{notebook}/{cell}" not in _kept(root, assignment):
        with changing(root, assignment):
            keep(root, assignment, notebook, cell, items(root, assignment, notebook, cell, scheme))


def comments(root: Path, assignment: str) -> dict[str, list[str]]:
    """By question, what answers of earlier semesters were told. Raises ValueError if the file cannot be read."""
    return read_json(root / "grading" / assignment / COMMENTS, "go on without them")


@contextmanager
def changing(root: Path, assignment: str) -> Iterator[None]:
    """Hold this while items are read, changed and kept, and their points given: another marker may be doing the same.
    Raises ValueError if that takes too long."""
    folder = root / "grading" / assignment
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=PATIENCE):
            yield
    except Timeout:
        raise ValueError("somebody else is changing the items of this assignment: try again") from None


def total(all_items: Sequence[Item], chosen: Collection[str], more: float, of: float) -> float:
    """The points for the items that an answer has, and `more`, within what the question is worth."""
    return round(min(max(sum(item.points for item in all_items if item.id in chosen) + more, 0.0), of), 6)


def _kept(root: Path, assignment: str) -> dict[str, list[dict[str, Any]]]:
    return read_json(root / "grading" / assignment / FILE, "change the items again")
