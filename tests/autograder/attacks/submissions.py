"""Hand in: the released notebook with answers written into it, cells put in, and anything else done to the folder."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import nbformat
from nbformat.v4 import new_code_cell

from tests.autograder.attacks.answers import HEAD, IDIOMATIC, LAZY, ZEROS

ANSWERS: Mapping[str, Mapping[str, str]] = {
    "nothing": {},
    "zeros": ZEROS,
    "constants": {"dot_score": f"ALWAYS = torch.zeros(3)\n{LAZY}"},
    "honest": IDIOMATIC,
}
NOTEBOOK = "attention.ipynb"


@dataclass
class Folder:
    """A submission on its way: its notebook, and where it will lie."""

    path: Path
    notebook: Any

    @property
    def cells(self) -> dict[str, Any]:
        """The named cells."""
        return {c.metadata.nbgrader.grade_id: c for c in self.notebook.cells if "nbgrader" in c.metadata}

    def write(self, name: str, content: str | bytes) -> None:
        """Another file."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    @property
    def file(self) -> Path:
        return self.path / NOTEBOOK


Change = Callable[[Folder], None]


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What somebody hands in, and what must become of it."""

    name: str
    like: Literal["nothing", "zeros", "constants", "honest"]
    """Whose marks it gets: those of the same answers without the rest."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """Written into answer cells instead."""
    first: str = ""
    """A cell after the imports."""
    last: str = ""
    """A cell at the end."""
    change: Change | None = None
    """Done to the notebook before it is saved."""
    after: Change | None = None
    """Done to the folder when the notebook lies in it."""
    loses: tuple[str, ...] = ()
    """Questions whose points it loses by what it does."""
    says: tuple[str, ...] = ()
    """Must stand in the record or among the graded notebook's outputs."""
    state: str = "graded"


def hand_in(root: Path, student: str, one: Submission) -> None:
    """Write it where nbgrader collects."""
    path = root / "submitted" / student / "attention"
    path.mkdir(parents=True)
    folder = Folder(path, nbformat.read(root / "exercises" / "attention" / NOTEBOOK, as_version=4))
    answers = {**ANSWERS[one.like], **one.cells}
    for name, source in answers.items():
        folder.cells[name].source = source
    imports = next(n for n, cell in enumerate(folder.notebook.cells) if cell.cell_type == "code") + 1
    if one.first:
        folder.notebook.cells.insert(imports, new_code_cell(one.first))
    folder.notebook.cells.insert(imports, new_code_cell(HEAD))
    if one.last:
        folder.notebook.cells.append(new_code_cell(one.last))
    if one.change is not None:
        one.change(folder)
    nbformat.write(folder.notebook, folder.file)
    (path / "timestamp.txt").write_text("2025-11-21 12:00:00 UTC")
    if one.after is not None:
        one.after(folder)


def digest(*folders: Path) -> str:
    """Of every file below the folders: names, contents, and where links lead."""
    made = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if "__pycache__" in path.parts:
                continue
            made.update(f"\0{path}\0".encode())
            made.update(str(path.readlink()).encode() if path.is_symlink() else b"")
            made.update(path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
    return made.hexdigest()
