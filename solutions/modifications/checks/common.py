"""What the questions on modifications share: layers as dictionaries, and names that are off limits."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = ("nlmcore.variants", "nlmcore.metrics", "scipy", "sklearn", "statsmodels")
"""Closed in every question: the modifications themselves, and tests, corrections and correlations."""

Layer = dict[str, Tensor | float]


def layer_of(draw: Draw, d: int, d_ff: int, alpha: float, dtype: torch.dtype = torch.float32) -> Layer:
    """Attention and network of one layer, with ReZero's α."""
    square = {name: draw.normal(d, d, dtype=dtype) / d**0.5 for name in ("query", "key", "value", "mix")}
    inner, outer = draw.normal(d, d_ff, dtype=dtype), draw.normal(d_ff, d, dtype=dtype)
    return {**square, "inner": inner / d**0.5, "outer": outer / d_ff**0.5, "alpha": alpha}


def experts_of(draw: Draw, d: int, d_ff: int, n: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    """The router and the networks of a mixture of experts."""
    return {
        "router": draw.normal(d, n, dtype=dtype) * 2 / d**0.5,
        "inner": draw.normal(n, d, d_ff, dtype=dtype) / d**0.5,
        "outer": draw.normal(n, d_ff, d, dtype=dtype) / d_ff**0.5,
    }


def lines_of(draw: Draw, count: int, low: int = 2000, high: int = 4000) -> list[float]:
    """Losses of a few runs, all different."""
    found: list[float] = []
    while len(found) < count:
        loss = draw.integer(low, high) / 1000
        if loss not in found:
            found.append(loss)
    return found


def shuffled(draw: Draw, items: list) -> list:
    """The same items in another order."""
    left, found = list(items), []
    while left:
        found.append(left.pop(draw.integer(0, len(left) - 1)))
    return found
