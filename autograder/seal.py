"""What a released notebook notes of itself, so that any copy tells whether somebody has worked in it, and what is new
in a later release. Standard library only."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SEAL = "released"  # under `metadata.nlmcourse`


def _said(cells: list[Any]) -> str:
    """A digest of what people write in cells; a result that a run leaves there does not count."""
    said = [[cell["cell_type"], "".join(cell["source"]), cell.get("attachments", {})] for cell in cells]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def _questions(cells: list[Any]) -> dict[str, str]:
    """A digest of each question by its name: of its cells, from the last heading to the cell with the points."""
    found, begins = {}, 0
    for at, cell in enumerate(cells):
        marks = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "markdown" and "".join(cell["source"]).startswith("#"):
            begins = at
        if marks.get("grade") or marks.get("task"):
            found[str(marks["grade_id"]).removeprefix("check_")] = _said(cells[begins : at + 1])
            begins = at + 1
    return found


def seal(notebook: Any) -> None:
    """Note in a notebook that is being released what it says, so that any copy tells whether somebody has worked in it,
    and from which release it comes."""
    cells = notebook["cells"]
    said = {"digest": _said(cells), "questions": _questions(cells)}
    notebook["metadata"]["nlmcourse"] = {**notebook["metadata"].get("nlmcourse", {}), SEAL: said}


def read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return document if isinstance(document, dict) else {}
    except (OSError, ValueError):
        return {}


def about(path: Path) -> Mapping[str, Any]:
    """What the course has noted in a notebook."""
    try:
        return dict(read(path)["metadata"]["nlmcourse"])
    except (KeyError, TypeError, ValueError):
        return {}


def untouched(path: Path) -> bool:
    """Whether a notebook says what it said when it was released: nobody has worked in it, only perhaps run it."""
    try:
        return bool(about(path)[SEAL]["digest"] == _said(read(path)["cells"]))
    except (KeyError, TypeError, AttributeError):
        return False


def same_release(one: Path, other: Path) -> bool:
    """Whether two notebooks come from the same release. (Older ones have no seal, only the text they come from.)"""
    a, b = about(one), about(other)
    name = SEAL if SEAL in a else "built_from"
    return name in a and a[name] == b.get(name)
