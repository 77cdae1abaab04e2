"""What the convolutional models refuse, said once."""

import torch
from torch import Tensor

from nlmcore.checks import check_dropout, check_sizes


def check_options(dropout: float | int = 0.0, **sizes: int) -> None:
    """Refuse a dropout outside [0, 1) and sizes below 1, with ValueError; what is no number, with TypeError."""
    check_dropout(dropout)
    check_sizes(**sizes)


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
