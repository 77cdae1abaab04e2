"""What is in a library, and what it can do by now."""

import os
from pathlib import Path
from typing import NamedTuple

from autograder.files import plain_files
from autograder.mine.saving import statements_in
from autograder.mine.shelf import file_of, folder
from autograder.question.find import exercises_of

ABILITIES = {
    "count words, smooth the counts and measure perplexity": "ngrams: count_bigrams kneser_ney perplexity",
    "learn a vocabulary of subwords, encode and decode": "subwords: learn_merges encode decode",
    "train word vectors and find analogies": "vectors: window_pairs pair_gradients analogy",
    "train a network with AdamW and resume exactly": "training: adamw_step schedule clip_gradients train",
    "run a recurrent network and differentiate it": "recurrence: rnn_forward rnn_backward clip",
    "run an LSTM and differentiate it": "gates: lstm_step lstm_backward",
    "write with nucleus sampling and beam search": "decoding: nucleus beam_search length_penalty",
    "translate with a Transformer": "translation: encode decode translate",
    "run SmolLM2, a published model": "transformer: attention block language_model generate load_block",
}
"""What a library can do once it has these functions."""


class Row(NamedTuple):
    assignment: str
    functions: int
    asked: int  # how many of the assignment's questions ask for a function that can be kept
    lines: int


def rows(place: Path) -> list[Row]:
    """What a library has of each assignment."""
    found = []
    for name in sorted({path.parent.name for path in plain_files(place, "*/*.py")}):
        asked = {question.function for question in exercises_of(name).values() if not question.chosen}
        files = [path for path in plain_files(place, f"{name}/*.py") if path.stem in asked]
        found.append(Row(name, len(files), len(asked), sum(map(_length, files))))
    return [row for row in found if row.functions]


def _length(path: Path) -> int:
    """The lines of the function itself: what it calls may be in several files."""
    found = statements_in([path.read_text("utf-8", "replace")])
    return max((len(each.lines) for each in found if path.stem in each.binds), default=0)


def where(place: Path | None = None) -> str:
    """The folder of a library, or of this notebook's, as seen from here."""
    place = place or folder()
    return "mine" if place is None else os.path.relpath(place)


def shown(place: Path | None) -> str:
    """The library as text."""
    if place is None or not place.is_dir() or not (found := rows(place)):
        return f"Your library, {where(place)}, is empty. A function that passes its check is put into it."
    functions, lines = sum(row.functions for row in found), sum(row.lines for row in found)
    said = [
        f"{where(place)}: {functions} function{'' if functions == 1 else 's'}, {lines} lines",
        "",
    ]
    said += [f"  {r.assignment:20} {r.functions:2} of {r.asked:2} functions {r.lines:5} lines" for r in found]
    able = [(what, [file_of(place, name).is_file() for name in needs(what)]) for what in ABILITIES]
    said += ["", "It can"] if any(all(there) for _, there in able) else []
    said += [f"  {what}" for what, there in able if all(there)]
    said += ["", "It lacks"] if any(any(there) and not all(there) for _, there in able) else []
    said += [f"  {there.count(False)} to {what}" for what, there in able if any(there) and not all(there)]
    return "\n".join(said)


def needs(ability: str) -> list[str]:
    """The functions that one of ABILITIES takes."""
    assignment, _, functions = ABILITIES[ability].partition(": ")
    return [f"{assignment}.{name}" for name in functions.split()]
