"""Attention that leaves pairs out: what one layer reads, and what several layers carry from word to word."""

from collections.abc import Callable, Mapping
from functools import partial

import ipywidgets
import numpy as np
import torch
from torch import Tensor

from lectures.show import pattern_svg
from lectures.show.live import Live, live, slider, swapped

Pattern = Callable[[int, int], Tensor]
"""(length, size) -> mask (query, key), True = may attend, like `nlmcore.attention.window_mask`."""


def pattern_playground(
    patterns: Mapping[str, Pattern],
    length: int = 48,
    *,
    size: int = 6,
    layers: int = 8,
    yours: Mapping[str, Pattern] | None = None,
) -> Live:
    """Any mask, by name, over `length` positions; a slider for its size (a window, a stride), one for the layers.

    Query i has news of key j after L layers if at most L allowed steps lead from i to j: a layer also keeps what it had
    (the residual pathway). So a window of w carries news L · (w − 1) places far.

    Raises ValueError, in the picture's place, for a pattern that gives back no boolean (length, length).
    """

    def draw(patterns: Mapping[str, Pattern], pattern: str, size: int, layers: int, query: int) -> str:
        mask = patterns[pattern](length, size)
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != (length, length):
            got = f"{mask.dtype} {tuple(mask.shape)}" if isinstance(mask, Tensor) else type(mask).__name__
            raise ValueError(f"{pattern} must give back a boolean tensor ({length}, {length}), got {got}")
        needed = layers_needed(mask, layers)
        title = f"{pattern}, size {size}"
        return pattern_svg(mask.numpy(), needed, query, layers=layers, title=title)

    return live(
        partial(draw, patterns),
        yours=swapped(draw, yours),
        rows=[["pattern"], ["size", "layers", "query"]],
        pattern=ipywidgets.ToggleButtons(options=list(patterns), description="pattern", style={"button_width": "auto"}),
        size=slider(min(size, length), 1, length, 1, "size", "300px"),
        layers=slider(1, 1, layers, 1, "layers", "260px"),
        query=slider(length - 1, 0, length - 1, 1, "look from", "340px"),
    )


def layers_needed(mask: Tensor, layers: int) -> np.ndarray:
    """The fewest layers after which query i has news of key j, (query, key); NaN if more than `layers`."""
    step = mask.float()
    keeps = torch.eye(len(mask), dtype=torch.bool)
    reached, needed = mask, torch.full(mask.shape, torch.nan).masked_fill(mask, 1.0)
    for layer in range(2, layers + 1):
        further = (step @ (reached | keeps).float() > 0) & ~reached
        needed[further] = layer
        reached = reached | further
    return needed.numpy()
