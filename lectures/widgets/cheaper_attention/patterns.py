"""Which pairs of positions a layer scores, and after how many layers each position has information from each other one."""

import textwrap
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lectures.show import Canvas, Live, choice, live, slider
from lectures.show.svg import FAINT, ORANGE, diverging

Pattern = Callable[[int, int], Tensor]
"""(length, size) -> mask (query, key), True = may attend, like `nlmcore.attention.window_mask`."""


def pattern_playground(
    patterns: Mapping[str, Pattern],
    length: int = 48,
    *,
    size: int = 6,
    layers: int = 8,
) -> Live:
    """Any mask, by name, over `length` positions; a slider for its size (a window, a stride), one for the layers.

    Query i has information from key j after L layers if at most L allowed steps lead from i to j: a layer also keeps what it had
    (the residual pathway). So a window of w carries information L · (w − 1) positions far.

    Raises ValueError, in the picture's place, for a pattern that does not return a boolean (length, length).
    """
    most = layers

    def draw(pattern: str, size: int, layers: int, query: int) -> str:
        mask = patterns[pattern](length, size)
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (length, length):
            got = f"{mask.dtype} {tuple(mask.shape)}" if isinstance(mask, Tensor) else type(mask).__name__
            raise ValueError(f"{pattern} must return a boolean tensor ({length}, {length}), got {got}")
        needed = layers_needed(mask, most)
        notes = [all_reached(mask, needed), f"{128 * int(mask.sum()):,} multiplications per head of width 64"]
        shown = np.where(needed <= layers, needed, np.nan)
        return pattern_svg(mask.numpy(), shown, query, layers=layers, title=f"{pattern}, size {size}", notes=notes)

    return live(
        draw,
        rows=[["pattern"], ["size", "layers", "query"]],
        pattern=choice(patterns, "pattern"),
        size=slider(min(size, length), 1, length, 1, "size", "300px"),
        layers=slider(1, 1, layers, 1, "layers", "260px"),
        query=slider(length - 1, 0, length - 1, 1, "look from", "340px"),
    )


def all_reached(mask: Tensor, needed: np.ndarray) -> str:
    """After how many layers every query has information from every key (every earlier one, if the mask is causal)."""
    causal = not bool(mask.triu(1).any())
    wanted = np.tril(needed) if causal else needed  # above the diagonal 0
    which = "every earlier position" if causal else "every position"
    if np.isnan(wanted).any():
        return f"{which} reached: not within the layers of the slider"
    after = int(wanted.max())
    return f"{which} reached: after {after} layer{'s' * (after > 1)}"


def layers_needed(mask: Tensor, layers: int) -> np.ndarray:
    """The fewest layers after which query i has information from key j, (query, key); NaN if more than `layers`."""
    step, keeps = mask.float(), torch.eye(len(mask), dtype=torch.bool)
    reached, needed = mask, torch.full(mask.shape, torch.nan).masked_fill(mask, 1.0)
    for layer in range(2, layers + 1):
        further = (step @ (reached | keeps).float() > 0) & ~reached
        needed[further] = layer
        reached = reached | further
    return needed.numpy()


def pattern_svg(
    mask: ArrayLike, layers_needed: ArrayLike, query: int, *, layers: int, title: str = "", notes: Sequence[str] = ()
) -> str:
    """Left a mask (query, key), blue where a query may read a key; right after how many layers it has information from it.

    layers_needed (query, key): 1, 2, … up to `layers`, the darker the fewer; NaN, or more than `layers`, is grey: not
    yet. Row `query` is framed in both. At the right of both: what the colours mean, and what is counted.

    Raises ValueError if the two are not square and of one size, there is no such row, or layers is below 1.
    """
    allowed, needed = np.asarray(mask, dtype=bool), np.asarray(layers_needed, dtype=float)
    n = len(allowed)
    if allowed.shape != (n, n) or needed.shape != (n, n) or not 0 <= query < n or layers < 1:
        raise ValueError(
            "pattern_svg needs two matrices (position, position) of one size, one of their rows and at least one layer,"
            f" got {allowed.shape} and {needed.shape}, query={query}, layers={layers}"
        )
    shade = -1 + 0.65 * (np.arange(layers) / max(1, layers - 1))  # −1 is the darkest blue
    arrived = np.where(needed <= layers, needed, np.nan)
    late = np.where(np.isnan(arrived), np.nan, shade[np.nan_to_num(arrived, nan=1.0).astype(int) - 1])
    after = f"after {layers} layer{'s' * (layers > 1)}"
    canvas, side, top = Canvas(), 240.0, 32.0
    cell = side / n
    panels = {"one layer reads": np.where(allowed, -1.0, np.nan), f"{after}: has information from": late}
    for i, (name, matrix) in enumerate(panels.items()):
        left = 26 + i * (side + 46)
        canvas.text(left, top - 12, name, 16)
        canvas.image(matrix, left, top, side, side)
        canvas.rect(left - 3, top + cell * query - 2, side + 6, cell + 4, stroke=ORANGE, wide=3)
        for place in sorted({0, n - 1}):
            canvas.text(left - 5, top + cell * (place + 0.5) + 5, str(place), 14, "end")
            canvas.text(left + cell * (place + 0.5), top + side + 18, str(place), 14, "middle")
    x, wide = 2 * side + 100, 20.0 if layers < 8 else 13.0
    for i, value in enumerate(shade):
        canvas.rect(x + wide * i, top, wide, 18, diverging(value), FAINT)
    canvas.text(x + wide * layers + 8, top + 15, f"1 to {layers} layers" if layers > 1 else "1 layer", 16)
    canvas.rect(x, top + 26, 20, 18, diverging(np.nan), FAINT)
    canvas.text(x + 28, top + 41, "not yet", 16)
    reads, knows = int(allowed[query].sum()), int(np.isfinite(arrived[query]).sum())
    pairs = f"{int(allowed.sum()):,} of {n * n:,} pairs"
    lines = [
        f"rows: who reads; columns: who is read. One layer scores {pairs}",
        f"position {query} reads {reads} of {n}; {after} it has information from {knows}",
        *notes,
    ]
    canvas.text(x, top + 66, title, 16, bold=True)
    y = top + 88
    for line in lines:
        for part in textwrap.wrap(line, 31):
            canvas.text(x, y, part, 16)
            y += 20
        y += 4
    return canvas.svg(f"{title}. {'. '.join(lines)}.")
