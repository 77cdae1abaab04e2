"""The master's cells in a submission made what they were, and every repair said.

- a fixed cell has the master's text, type, points; a copy of it is an ordinary cell
- an answer cell that was copied keeps its name on the last copy that says something; copies of the stub are taken out
- a deleted test cell is put back; a deleted code answer is not: its stub would hide an answer written elsewhere
- an answer that a human marks is put back with a sentence, so that it is looked at and not given zero unseen
- a test stands below the answer that it is about, wherever that was written
- what the student wrote is never changed, and still runs
"""

from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.preflight.finding import Finding
from autograder.preflight.master import Master
from autograder.preflight.names import find_answers, name_cells
from autograder.preflight.order import put_in_order
from autograder.preflight.restore import restore


def repair(notebook: Any, master: Master) -> tuple[NotebookNode, list[Finding]]:
    """(the notebook as it is to be graded, what was done). The notebook handed in is not changed.

    notebook: as `read_notebook` gives it, every cell whole. A repaired notebook is not changed by another repair, nor
    is a cell's text by nbgrader's own sanitising.
    """
    cells = [from_dict(dict(cell)) for cell in notebook.cells]
    found = [*name_cells(cells, master), *restore(cells, master)]
    answers, elsewhere = find_answers(cells, master)
    _whole_metadata(cells, master)
    found += [*elsewhere, *put_in_order(cells, master, answers)]
    _unique_ids(cells)
    made = {"cells": cells, "metadata": dict(notebook.metadata), "nbformat": 4, "nbformat_minor": 5}
    return from_dict(made), found


def _whole_metadata(cells: list[Any], master: Master) -> None:
    """Answers that were found elsewhere carry whole metadata, too."""
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
