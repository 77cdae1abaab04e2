"""The course's own entries: the baseline of the notebook, and cells that replace parts of it."""

from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "autograder" / "race" / "ours"
ENTRIES = {
    "Kneser–Ney, characters": ("kneser_ney_pairs", "kneser_ney_characters"),
    "Kneser–Ney, byte pairs": ("kneser_ney_pairs",),
    "LSTM": ("lstm",),
    "GPT": (),
    "our best": ("kneser_ney_pairs", "best"),
}
"""Names of entries, and the files of this folder that are their cells."""


def cells_of(name: str) -> list[str]:
    """The code of an entry. Raises ValueError for a name that is not in ENTRIES."""
    if name not in ENTRIES:
        raise ValueError(f"the course has no entry {name!r}; it has {', '.join(ENTRIES)}")
    notebook = jupytext.read(ROOT / "solutions" / "capstone" / "capstone.py")
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return [*cells, *((FOLDER / f"{file}.txt").read_text(encoding="utf-8") for file in ENTRIES[name])]
