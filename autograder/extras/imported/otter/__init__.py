"""An otter source notebook, or a notebook that `otter assign` has made, as cells of nbgrader.

A question's test cases follow it as test cells, its manual answer is a cell that is marked by hand, and the parts that
otter removes from a solution are between BEGIN SOLUTION and END SOLUTION; the prompt that otter would leave (`x = ...`)
is above as a comment. Otter's own cells (`grader = otter.Notebook()`, exports) are dropped.
"""

import copy
import re
from pathlib import Path
from typing import Any

import yaml
from nbformat.v4 import new_markdown_cell, new_raw_cell

from autograder.extras.imported.origin import BOUNDARY, Notes
from autograder.extras.imported.otter.generated import Generated
from autograder.extras.imported.otter.solutions import stripped
from autograder.extras.imported.otter.source_notebook import SourceNotebook

__all__ = ["converted", "stripped"]


def converted(notebook: Any, file: Path, notes: Notes) -> tuple[list[Any], dict[str, Any]]:
    """(cells, the assignment's settings). Raises ValueError for anything that otter would refuse."""
    loose = _unfenced(copy.deepcopy(notebook.cells))
    is_master = any(cell.cell_type == "raw" and BOUNDARY.match(cell.source) for cell in loose)
    reader = SourceNotebook(file, notes) if is_master else Generated(file, notes, notebook.metadata.get("otter", {}))
    try:
        reader.read(loose)
    except yaml.YAMLError as error:
        raise ValueError(f"{file.name}: a cell with otter's settings is no YAML: {error}") from None
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from None
    return reader.cells, reader.config


def _unfenced(found: list[Any]) -> list[Any]:
    """Raw cells may be written as ```otter blocks of a Markdown cell."""
    cells: list[Any] = []
    for cell in found:
        if cell.cell_type != "markdown" or "```otter" not in cell.source:
            cells.append(cell)
            continue
        for number, part in enumerate(re.split(r"^```otter\s*\n(.*?)^```\s*?$", cell.source, flags=re.M | re.S)):
            if part.strip():
                cells.append(new_raw_cell(part.strip()) if number % 2 else new_markdown_cell(part.strip("\n")))
    return cells
