"""What is off limits in the questions on cheaper attention, and the tensors that they draw."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = ("nlmcore.attention", "transformers")
"""Closed in every question: attention, and everything built on it."""


def positive(draw: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Features: no entry is near 0."""
    return draw.normal(*shape, dtype=dtype).abs() + 0.1


def heads(draw: Draw, count: int, queries: int, keys: int, d: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return draw.normal(count, queries, d), draw.normal(count, keys, d), draw.normal(count, keys, d_v)
