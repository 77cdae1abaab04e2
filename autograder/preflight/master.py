"""The source notebook's cells as stored in the gradebook, with which a submission's cells are compared."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import nbformat


@dataclass(frozen=True, kw_only=True)
class MasterCell:
    """A cell with a grade_id."""

    id: str
    type: Literal["code", "markdown", "raw"]
    source: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float | None
    checksum: str

    def metadata(self) -> dict[str, Any]:
        about = {flag: getattr(self, flag) for flag in ("grade", "solution", "task", "locked", "checksum")}
        about |= {"schema_version": 3, "grade_id": self.id, "cell_type": self.type}
        if self.points is not None:
            about["points"] = self.points
        return about

    @property
    def fixed(self) -> bool:
        """Whether its text belongs to the source notebook, not to the student."""
        return (self.locked or self.grade or self.task) and not self.solution

    @property
    def test(self) -> bool:
        return self.grade and not self.solution and self.type == "code"

    @property
    def released(self) -> str:
        """Its text in the released form, without hidden tests and mark scheme."""
        kept, hidden = [], False
        for line in self.source.split("\n"):
            if re.search(r"BEGIN (HIDDEN TESTS|MARK SCHEME)", line):
                hidden = True
            elif re.search(r"END (HIDDEN TESTS|MARK SCHEME)", line):
                hidden = False
            elif not hidden:
                kept.append(line)
        return "\n".join(kept)

    def is_original(self, source: str) -> bool:
        """Whether a text is the source notebook's own, ignoring blanks at the ends of lines."""
        return same_text(source, self.source) or same_text(source, self.released)


def same_text(one: str, other: str) -> bool:
    return _lines(one) == _lines(other)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def defined(source: str) -> frozenset[str]:
    """The functions and classes that a code cell defines at its top; its code may be incomplete."""
    return frozenset(re.findall(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", source, re.M))


@dataclass(frozen=True, kw_only=True)
class Master:
    name: str
    cells: tuple[MasterCell, ...]
    prose: tuple[str, ...] = ()  # the texts between them, which have no grade_id

    def is_prose(self, source: str) -> bool:
        """Whether a text stands in the released notebook outside the cells with a grade_id."""
        return any(same_text(source, text) for text in self.prose)

    def signature(self, own: MasterCell) -> frozenset[str]:
        """What an answer must define, if that distinguishes it from every other cell; otherwise nothing."""
        names = defined(own.released) if own.type == "code" else frozenset()
        others = (cell for cell in self.cells if cell.id != own.id and cell.type == "code")
        return frozenset() if any(names & defined(cell.released) for cell in others) else names


class InSource(NamedTuple):
    """What the gradebook does not store of a notebook."""

    order: Sequence[str] = ()  # the grade_ids, as they follow each other
    prose: tuple[str, ...] = ()  # the Markdown cells without one


def from_gradebook(gradebook: Any, assignment: str, notebook: str, source: InSource) -> Master:
    """The cells of one notebook."""
    found = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: float(cell.max_score) for cell in (*found.grade_cells, *found.task_cells)}
    grades = {cell.name for cell in found.grade_cells}
    solutions = {cell.name for cell in found.solution_cells}
    tasks = {cell.name for cell in found.task_cells}
    place = {name: number for number, name in enumerate(source.order)}
    cells = [
        MasterCell(
            id=cell.name,
            type=cell.cell_type,
            source=cell.source or "",
            locked=bool(cell.locked),
            grade=cell.name in grades,
            solution=cell.name in solutions,
            task=cell.name in tasks,
            points=points.get(cell.name),
            checksum=cell.checksum or "",
        )
        for cell in sorted(found.source_cells, key=lambda cell: place.get(cell.name, len(place)))
    ]
    return Master(name=notebook, cells=tuple(cells), prose=source.prose)


def in_source(directory: Any, assignment: str, notebook: str) -> InSource:
    """Of the released notebook; of the source if nothing is released. directory: nbgrader's CourseDirectory."""
    for folder in (directory.release_directory, directory.source_directory):
        path = Path(directory.format_path(folder, ".", assignment)) / f"{notebook}.ipynb"
        if path.is_file():
            cells = nbformat.read(path, as_version=4).cells
            names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells]
            bare = (cell for cell, name in zip(cells, names, strict=True) if not name and cell.cell_type == "markdown")
            return InSource([name for name in names if name], tuple(cell.source for cell in bare))
    return InSource()
