"""A lecture run whole in a kernel, with one more cell that looks at what it has left. Standard library only at import;
nbclient is imported when it is needed."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 900
"""Seconds that one cell may take, the drawing of all states among them."""


def execute(notebook: Any, folder: Path, predictions: Path, last: Callable[[], str]) -> list[Any]:
    """Run all cells in `folder`, then, once they have run, a cell of the text that `last` gives, which does not stay.
    Returns that cell's outputs. predictions: where the lecture keeps what its reader guesses."""
    import nbformat
    from nbclient import NotebookClient

    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=PATIENCE, resources=resources, store_widget_state=False)
    quiet = {"env": {**os.environ, "NLM_PREDICTIONS": str(predictions)}, "stderr": subprocess.DEVNULL}
    with client.setup_kernel(**quiet):
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
        cell = nbformat.v4.new_code_cell(last())
        notebook.cells.append(cell)
        client.execute_cell(cell, len(notebook.cells) - 1)
        notebook.cells.pop()
    outputs: list[Any] = cell.outputs
    return outputs
