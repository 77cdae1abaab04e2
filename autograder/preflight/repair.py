"""Restores the source notebook's cells in a submission, and reports every repair.

- a fixed cell has the source notebook's text, type and points; a copy of it becomes an ordinary cell
- the last copy of an answer cell that is not empty keeps its name; copies of the stub are removed
- a deleted test cell is restored; a deleted code answer is not, because its stub would hide an answer written elsewhere
- a written answer without its metadata is known by its place; if there is none, an empty one is put there with a note,
  so that somebody looks at it before it gets zero
- a test is moved below the answer that it checks, wherever that was written
- the student's text is never changed, and still runs
"""

from collections.abc import Iterator
from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.preflight.finding import Finding
from autograder.preflight.master import Master, MasterCell, defined
from autograder.preflight.names import find_answers, find_written, grade_id, name_cells, new_cell
from autograder.preflight.order import put_in_order


def repair(notebook: Any, master: Master) -> tuple[NotebookNode, list[Finding]]:
    """(the notebook to be graded, the repairs). The submitted notebook is not changed.

    notebook: as `read_notebook` returns it, every cell complete. Repairing a repaired notebook changes nothing, and
    nbgrader's own sanitising does not change a cell's text.
    """
    cells = [from_dict(dict(cell)) for cell in notebook.cells]
    found = [*name_cells(cells, master), *restore(cells, master)]
    answers, elsewhere = find_answers(cells, master)
    found += [*elsewhere, *find_written(cells, master)]
    _whole_metadata(cells, master)
    found += put_in_order(cells, master, answers)
    _unique_ids(cells)
    made = {"cells": cells, "metadata": dict(notebook.metadata), "nbformat": 4, "nbformat_minor": 5}
    return from_dict(made), found


def _whole_metadata(cells: list[Any], master: Master) -> None:
    known = {cell.id: cell for cell in master.cells}
    for cell in cells:
        about = cell.metadata.get("nbgrader")
        if about is not None:
            cell.metadata["nbgrader"] = from_dict(known[about["grade_id"]].metadata())


def _unique_ids(cells: list[Any]) -> None:
    taken: set[str] = set()
    for number, cell in enumerate(cells):
        name, again = cell.id, 0
        while name in taken:
            name, again = f"cell-{number}-{again}", again + 1
        cell.id = name
        taken.add(name)


# --- one cell ------------------------------------------------------------------------------------------------

_FLAGS = ("grade", "solution", "locked", "task")


def restore(cells: list[Any], master: Master) -> Iterator[Finding]:
    """Restore every named cell. A student's text in a fixed cell is kept as an ordinary cell next to it, if it may be
    an answer: text, or code that defines what an answer should. Changes `cells`."""
    known = {cell.id: cell for cell in master.cells}
    asked = frozenset[str]().union(*(master.signature(own) for own in master.cells if own.solution))
    for cell in list(cells):
        if (name := grade_id(cell)) is None:
            continue
        own = known[name]
        yield from _type(cell, own)
        if own.fixed and not own.is_original(cell.source):
            yield from _edited(cells, cell, own, asked)
        if own.fixed:
            cell.source = own.source
        yield from _metadata(cell, own)


def _type(cell: NotebookNode, own: MasterCell) -> Iterator[Finding]:
    if cell.cell_type == own.type:
        return
    words = f"The cell {own.id!r} had become {cell.cell_type}; it was changed back to {own.type}."
    fresh = new_cell(own.type, cell.source, cell.metadata, cell.id)
    cell.clear()
    cell.update(fresh)
    yield Finding("repaired", "retyped-cell", words)


def _edited(cells: list[Any], cell: Any, own: MasterCell, asked: frozenset[str]) -> Iterator[Finding]:
    original = {line.strip() for line in own.source.splitlines()}
    added = [line for line in cell.source.splitlines() if line.strip() not in original]
    keep = bool(added) if own.type != "code" else bool(defined(cell.source) & asked)
    kept = " The text written into it is kept next to it as an ordinary cell." if keep else ""
    if keep:
        place = next(number for number, other in enumerate(cells) if other is cell)
        aside = new_cell(own.type, cell.source, {}, f"{cell.id[:57]}-edited")
        cells.insert(place if own.type == "code" else place + 1, aside)
    words = f"The locked cell {own.id!r} had been edited; the original was used.{kept}"
    yield Finding("repaired", "edited-cell", words)


def _metadata(cell: Any, own: MasterCell) -> Iterator[Finding]:
    given, true = cell.metadata["nbgrader"], own.metadata()
    lost = set(given) == {"grade_id"}  # recognised by other means, and said so
    if not lost and own.points is not None and given.get("points") != own.points:
        words = f"The points of the cell {own.id!r} had been changed; the assignment's own were used."
        yield Finding("repaired", "changed-points", words)
    elif not lost and any(given.get(flag, False) is not true[flag] for flag in _FLAGS):
        words = f"nbgrader's metadata of the cell {own.id!r} had been changed; the assignment's own was used."
        yield Finding("repaired", "changed-metadata", words)
    cell.metadata["nbgrader"] = from_dict(true)
