"""Text and notebook: `lectures/NN_topic.py` in git, `lectures/NN_topic.ipynb` built from it.

`build` makes the notebooks; `sync` writes changes in a notebook back to its text. Neither ever loses somebody's work: a
notebook records which text it was built from, so that "changed" does not depend on clocks, and if both sides have
changed, the notebook is first moved to `kept/`.

Standard library only at import; jupytext is imported when it is needed.
"""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.texts.text import BUILT_FROM, as_json, canonical, digest, from_text, to_text

FOLDERS = ("lectures/*.py", "solutions/*/*.py")


class Relation(Enum):
    SAME = "same"
    NOTEBOOK_MISSING = "notebook missing"
    TEXT_CHANGED = "text changed"
    NOTEBOOK_CHANGED = "notebook changed"
    BOTH_CHANGED = "both changed"


@dataclass(frozen=True)
class Pair:
    text: Path

    @property
    def notebook(self) -> Path:
        return self.text.with_suffix(".ipynb")


def pairs(root: Path) -> Iterator[Pair]:
    """Every text source of the checkout: those files of `lectures/` and `solutions/` that have cells."""
    for pattern in FOLDERS:
        for path in sorted(root.glob(pattern)):
            if not path.name.startswith((".", "_")) and re.search(r"^# %%", path.read_text(encoding="utf-8"), re.M):
                yield Pair(path)


def _read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def relation(pair: Pair, root: Path) -> Relation:
    """Compare a text with its notebook, and both with the text from which the notebook was built."""
    if not pair.notebook.exists():
        return Relation.NOTEBOOK_MISSING
    text = pair.text.read_text(encoding="utf-8")
    try:
        notebook = _read(pair.notebook)
    except Exception:  # nbformat raises what its parsers raise; a file that is no notebook is somebody's all the same
        return Relation.BOTH_CHANGED
    here, there = canonical(text, root), to_text(notebook, root)
    if here == there:
        return Relation.SAME
    base = notebook.metadata.get("nlmcourse", {}).get(BUILT_FROM, "")
    text_changed, notebook_changed = digest(here) != base, digest(there) != base
    if notebook_changed:
        return Relation.BOTH_CHANGED if text_changed else Relation.NOTEBOOK_CHANGED
    return Relation.TEXT_CHANGED


def write_notebook(pair: Pair, root: Path) -> None:
    """Build one notebook; its time stamp is set to that of its text, so that neither looks newer."""
    import nbformat

    notebook = from_text(pair.text.read_text(encoding="utf-8"), root)
    nbformat.validate(notebook)
    write_whole(pair.notebook, as_json(notebook))
    _same_time(pair)


def _same_time(pair: Pair) -> None:
    stat = pair.text.stat()
    os.utime(pair.notebook, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def untouched(pair: Pair) -> bool:
    """Whether both files are as the last build left them, by their time stamps alone (no jupytext needed)."""
    try:
        return pair.text.stat().st_mtime_ns == pair.notebook.stat().st_mtime_ns
    except OSError:
        return False


def keep(path: Path, root: Path) -> Path:
    """Copy a file to `kept/`, under its own path and the time: `kept/lectures/01_first-20251121-0931.ipynb`."""
    folder = root / "kept" / path.parent.relative_to(root)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    target, number = folder / f"{stem}{path.suffix}", 1
    while target.exists():
        number += 1
        target = folder / f"{stem}-{number}{path.suffix}"
    target.write_bytes(path.read_bytes())
    return target


def build(root: Path, take_in: bool = False) -> tuple[int, list[str]]:
    """Update every notebook to its text. Returns the number of notebooks written, and messages for the user.

    A notebook that was changed while its text was not is left alone, or with `take_in` its changes are written to the
    text first, as JupyterLab itself does when it saves; otherwise JupyterLab would refuse to open the pair.
    """
    written, notes = 0, []
    for pair in pairs(root):
        if untouched(pair):
            continue
        name = pair.notebook.relative_to(root).as_posix()
        state = relation(pair, root)
        if state is Relation.SAME:
            _same_time(pair)
            continue
        if state is Relation.NOTEBOOK_CHANGED and take_in:
            _take_in(pair, root)
            notes.append(f"{name} was changed since it was built; the changes are in {pair.text.name} now.")
            continue
        if state is Relation.NOTEBOOK_CHANGED:
            notes.append(
                f"{name} was changed since it was built and is left as it is.\n"
                f"    To take the changes into {pair.text.name}: make sync. To drop them: delete it and build again."
            )
            continue
        if state is Relation.BOTH_CHANGED:
            kept = keep(pair.notebook, root).relative_to(root).as_posix()
            notes.append(f"{name} was changed, and so was its text. Your notebook is kept as {kept}; {name} is new.")
        write_notebook(pair, root)
        written += 1
    return written, notes


def sync(root: Path) -> tuple[list[str], list[str]]:
    """Write changed notebooks back to their texts. Returns the names of the texts written, and the conflicts."""
    written, conflicts = [], []
    for pair in pairs(root):
        text = pair.text.read_text(encoding="utf-8")
        state = relation(pair, root)
        if state is Relation.BOTH_CHANGED:
            source = pair.text.relative_to(root).as_posix()
            conflicts.append(
                f"{pair.notebook.relative_to(root).as_posix()} and its text have both changed. Neither was written.\n"
                "    To go on with the text: make build (your notebook goes to kept/). To go on with the notebook:\n"
                f"    git checkout {source} (the text it was built from), then make sync."
            )
            continue
        if state is Relation.NOTEBOOK_CHANGED:
            _take_in(pair, root)
        else:
            new = canonical(text, root)
            if new != text:
                write_whole(pair.text, new)
            if state is Relation.SAME:
                _same_time(pair)
            else:
                write_notebook(pair, root)
        if pair.text.read_text(encoding="utf-8") != text:
            written.append(pair.text.relative_to(root).as_posix())
    return written, conflicts


def _take_in(pair: Pair, root: Path) -> None:
    """Write a notebook's changes to its text; the notebook, including its outputs, then belongs to that text."""
    notebook = _read(pair.notebook)
    text = to_text(notebook, root)
    write_whole(pair.text, text)
    notebook.metadata["nlmcourse"] = {BUILT_FROM: digest(text)}
    write_whole(pair.notebook, as_json(notebook))
    _same_time(pair)
