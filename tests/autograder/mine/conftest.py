"""A notebook in `work/attention/`, and its kernel's namespace, without a kernel."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import autograder.mine.saving
import autograder.mine.shelf
import autograder.mine.using


class Notebook:
    """Runs cells as a kernel does, and remembers their texts."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"__name__": "__main__", "In": [""]}
        self.kernel = None
        self.replaced = ""

    def run(self, *cells: str) -> "Notebook":
        for cell in cells:
            self.user_ns["In"].append(cell)
            exec(cell, self.user_ns)
        return self

    def set_next_input(self, text: str, replace: bool) -> None:
        assert replace
        self.replaced = text


@pytest.fixture
def open_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Opens a new notebook of an assignment; the earlier one is closed."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)

    def opened(assignment: str) -> Notebook:
        place = tmp_path / "work" / assignment
        place.mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(place)
        notebook = Notebook()
        for module in (autograder.mine.shelf, autograder.mine.saving, autograder.mine.using):
            monkeypatch.setattr(module, "shell", lambda: notebook)
        return notebook

    return SimpleNamespace(of=opened, library=tmp_path / "work" / "mine")
