"""The cells that both readers write, with nbgrader's metadata and a different name each."""

import re
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from autograder.extras.imported import cases as otters
from autograder.extras.imported.origin import Notes
from autograder.extras.imported.otter.solutions import stripped, without_ignored
from autograder.question.questions import mark_cell

DEFAULT_PROMPT = "_Type your answer here, replacing this text._"


class Cells:
    """What has been read so far."""

    def __init__(self, file: Path, notes: Notes) -> None:
        self.file, self.notes = file, notes
        self.config: dict[str, Any] = {}
        self.cells: list[Any] = []
        self.names: set[str] = set()

    def _plain(self, cell: Any, solution: str = "") -> None:
        """A cell unchanged; a solution's code with its regions."""
        made = new_markdown_cell(cell.source) if cell.cell_type == "markdown" else new_code_cell(cell.source)
        if cell.cell_type == "raw":
            made = new_raw_cell(cell.source)
        if cell.get("attachments"):
            made["attachments"] = cell.attachments
        if cell.cell_type == "code":
            made.source = stripped(cell.source) if solution else without_ignored(cell.source)
            made.source = re.sub(r"\s*# SEED\s*$", "", made.source, flags=re.M)
            if "# BEGIN PLUGIN" in made.source or re.search(r"grader\.(run_plugin|add_plugin_files)", made.source):
                made.source = re.sub(r"^.*# BEGIN PLUGIN.*?# END PLUGIN.*?$|^.*grader\.\w*plugin.*$", "", made.source,
                                     flags=re.M | re.S if "BEGIN PLUGIN" in made.source else re.M)  # fmt: skip
                self.notes.add(f"{self.file.name}: a cell calls a plugin of otter", "the call is left out")
            if not made.source.strip():
                return
            if "### BEGIN SOLUTION" in made.source:
                self._named(made, solution, solution=True)
        self.cells.append(made)

    def _tests(self, test: otters.Test) -> None:
        for source, points in otters.cells(test):
            cell = new_code_cell(source)
            self._named(cell, f"{test.name}_test", grade=True, locked=True, points=points)
            self.cells.append(cell)
        self.names.add(test.name)

    def _named(self, cell: Any, name: str, **about: Any) -> None:
        base = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:50]
        number = 1
        while (unique := base if number == 1 else f"{base}_{number}") in self.names:
            number += 1
        self.names.add(unique)
        mark_cell(cell, unique, **about)
