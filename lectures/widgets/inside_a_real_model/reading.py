"""One sentence in a language model, kept layer by layer, so that an intervention computes only the layers after it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lectures.show import Canvas
from lectures.show.svg import BLUE, FAINT, ORANGE, label_width
from nlmcore.inspect import capture, patch, pathway

__all__ = ["Inside", "Read", "grid_svg", "next_words_svg"]

LONGEST = 16


@dataclass(frozen=True, eq=False)
class Read:
    """What a model computed for one text."""

    ids: Tensor
    pieces: list[str]
    depths: list[Tensor]
    """The pathway after 0, 1, … layers, (time, d_model) each."""
    weights: Tensor
    """(layer, head, query, key)"""
    log_p: Tensor
    """Of the next token, (vocab)."""


class Inside:
    """A TransformerLM with its tokenizer; the latest texts are kept."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.read = lru_cache(maxsize=32)(self._read)
        self.layers, self.heads = len(model.layers), model.config.n_heads

    @torch.no_grad()
    def _read(self, text: str, longest: int = LONGEST) -> Read:
        """Raises ValueError for fewer than two tokens or more than `longest`."""
        ids, pieces = torch.tensor([self.tokenizer.encode(text)]), self.tokenizer.pieces(text)
        if not 2 <= ids.shape[1] <= longest:
            raise ValueError(f"type 2 to {longest} tokens; this text has {ids.shape[1]}: {'|'.join(pieces)[:200]}")
        with pathway(self.model) as branches, capture(self.model) as tape:
            self.model.hidden_states(ids)
        depths = [branches[0].x[0], *(branch.result[0] for branch in branches[1::2])]
        return Read(ids[0], pieces, depths, torch.cat(list(tape.values())), self.words(depths[-1][-1]))

    def words(self, x: Tensor) -> Tensor:
        """The lens: log-probabilities of the next token from the pathway, (…, d_model) -> (…, vocab)."""
        return self.model.output(self.model.final_norm(x)).log_softmax(-1)

    @torch.no_grad()
    def changed(self, read: Read, layer: int, changes: Mapping[Any, Any], positions: Any = None) -> Tensor:
        """Log-probabilities of the next token with these changes, of which none is below `layer`."""
        x = read.depths[layer][None]
        with patch(self.model, changes, positions):
            for later in self.model.layers[layer:]:
                x, _ = later(x)
        return self.words(x[0, -1])

    def first_id(self, word: str) -> int:
        """The first token of a word in the middle of a text. Raises ValueError for nothing."""
        if not word.strip():
            raise ValueError("type a word to follow")
        return int(self.tokenizer.encode(f" {word.strip()}")[0])

    def name(self, token: int) -> str:
        return self.tokenizer.decode([token]).replace("\n", "↵")


def next_words_svg(
    inside: Inside, before: Tensor, after: Tensor, *, title: str, names: tuple[str, str], count: int = 7
) -> str:
    """The likeliest next words of two predictions, a pair of bars each: blue before, orange after."""
    both = torch.maximum(before, after).topk(count).indices.tolist()
    words = [inside.name(i) for i in both]
    canvas, left = Canvas(title, size=16), label_width(words, 16) + 8
    room, told = 330.0, []
    reach = max(float(max(before.max(), after.max()).exp()), 1e-6)
    for k, name in enumerate(names):
        canvas.rect(left + 170 * k, canvas.top, 14, 14, (BLUE, ORANGE)[k])
        canvas.text(left + 20 + 170 * k, canvas.top + 13, name, 15)
    top = canvas.top + 24
    for row, (i, word) in enumerate(zip(both, words, strict=True)):
        y = top + 38 * row
        canvas.text(left - 8, y + 23, word, 16, "end", mono=True)
        for k, log_p in enumerate((before, after)):
            p = float(log_p[i].exp())
            canvas.rect(left, y + 3 + 16 * k, max(room * p / reach, 0.5), 14, (BLUE, ORANGE)[k])
            canvas.text(left + room * p / reach + 6, y + 15 + 16 * k, f"{p:z.3f}", 14)
        told.append(f"{word.strip() or word} {float(before[i].exp()):z.3f}, then {float(after[i].exp()):z.3f}")
    canvas.line((left, top), (left, top + 38 * len(both)), FAINT)
    return canvas.svg(f"{title}, {names[0]} and {names[1]}: {'; '.join(told)}.")


def grid_svg(
    matrix: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    alt: str,
    title: str,
    reach: float,
    cell: tuple[float, float],
    chosen: tuple[int, int] | None = None,
    letters: Sequence[Sequence[str]] | None = None,
    every: int = 1,
    x_title: str = "",
    turn: int = 0,
    note: str = "",
) -> str:
    """Cells from blue (−reach) over white to red (reach), the chosen one framed; letters may stand in them.

    every: which columns have their label written; turn: column labels stand on end.
    """
    values = np.asarray(matrix, dtype=float)
    canvas, left = Canvas(title, size=16), label_width(rows, 15)
    wide, high = cell
    top = canvas.top + (label_width(columns, 15) * 0.9 if turn else 22) + (20 if x_title else 0)
    if x_title:
        canvas.text(left, canvas.top + 14, x_title, 15)
    canvas.image(values, left, top, wide * values.shape[1], high * values.shape[0], reach)
    for j in range(0, len(columns), every):
        x = left + wide * (j + 0.5)
        if turn:
            canvas.text(x + 4, top - 6, columns[j], 15, turn=-turn)
        else:
            canvas.text(x, top - 6, columns[j], 15, "middle")
    for i, label in enumerate(rows):
        if i % math.ceil(16 / high) == 0:
            canvas.text(
                left - 6, top + high * (i + 0.5) + 5, label, 15, "end", bold=chosen is not None and chosen[0] == i
            )
    for i, row in enumerate(letters or ()):
        for j, letter in enumerate(row):
            if letter:
                canvas.text(
                    left + wide * (j + 0.5), top + high * (i + 0.5) + 5, letter, 15, "middle", fill="#000", bold=True
                )
    if chosen is not None:
        canvas.rect(left + wide * chosen[1], top + high * chosen[0], wide, high, stroke="#000", wide=3)
    canvas.notes(note.split("\n"), 15, gap=4)
    return canvas.svg(alt)
