"""What the convolutional models refuse, said once."""

import torch
from torch import Tensor


def check_options(dropout: float | int = 0.0, **sizes: int) -> None:
    """Refuse a dropout outside [0, 1) and sizes below 1, with ValueError; a size that is no int, with TypeError."""
    if not isinstance(dropout, float | int):
        raise TypeError(f"dropout must be a number in [0, 1), got {type(dropout).__name__} {dropout!r}")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"{name} must be a whole number, got {type(size).__name__} {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_mask(mask: Tensor | None, tokens: Tensor, name: str = "mask") -> Tensor:
    """The mask itself, or all True for None: boolean, (batch, time) like the tokens, True = a real token.

    Raises TypeError for another dtype, ValueError for another shape or a text without a real token.
    """
    if mask is None:
        return torch.ones_like(tokens, dtype=torch.bool)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise TypeError(f"{name} must be a boolean tensor, True = real, got {getattr(mask, 'dtype', type(mask))}")
    if mask.shape != tokens.shape:
        raise ValueError(f"{name} must have the tokens' shape {tuple(tokens.shape)}, got {tuple(mask.shape)}")
    if not mask.any(dim=1).all():
        empty = (~mask.any(dim=1)).nonzero().flatten().tolist()
        raise ValueError(f"{name} must leave a real token in every row, got none in rows {empty[:8]}")
    return mask


def check_batch(batch: int, **tensors: Tensor) -> None:
    """Refuse tensors with another number of rows, with ValueError: one row would silently stand for all."""
    for name, tensor in tensors.items():
        if len(tensor) != batch:
            raise ValueError(f"{name} must have one row per text, {batch}, got shape {tuple(tensor.shape)}")
