"""What is off limits in the questions on scale and insight; the runs and the models that they draw."""

from typing import Any

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = ("nlmcore.scaling", "nlmcore.inspect")
"""Closed in every question: laws that are fitted already, and instruments that look already."""


def between(draw: Draw, low: float, high: float) -> float:
    return round(low + (high - low) * draw.integer(0, 1000) / 1000, 4)


def sizes_of_runs(draw: Draw, count: int) -> Tensor:
    """Different sizes of models, not sorted and not at equal distances."""
    grown = torch.arange(count) + 0.3 * draw.normal(count).clamp(-1, 1)
    shuffled = draw.normal(count).argsort()
    return (1000 * 2.5**grown).round()[shuffled]


def noise(draw: Draw, count: int, size: float = 0.01) -> Tensor:
    return (size * draw.normal(count)).exp()


SIZES = {"n_heads": 3, "n_kv_heads": 1, "base": 100.0, "eps": 1e-5}


def model(draw: Draw, layers: int, *, vocab: int = 11, d_model: int = 6, heads: int = 3, sets: int = 1) -> Any:
    """(weights, sizes) of a random model with two coordinates per head. Its layers write as much as they read."""

    def matrix(rows: int, columns: int, scale: float = 1.0) -> Tensor:
        return scale * draw.normal(rows, columns) / columns**0.5

    def layer() -> dict[str, Tensor]:
        return {
            "attention_norm": 1 + 0.3 * draw.normal(d_model),
            "projection": matrix(2 * (heads + 2 * sets), d_model, 1.5),
            "output": matrix(d_model, 2 * heads, 1.5),
            "feed_forward_norm": 1 + 0.3 * draw.normal(d_model),
            "inner": matrix(10, d_model),
            "outer": matrix(d_model, 5, 1.5),
        }

    weights = {
        "embedding": draw.normal(vocab, d_model),
        "layers": [layer() for _ in range(layers)],
        "norm": 1 + 0.3 * draw.normal(d_model),
    }
    return weights, {**SIZES, "n_heads": heads, "n_kv_heads": sets}


def text(draw: Draw, length: int, vocab: int = 11) -> Tensor:
    return draw.integers(0, vocab - 1, length)
