"""Padding masks of recurrent models: boolean, (batch, time), True = a real token."""

import torch
from torch import Tensor


def check_padding_mask(mask: object, shape: tuple[int, ...], name: str = "mask") -> None:
    """Refuse a mask that is not boolean (TypeError) or not of exactly this shape (ValueError)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        what = f"a {mask.dtype} tensor" if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} must be a boolean tensor, True = a real token, got {what}")
    if mask.shape != shape:
        raise ValueError(f"{name} must be (batch, time) = {tuple(shape)}, got shape {tuple(mask.shape)}")


def check_no_text_is_empty(mask: Tensor, name: str = "mask") -> None:
    """Refuse a mask that leaves a text no real token, with ValueError."""
    some = mask.any(dim=1)
    if not some.all():
        empty = (~some).nonzero().flatten().tolist()
        raise ValueError(f"{name} must leave every text at least one real token, got none in rows {empty[:8]}")
