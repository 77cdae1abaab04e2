"""What the questions on training share: small networks as dictionaries, and names that are off limits."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.exercise.closed import DIFFERENTIATION
from autograder.exercise.draw import Draw

CLOSED = (
    "nlmcore.training",
    "torch.optim",
    "torch.nn.Dropout",
    "torch.nn.functional.dropout",
    "torch.nn.utils.clip_grad",
    DIFFERENTIATION,
)
"""Closed in every question: optimisers, schedules, clipping, dropout and loops; the gradients are given."""

Weights = dict[str, Tensor]


def matrix_and_bias(draw: Draw) -> list[tuple[str, list[int]]]:
    """The names and shapes of a small network's parameters."""
    n_in, hidden = draw.sizes(2)
    return [("W", [n_in, hidden]), ("b", [hidden])]


def tensors(draw: Draw, shapes: Sequence[tuple[str, list[int]]], dtype: torch.dtype = torch.float32) -> Weights:
    """Normal numbers for each name."""
    return {name: draw.normal(*shape, dtype=dtype) for name, shape in shapes}


def without(weights: Weights, *names: str) -> Weights:
    return {name: tensor for name, tensor in weights.items() if name not in names}
