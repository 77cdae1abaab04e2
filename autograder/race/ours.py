"""The course's own entries: the baseline of the notebook, and cells that replace parts of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupytext

from autograder.race.parts import FUNCTIONS
from autograder.sandbox.inside.needed import needed

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "autograder" / "race" / "ours"
ENTRIES = {
    "Kneser–Ney, characters": ("kneser_ney_pairs", "kneser_ney_characters"),
    "Kneser–Ney, byte pairs": ("kneser_ney_pairs",),
    "Kneser–Ney and the passage": ("kneser_ney_pairs", "best", "kneser_ney_passage"),
    "LSTM": ("lstm",),
    "Transformer": ("transformer",),
    "GPT": (),
    "our best": ("kneser_ney_pairs", "best"),
}
"""Names of entries, and the files of this folder that are their cells."""
ABLATIONS = {
    f"our best without {part}": (*ENTRIES["our best"], f"without_{part}") for part in ("cache", "counts", "network")
}
"""The same with a part left out, to measure what the part gains."""


def cells_of(name: str) -> list[str]:
    """The code of an entry. Raises ValueError for a name that the course does not have."""
    known = ENTRIES | ABLATIONS
    if name not in known:
        raise ValueError(f"the course has no entry {name!r}; it has {', '.join(known)}")
    notebook = jupytext.read(ROOT / "solutions" / "capstone" / "capstone.py")
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return [*cells, *((FOLDER / f"{file}.txt").read_text(encoding="utf-8") for file in known[name])]


def entry_of(name: str) -> dict[str, Callable[..., Any]]:
    """The four functions of an entry, in this process."""
    space: dict[str, Any] = {}
    for source in needed(cells_of(name), [], FUNCTIONS, lambda source: source).values():
        exec(source, space)
    return {function: space[function] for function in FUNCTIONS}
