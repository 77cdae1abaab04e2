"""Write an assignment from elsewhere to `solutions/NAME/`, as texts with their files, and report what could not be
imported."""

import base64
import glob
import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_notebook

from autograder.assignments import OWN
from autograder.extras.imported import needs, otter, stock
from autograder.extras.imported.origin import Kind, Notes, Origin, look
from autograder.files import plain_files
from autograder.question.questions import OPENS
from autograder.scaffold.new import usable
from autograder.texts.text import from_text, to_text

OTTERS = ("autograder", "student")  # what otter calls the folders that it makes


@dataclass(frozen=True)
class Brought:
    name: str
    kind: Kind
    folder: Path
    notebooks: list[str]
    points: float  # for the grader to give
    by_hand: float
    notes: Notes


def bring(root: Path, path: Path, name: str | None = None) -> Brought:
    """Import an assignment into the course at `root`. Raises ValueError, in words; then nothing is written."""
    notes = Notes()
    path = path.resolve()
    origin = look(path, notes)
    if name is None:
        own = path.is_dir() and path.name not in OTTERS
        given = path.name if own else next(iter(origin.notebooks)).stem
        name = re.sub(r"[^a-z0-9]+", "_", given.lower()).strip("_")
        name = name if name[:1].isalpha() else f"hw_{name}"
    usable(root, name, [f"solutions/{name}", f"exercises/{name}"])
    cells, files = _all(origin, notes, path.is_dir())
    made = {file.stem: new_notebook(cells=found) for file, found in cells.items()}
    target = root / "solutions" / name
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=target.parent) as folder:
        work = Path(folder) / name
        work.mkdir()
        for inside, content in files.items():
            (work / inside).parent.mkdir(parents=True, exist_ok=True)
            (work / inside).write_bytes(content)
        for notebook in made.values():
            _pictures(notebook, work)
        _hand_out(work)
        for stem, notebook in made.items():
            if (work / f"{stem}.py").exists():
                raise ValueError(
                    f"{stem}.py lies beside {stem}.ipynb: rename one, as the master's text has that name here"
                )
            (work / f"{stem}.py").write_text(_text(notebook, stem, root, notes), encoding="utf-8")
        shutil.move(work, target)
    about = [c.metadata["nbgrader"] for found in cells.values() for c in found if "nbgrader" in c.metadata]
    marked = [(facts, float(facts.get("points") or 0)) for facts in about if facts.get("grade") or facts.get("task")]
    hand = sum(points for facts, points in marked if facts.get("solution") or facts.get("task"))
    return Brought(
        name=name,
        kind=origin.kind,
        folder=target,
        notebooks=sorted(made),
        points=sum(points for _, points in marked) - hand,
        by_hand=hand,
        notes=notes,
    )


def _all(origin: Origin, notes: Notes, everything: bool) -> tuple[dict[Path, list[Any]], dict[str, bytes]]:
    """(cells by notebook, files) of the assignment."""
    cells: dict[Path, list[Any]] = {}
    listed: list[str] = []
    named: set[str] = set()
    marks = stock.settings(origin.folder, notes) if origin.kind == "nbgrader" else {}
    for file, notebook in origin.notebooks.items():
        if origin.kind == "nbgrader":
            cells[file] = stock.taken(notebook, file.name, marks, notes)
        else:
            cells[file], config = otter.converted(notebook, file, notes)
            named |= {str(each) for each in config.get("files") or []}
            listed += _requirements(config.get("requirements"), origin.folder, notes)
    found = needs.trees(cell for each in cells.values() for cell in each)
    named |= needs.wanted(found, notes)
    named |= {f"{module}.py" for module in needs.imported(found) if (origin.folder / f"{module}.py").is_file()}
    whole = everything and (origin.kind == "nbgrader" or origin.folder.name in OTTERS)
    files = needs.carried(origin.folder, named, whole, notes, origin.folder)
    if origin.kind == "otter":
        files = {name: content for name, content in files.items() if not needs.OTTERS_OWN.search(name)}
    modules = [content.decode("utf-8", "replace") for name, content in files.items() if name.endswith(".py")]
    needs.packages([*found, *needs.trees(map(new_code_cell, modules))], files, listed, notes)
    for each in cells.values():
        needs.magics(each, notes)
    texts = re.compile(rb"^# %%", re.M)  # would pass for a master's text
    return cells, {n: texts.sub(b"#%%", c) if n.endswith(".py") else c for n, c in files.items()}


def _requirements(given: Any, folder: Path, notes: Notes) -> Iterable[str]:
    if isinstance(given, str):
        path = folder / given
        if not path.is_file():
            notes.add(f"the file {given} with its requirements is missing", "look up what it needs")
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [str(line) for line in given or []]


def _hand_out(folder: Path) -> None:
    """Say in `files.txt` that students get every file that came along."""
    names = [path.relative_to(folder).as_posix() for path in plain_files(folder, "**/*")]
    if taken := [path.relative_to(folder).as_posix() for path in plain_files(folder, *OWN)]:
        raise ValueError(f"{', '.join(taken)}: such a file means something else in solutions/ here. Rename it")
    if names:
        (folder / "files.txt").write_text("".join(f"{glob.escape(name)}\n" for name in names), encoding="utf-8")


def _pictures(notebook: Any, folder: Path) -> None:
    """Pictures that were pasted into cells become files, because a text cannot contain them."""
    for cell in notebook.cells:
        for name, kinds in dict(cell.get("attachments", {})).items():
            content = base64.b64decode("".join(next(iter(kinds.values()))))
            own = f"{hashlib.sha256(content).hexdigest()[:8]}-{re.sub(r'[^A-Za-z0-9._-]', '_', name)}"
            (folder / own).write_bytes(content)
            cell.source = cell.source.replace(f"attachment:{name}", own)
        cell.pop("attachments", None)


def _text(notebook: Any, stem: str, root: Path, notes: Notes) -> str:
    """The notebook as text; a notebook made of it has the same cells."""
    for cell in notebook.cells:
        before = cell.source
        cell.source = re.sub(
            r"^(#|\\)(\s*%%)", r"\1\\\2" if cell.cell_type != "code" else r"#\1\2", cell.source, flags=re.M
        )
        if cell.source != before:
            notes.add(f"{stem}: lines that begin with # %%, as cells do in a text", "they have got another # or a \\")
        if cell.cell_type == "markdown":  # a heading with [[…]] opens a question of ours
            cell.source = OPENS.sub(lambda match: match[0] + "\u200b", cell.source)
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip() or "nbgrader" in cell.metadata]
    text = to_text(notebook, root)
    back = from_text(text, root).cells
    for number, cell in enumerate(notebook.cells, 1):
        same = number <= len(back) and back[number - 1].source.rstrip() == cell.source.rstrip()
        if not same or back[number - 1].cell_type != cell.cell_type:
            notes.add(
                f"{stem}, cell {number}: its text cannot be kept exactly ({cell.source.strip()[:40]!r}…)",
                f"compare it with the original in solutions/, {stem}.py",
            )
            break
    return text
