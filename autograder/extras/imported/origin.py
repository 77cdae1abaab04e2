"""The contents of the given folder or file: notebooks of nbgrader or of otter, or a message that says why not."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import nbformat

Kind = Literal["nbgrader", "otter"]
BOUNDARY = re.compile(r"#\s+(?:assignment\s+config|(?:begin|end)\s+(?:question|prompt|solution|tests))\s*", re.I)
CHECK = re.compile(r"^\s*\w+\.check\(\s*([\"'])(.+?)\1\s*\)", re.M)


@dataclass
class Origin:
    kind: Kind
    folder: Path
    notebooks: dict[Path, Any] = field(default_factory=dict)  # as they were read; never written


@dataclass
class Notes:
    """Things that could not be imported, each with what to do about it."""

    rows: list[tuple[str, str]] = field(default_factory=list)

    def add(self, what: str, do: str) -> None:
        if (what, do) not in self.rows:
            self.rows.append((what, do))


def look(path: Path, notes: Notes) -> Origin:
    """Raises ValueError, with a message, if it is not an assignment of either."""
    if not path.exists():
        raise ValueError(f"there is no {path}")
    found = [path] if path.is_file() else sorted(p for p in path.glob("*.ipynb") if not p.name.startswith("."))
    if path.is_file() and path.suffix != ".ipynb":
        what = "an R Markdown or Quarto text" if path.suffix.lower() in (".rmd", ".qmd") else "no notebook"
        raise ValueError(f"{path.name} is {what}: name a notebook (.ipynb), or the folder that it lies in")
    if not found:
        raise ValueError(_nothing_in(path))
    origin: Origin | None = None
    for file in found:
        notebook = read(file)
        kind = kind_of(notebook)
        if kind is None:
            notes.add(f"{file.name} has no questions of nbgrader or otter", "it was left out")
            continue
        language = str(notebook.metadata.get("kernelspec", {}).get("language") or "python").lower()
        if language != "python" or notebook.metadata.get("kernelspec", {}).get("name") in ("ir", "xpython-raw"):
            notes.add(f"{file.name} is written in {language}", "only Python is graded here: keep it where it is")
            continue
        origin = origin or Origin(kind, file.parent)
        if kind != origin.kind:
            raise ValueError(f"{file.name} is {kind}'s, the notebooks before it are {origin.kind}'s: name one notebook")
        origin.notebooks[file] = notebook
    if origin is None:
        why = "; ".join(what for what, _ in notes.rows)
        raise ValueError(f"nothing in {path} could be imported: {why}")
    return origin


def _nothing_in(folder: Path) -> str:
    below = sorted({p.parent for p in folder.glob("**/*.ipynb") if not any(x.startswith(".") for x in p.parts[-4:-1])})
    if not below:
        texts = [p.name for p in folder.glob("*.[Rrq]md")]
        return f"{folder} has no notebooks{f', only {texts[0]}, which is not read here' if texts else ''}"
    said = ", ".join(str(p) for p in below[:6]) + (f" and {len(below) - 6} more" if len(below) > 6 else "")
    return f"{folder} has no notebooks itself: name one assignment's folder, such as {said}"


def read(path: Path) -> Any:
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # whatever nbformat's parsers raise about a file that is no notebook
        raise ValueError(f"{path.name} is no notebook that can be read ({type(error).__name__})") from None


def kind_of(notebook: Any) -> Kind | None:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader"):
            return "nbgrader"
        if cell.cell_type == "raw" and BOUNDARY.match(cell.source):
            return "otter"
        if cell.cell_type == "markdown" and re.search(r"```otter\s*\n\s*" + BOUNDARY.pattern, cell.source, re.I):
            return "otter"
        if cell.cell_type == "markdown" and re.search(r"```\s*\n\s*BEGIN QUESTION", cell.source):
            raise ValueError(
                "the notebook has otter's form from before version 3 (BEGIN QUESTION in Markdown): bring it to the"
                " newer form with raw cells first, as otter's own documentation says"
            )
    by_call = any(cell.cell_type == "code" and CHECK.search(cell.source) for cell in notebook.cells)
    return "otter" if notebook.metadata.get("otter") or by_call else None
