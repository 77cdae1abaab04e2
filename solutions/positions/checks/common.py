"""What the questions on positions share: the names that are off limits, frequencies."""

import torch
from torch import Tensor

CLOSED = (
    "nlmcore.attention",
    "nlmcore.convolutional",
    "nlmcore.fast",
    "nlmcore.feedforward",
    "nlmcore.positions",
    "nlmcore.training",
    "transformers",
)
"""Closed in every question: positions, and whatever attends."""


def waves(half: int, base: float = 50.0) -> Tensor:
    """Frequencies (pair,), float32; the first is not quite 1, so that nobody computes them instead."""
    return 0.9 * base ** (-torch.arange(half) / half)
