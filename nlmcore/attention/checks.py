"""Saying what does not fit, before a matrix product says it in its own words."""

import torch
from torch import Tensor

METHODS = ("turn", "bias", "values")
"""Of which positions inside attention have at least one; `multi_head` says what they do."""


def check_floats(**tensors: object) -> None:
    """Each must be a tensor of floating-point numbers, all of one dtype, under autocast any. Raises TypeError."""
    first: tuple[str, torch.dtype] | None = None
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__} {str(tensor)[:60]!r}")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}")
        first = first or (name, tensor.dtype)
        if tensor.dtype != first[1] and not torch.is_autocast_enabled(tensor.device.type):
            raise TypeError(f"{name} must have the dtype of {first[0]}, {first[1]}, got {tensor.dtype}")


def check_memory(memory: object, sizes: tuple[int, int, int], dtype: torch.dtype) -> None:
    """Keys and values of a source (batch, kv_head, key, d_head), of which `sizes` are the first two and the last.

    Raises TypeError for what is no pair of tensors or is of another dtype, ValueError for another shape.
    """
    if not isinstance(memory, tuple) or len(memory) != 2:
        raise TypeError(f"memory must be what `remember` gave back, got {type(memory).__name__}")
    keys, values = memory
    check_floats(keys=keys, values=values)
    batch, heads, width = sizes
    if (*keys.shape[:2], *keys.shape[3:]) != sizes or values.shape != keys.shape:
        raise ValueError(
            f"memory must have keys and values of shape ({batch}, {heads}, key, {width}), got {tuple(keys.shape)} and"
            f" {tuple(values.shape)}: another batch's, or another model's"
        )
    if keys.dtype != dtype:
        raise TypeError(f"memory must hold {dtype} as the model does, got {keys.dtype}")


def check_source(source: object) -> None:
    """A text to look at, not what stands beside it in a call. Raises TypeError that says where the other one goes."""
    if isinstance(source, Tensor) and source.dtype == torch.bool:
        raise TypeError("source must hold floating-point numbers, got torch.bool: a mask is given by name, mask=…")
    if isinstance(source, tuple):
        raise TypeError(
            f"source must be a tensor, got {type(source).__name__}: what `remember` gave back is read by"
            " look(query, memory)"
        )


def check_reach(first: int, length: int, window: int | None) -> None:
    """A cache whose first key stands at position `first` must hold all that a query sees, beside itself."""
    if first and (window is None or length < window - 1):
        sees = "all before it" if window is None else f"the last {window}, itself included"
        raise ValueError(
            f"state has kept {length} positions and forgotten the first {first}: it comes from a shorter window. Here"
            f" a position sees {sees}; read the text again with this model"
        )


def check_positions(positions: object) -> None:
    """Positions inside attention: None, or a module with one of their three methods. Raises TypeError."""
    if positions is None:
        return
    if isinstance(positions, type) or not any(callable(getattr(positions, name, None)) for name in METHODS):
        got = f"the class {positions.__name__}" if isinstance(positions, type) else f"{positions!r:.60}"
        raise TypeError(
            f"positions must be None or a module with a method turn, bias or values, like Rotary(…), got {got}"
        )
