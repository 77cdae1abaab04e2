"""Saying what does not fit, before a matrix product says it in its own words."""

import torch
from torch import Tensor


def check_sizes(**sizes: object) -> None:
    """Each must be a whole number of at least 1. Raises TypeError or ValueError that names it."""
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"{name} must be a whole number of at least 1, got {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_floats(**tensors: object) -> None:
    """Each must be a tensor of floating-point numbers, all of one dtype. Raises TypeError that names it."""
    first: tuple[str, torch.dtype] | None = None
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__} {str(tensor)[:60]!r}")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}")
        first = first or (name, tensor.dtype)
        if tensor.dtype != first[1]:
            raise TypeError(f"{name} must have the dtype of {first[0]}, {first[1]}, got {tensor.dtype}")


def check_dropout(dropout: object) -> None:
    """A probability in [0, 1). Raises TypeError or ValueError."""
    if not isinstance(dropout, int | float) or isinstance(dropout, bool):
        raise TypeError(f"dropout must be a number in [0, 1), got {dropout!r}")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
