"""The skewing trick of the Music Transformer, step by step: from scores by distance to scores by key."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from lectures.show import Canvas, Live, live, said, slider
from lectures.show.svg import MASKED, blue

Skew = Callable[[Tensor], Tensor]
"""Scores (query, distance), the farthest distance first, to scores (query, key)."""
SIDE = 46
STEPS = (
    "one product, Q Eᵀ: row i scores query i against every distance, the farthest first",
    "a column of zeros on the left",
    "the same numbers in the same order, read as rows of the old width",
    "without the first row: column j is now key j; the future is masked",
)


def stages(length: int) -> list[np.ndarray]:
    """The distances that the cells of each picture score; −1: a zero, −2: meaningless, a key of the future."""
    by_distance = np.tile(np.arange(length)[::-1], (length, 1))
    future = by_distance > np.arange(length)[:, None]  # farther than the beginning of the text
    marked = np.where(future, -2, by_distance)
    padded = np.pad(marked, ((0, 0), (1, 0)), constant_values=-1)
    reshaped = padded.reshape(length + 1, length)
    return [marked, padded, reshaped, np.where(np.tri(length, dtype=bool), reshaped[1:], -2)]


def skew_player(skew: Skew, *, yours: Skew | None = None) -> Live:
    """Sliders for the step and the length; in the last step the result of `skew` is checked against its equation."""

    def draw(skew: Skew, step: int, length: int) -> str:
        cells = stages(length)[step - 1]
        picture = skew_svg(cells, STEPS[step - 1], step)
        if step < len(STEPS):
            return picture
        scores = torch.arange(1.0, length * length + 1).reshape(length, length)
        found = skew(scores).tril()
        wanted = torch.stack([scores[i, length - 1 - i + torch.arange(length)[: i + 1]].sum() for i in range(length)])
        alike = found.shape == scores.shape and bool(torch.equal(found.sum(1), wanted))
        verdict = "agrees with y[i, j] = x[i, j + n − 1 − i]" if alike else "differs from y[i, j] = x[i, j + n − 1 − i]"
        return picture + said(f"The function's result {verdict}.")

    return live(
        draw,
        skew,
        yours=yours,
        step=slider(1, 1, len(STEPS), 1, "step"),
        length=slider(5, 3, 8, 1, "length n"),
        play="step",
    )


def skew_svg(cells: np.ndarray, caption: str, step: int) -> str:
    """A table of cells (row, column), each with the distance that it scores."""
    canvas = Canvas(f"{step}. {caption}", size=16)
    farthest = max(1, int(cells.max()))
    for (i, j), distance in np.ndenumerate(cells):
        meaningless = distance == -2
        fill = MASKED if meaningless else "#ffffff" if distance < 0 else blue(0.15 + 0.6 * (1 - distance / farthest))
        words = "×" if meaningless else "0" if distance < 0 else f"{distance}"
        canvas.box(70 + SIDE * j, canvas.top + 26 + SIDE * i, SIDE, SIDE, words, fill, "#999", size=16)
    if step in (1, 4):
        canvas.text(70, canvas.top + 18, "distance" if step == 1 else "key 1, 2, …", 15)
        for i in range(len(cells)):
            canvas.text(62, canvas.top + 26 + SIDE * (i + 0.5) + 5, f"q{i + 1}", 15, "end")
    canvas.notes(
        [
            "A number is the distance that a cell scores.",
            "× marks a score that is not used: no token is so far back, or its key is in the future.",
        ]
    )
    rows = "; ".join(" ".join("×" if d == -2 else "zero" if d < 0 else str(d) for d in row) for row in cells)
    return canvas.svg(f"Step {step}: {caption}. Distances by rows: {rows}.", width=760)
