"""What recurrent models and the sequence-to-sequence models built from them refuse, said once."""

import torch
from torch import Tensor


def check_sizes(**sizes: int) -> None:
    """Refuse sizes below 1: ValueError, or TypeError for what is no whole number."""
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"{name} must be a whole number, got {type(size).__name__} {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_dropout(dropout: float | int) -> None:
    """Refuse a dropout outside [0, 1) with ValueError, and what is no number with TypeError."""
    if not isinstance(dropout, float | int):
        raise TypeError(f"dropout must be a number in [0, 1), got {type(dropout).__name__} {dropout!r}")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")


def check_function(name: str, function: object) -> None:
    """Refuse what cannot be called, with TypeError."""
    if not callable(function):
        raise TypeError(f"{name} must be a function, got {type(function).__name__} {function!r}")


def check_floats(name: str, tensor: object, like: Tensor) -> None:
    """Refuse what is no tensor of the weights' dtype, with TypeError; autocast may mix dtypes."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        what = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise TypeError(f"{name} must be a tensor of floats, {like.dtype} like the weights, got {what}")
    if tensor.dtype != like.dtype and not torch.is_autocast_enabled(like.device.type):
        raise TypeError(f"{name} must be {like.dtype}, like the weights, got {tensor.dtype}")
