"""Saying what does not fit, before a matrix product says it in its own words."""

import torch
from torch import Tensor


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
