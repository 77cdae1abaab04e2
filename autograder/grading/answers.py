"""The answer for which a mark was given, so that a mark by hand stays confirmed while the answer is the same.

nbgrader asks for a second look at every mark given by hand, after each grading. Here a digest of the answer to each
graded cell, and the points that it was worth, are kept with the record, once the gradebook has its marks. At the next
grading a confirmed mark stays confirmed if both are the same; if they differ, or were never kept, the mark waits for a
second look.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader import utils

from autograder.files import write_whole
from autograder.grading.beside import MARKED_LATE_FILE, SECRET_FILE

NOT_WRITTEN = ("timestamp.txt", SECRET_FILE, MARKED_LATE_FILE)  # by a student: the way it was handed in leaves them
Digests = dict[str, dict[str, str]]  # by notebook and graded cell


def digests(cells: Sequence[Any], folder: Path) -> dict[str, str]:
    """Digests of the answers to all graded cells of a graded notebook, each with the points that it can earn. folder:
    where the submitted files are."""
    own = [cell for cell in cells if utils.is_solution(cell) or not cell.metadata.get("nbgrader")]
    code = [cell for cell in own if cell.cell_type == "code"]
    files = sorted(path for path in folder.rglob("*") if path.suffix != ".ipynb" and path.name not in NOT_WRITTEN)
    found = {}
    for cell in cells:
        if utils.is_task(cell):  # it may have been answered in any cell or file
            found[grade_id(cell)] = digest(own, files)
        elif utils.is_grade(cell) and utils.is_solution(cell):
            found[grade_id(cell)] = digest([cell], [path for path in files if path.name in cell.source])
        elif utils.is_grade(cell):
            found[grade_id(cell)] = digest(code)
    of = {grade_id(cell): cell.metadata["nbgrader"].get("points") for cell in cells if cell.metadata.get("nbgrader")}
    return {name: f"{made} of {float(of[name] or 0.0):g}" for name, made in found.items()}


def grade_id(cell: Any) -> str:
    return str(cell.metadata["nbgrader"]["grade_id"])


def digest(cells: Sequence[Any], files: Sequence[Path] = ()) -> str:
    """A digest of the text, ignoring blanks at the ends of lines, and of its pictures."""
    made = hashlib.sha256()
    for cell in cells:
        lines = [line.rstrip() for line in cell.source.strip().splitlines()]
        pictures = dict(cell.get("attachments") or {})
        made.update(json.dumps([cell.cell_type, lines, pictures], sort_keys=True, default=str).encode())
    for path in files:
        if path.is_file() and not path.is_symlink():
            made.update(f"\0{path.name}\0".encode("utf-8", "surrogateescape") + path.read_bytes())
    return made.hexdigest()


class Read:
    """The answers of one submission as they were read when a person marked them: if one changes, whoever looks at the
    mark again sees what it was given for."""

    def __init__(self, root: Path, assignment: str, student: str) -> None:
        self.path = root / "grading" / assignment / student / "read.json"
        try:
            self.texts: dict[str, dict[str, str]] = dict(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            self.texts = {}

    def keep(self, notebook: str, cell: str, text: str) -> None:
        self.texts.setdefault(notebook, {})[cell] = text
        write_whole(self.path, json.dumps(self.texts, ensure_ascii=False))

    def of(self, notebook: str, cell: str) -> str:
        """The text, or "" if nothing was kept."""
        return self.texts.get(notebook, {}).get(cell, "")


class Known:
    """The answers of one submission as they were when this gradebook last got its marks."""

    def __init__(self, root: Path, assignment: str, student: str, db: str) -> None:
        self.path = root / "grading" / assignment / student / "answers.json"
        self.db = hashlib.sha256(db.encode()).hexdigest()[:16]  # another gradebook has other marks; it may name a user
        try:
            self.everywhere: dict[str, Digests] = json.loads(self.path.read_text(encoding="utf-8"))
            self.answers: Digests = dict(self.everywhere.get(self.db, {}))
        except (OSError, ValueError, AttributeError):
            self.everywhere, self.answers = {}, {}

    def same(self, now: Mapping[str, Mapping[str, str]]) -> dict[str, set[str]]:
        """By notebook: the graded cells whose answer has not changed."""
        return {
            name: {cell for cell, made in cells.items() if self.answers.get(name, {}).get(cell) == made}
            for name, cells in now.items()
        }

    def points(self) -> dict[tuple[str, str], float]:
        """By notebook and cell: the points that it was worth."""
        return {
            (name, cell): float(made.partition(" of ")[2])
            for name, cells in self.answers.items()
            for cell, made in cells.items()
            if " of " in made
        }

    def keep(self, now: Digests) -> None:
        """Call this only after the marks are in the gradebook; if the process is killed before, the answers count as
        changed."""
        self.answers |= now
        write_whole(self.path, json.dumps(self.everywhere | {self.db: self.answers}))
