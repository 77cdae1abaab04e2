"""What the questions on training share: small networks as dictionaries."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

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
