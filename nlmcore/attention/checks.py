"""What no annotation can say about attention, said once for this folder."""

from typing import Any

import torch
from torch import Tensor

from nlmcore.checks import described


def check_mask(mask: Tensor, shape: tuple[int, ...] | torch.Size) -> None:
    """Refuse a mask that is not boolean (TypeError) or does not broadcast to `shape` (ValueError)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        way = "; mask == 1 makes one of ones and zeros, mask == 0 of what is added to scores, 0 or −inf"
        way = way if isinstance(mask, Tensor) else ""
        raise TypeError(f"mask must be a boolean tensor, True = may attend, got {described(mask)}{way}")
    if mask.ndim <= len(shape) and all(m in (1, s) for m, s in zip(mask.shape[::-1], shape[::-1], strict=False)):
        return
    hint = ""
    if len(shape) == 4 and mask.shape == (shape[0], shape[3]):
        hint = "; a padding mask (batch, key) is given as mask[:, None, None, :]"
    elif len(shape) == 4 and mask.shape == (shape[0], *shape[2:]):
        hint = "; a mask (batch, query, key) is given as mask[:, None]"
    raise ValueError(f"mask must broadcast to the scores' shape {tuple(shape)}, got {tuple(mask.shape)}{hint}")


def check_token_mask(mask: Tensor | None, tokens: Tensor, pairs: bool = False) -> None:
    """Refuse a mask that is not boolean (TypeError), or not of the tokens' shape (ValueError): nothing is broadcast.

    pairs: (batch, query, key) is also allowed.
    """
    of_pairs = pairs and isinstance(mask, Tensor) and mask.ndim == 3
    shape = (*tokens.shape, tokens.shape[1]) if of_pairs else tuple(tokens.shape)
    if isinstance(mask, Tensor) and mask.shape != shape:
        words = "of pairs must have shape" if of_pairs else "must have the tokens' shape"
        raise ValueError(f"mask {words} {shape}, got {tuple(mask.shape)}")
    if mask is not None:
        check_mask(mask, shape)


def check_heads(d_model: int, n_heads: int, n_kv_heads: int | None, d_head: int | None) -> None:
    """The width is cut into heads without remainder, and so are the heads into groups that share keys and values."""
    if d_head is None and d_model % n_heads:
        raise ValueError(
            f"d_model must be a multiple of n_heads unless d_head is given, got d_model={d_model}, n_heads={n_heads}"
        )
    if n_kv_heads is not None and n_heads % n_kv_heads:
        raise ValueError(f"n_heads must be a multiple of n_kv_heads, got n_heads={n_heads}, n_kv_heads={n_kv_heads}")


def check_text(name: str, x: Tensor, d_model: int) -> None:
    """At least one position of every text of a batch."""
    if x.ndim != 3 or not x.shape[1]:
        raise ValueError(
            f"{name} must have shape (batch, time, {d_model}) and at least one position, got {tuple(x.shape)}"
        )


def check_positions(positions: Any) -> list[bool]:
    """Positions inside attention: None, or a module with one of three methods. Returns which of them it has."""
    methods = [callable(getattr(positions, name, None)) for name in ("rotate", "bias", "values")]
    if positions is not None and (isinstance(positions, type) or not any(methods)):
        raise TypeError(
            "positions must be None or a module with a method rotate, bias or values, like Rotary(…), got"
            f" {described(positions)}"
        )
    return methods


def check_memory(memory: tuple[Any, Any], q: Tensor, n_kv_heads: int) -> None:
    """Keys and values of a source (batch, kv_head, key, d_head) that fit the queries."""
    keys, values = memory
    if not isinstance(keys, Tensor) or not isinstance(values, Tensor) or keys.dtype != q.dtype:
        raise TypeError(f"memory must hold tensors of {q.dtype} as the model does, got {described(keys)}")
    wanted = (len(q), n_kv_heads, q.shape[3])
    if (*keys.shape[:2], *keys.shape[3:]) != wanted or values.shape != keys.shape:
        raise ValueError(
            f"memory must have keys and values of shape ({wanted[0]}, {wanted[1]}, key, {wanted[2]}), got"
            f" {tuple(keys.shape)} and {tuple(values.shape)}: another batch's, or another model's"
        )
