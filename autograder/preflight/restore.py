"""A cell of the master's made what it was: its type, its text if it is fixed, its points, its metadata."""

from collections.abc import Iterator
from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.preflight.finding import Finding
from autograder.preflight.master import Master, MasterCell, defined
from autograder.preflight.names import grade_id

_FLAGS = ("grade", "solution", "locked", "task")


def restore(cells: list[Any], master: Master) -> Iterator[Finding]:
    """Restore every named cell. What a student wrote into a fixed cell stays as an ordinary cell beside it, if it may
    be an answer: text, or code that defines what an answer should. Changes `cells`."""
    known = {cell.id: cell for cell in master.cells}
    asked = frozenset[str]().union(*(master.signature(own) for own in master.cells if own.solution))
    for cell in list(cells):
        name = grade_id(cell)
        if name is None:
            continue
        own = known[name]
        yield from _type(cell, own)
        if own.fixed and not own.is_original(cell.source):
            yield from _edited(cells, cell, own, asked)
        if own.fixed:
            cell.source = own.source
        yield from _metadata(cell, own)


def new_cell(kind: str, source: str, metadata: dict[str, Any], name: str) -> Any:
    """A cell without outputs."""
    made = {"id": name, "cell_type": kind, "metadata": metadata, "source": source}
    return from_dict(made | ({"outputs": [], "execution_count": None} if kind == "code" else {}))


def _type(cell: NotebookNode, own: MasterCell) -> Iterator[Finding]:
    if cell.cell_type == own.type:
        return
    words = f"The cell {own.id!r} had become {cell.cell_type}; it is {own.type} again."
    fresh = new_cell(own.type, cell.source, cell.metadata, cell.id)
    cell.clear()
    cell.update(fresh)
    yield Finding(kind="repaired", what="retyped-cell", words=words)


def _edited(cells: list[Any], cell: Any, own: MasterCell, asked: frozenset[str]) -> Iterator[Finding]:
    original = {line.strip() for line in own.source.splitlines()}
    added = [line for line in cell.source.splitlines() if line.strip() not in original]
    keep = bool(added) if own.type != "code" else bool(defined(cell.source) & asked)
    kept = " What was written into it is kept beside it as an ordinary cell." if keep else ""
    if keep:
        place = next(number for number, other in enumerate(cells) if other is cell)
        aside = new_cell(own.type, cell.source, {}, f"{cell.id[:57]}-edited")
        cells.insert(place if own.type == "code" else place + 1, aside)
    words = f"The locked cell {own.id!r} had been edited; the original was used.{kept}"
    yield Finding(kind="repaired", what="edited-cell", words=words)


def _metadata(cell: Any, own: MasterCell) -> Iterator[Finding]:
    given, true = cell.metadata["nbgrader"], own.metadata()
    lost = set(given) == {"grade_id"}  # recognised by other means, and said so
    if not lost and own.points is not None and given.get("points") != own.points:
        words = f"The points of the cell {own.id!r} had been changed; the assignment's own were used."
        yield Finding(kind="repaired", what="changed-points", words=words)
    elif not lost and any(given.get(flag, False) is not true[flag] for flag in _FLAGS):
        words = f"nbgrader's metadata of the cell {own.id!r} had been changed; the assignment's own was used."
        yield Finding(kind="repaired", what="changed-metadata", words=words)
    cell.metadata["nbgrader"] = from_dict(true)
