"""A notebook as text and back: jupytext's py:percent, without a header, outputs or kernel, and always the same.

The text is the source of lectures and solutions. Everything else in a notebook (cell ids, kernel) is derived, so that a
text gives the same notebook, byte for byte, on every machine; nbgrader's metadata come through unchanged. jupytext is
imported when it is needed, so that the launcher can import this under a bare Python.
"""

import copy
import hashlib
import json
import re
from pathlib import Path
from typing import Any

TEXT = "py:percent"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
BUILT_FROM = "built_from"  # under `metadata.nlmcourse`: the digest of the text that a notebook was built from
_GRADE_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


def _settings(root: Path) -> Any:
    from jupytext.config import load_jupytext_configuration_file

    return load_jupytext_configuration_file(str(root / "pyproject.toml"))


def to_text(notebook: Any, root: Path) -> str:
    """A notebook as text: sources, cell types and the metadata that are meant to last; no outputs, no kernel."""
    import jupytext

    notebook = copy.deepcopy(notebook)
    notebook.metadata.clear()  # kernel, widget states and what JupyterLab notes for itself have no place in the text
    for cell in notebook.cells:
        cell.metadata = _sorted(cell.metadata)  # as every notebook on disk has it: nbformat sorts when it saves
    text = jupytext.writes(notebook, fmt=TEXT, config=_settings(root))
    return str(text) if text.endswith("\n") else f"{text}\n"


def from_text(text: str, root: Path) -> Any:
    """Text as a notebook: the same one every time, cell ids included."""
    import jupytext

    notebook = jupytext.reads(text, fmt=TEXT, config=_settings(root))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    taken: set[str] = set()
    for cell in notebook.cells:
        cell["id"] = _cell_id(cell, taken)
        cell.metadata = _sorted(cell.metadata)
    base = digest(to_text(notebook, root))
    notebook.metadata = type(notebook.metadata)(
        kernelspec=dict(KERNEL), language_info={"name": "python"}, nlmcourse={BUILT_FROM: base}
    )
    return notebook


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return type(value)((key, _sorted(value[key])) for key in sorted(value))
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _cell_id(cell: Any, taken: set[str]) -> str:
    """nbgrader's own id if there is one, otherwise a digest of the content, which does not depend on other cells."""
    wanted = str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
    if not _GRADE_ID.match(wanted):
        wanted = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted[:60]}-{number}"
    taken.add(found)
    return found


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def canonical(text: str, root: Path) -> str:
    """The text as jupytext writes it: a fixed point of text -> notebook -> text."""
    return to_text(from_text(text, root), root)


def as_json(notebook: Any) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
