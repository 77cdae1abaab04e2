"""Masks: boolean, True = may attend. Combine them with `&`, in shapes that broadcast to (batch, head, query, key):

    causal_mask(n) & padding_mask(lengths)[:, None, None, :],     prefix_mask(prefixes, n)[:, None] & …

A causal mask hides the future (Vaswani et al. 2017, section 3.2.3); a padding mask hides what is not a token; a window
hides what is long past (Beltagy et al. 2020, section 3.1); a prefix is read in both directions before what follows is
written (Raffel et al. 2020, section 3.2.1, "prefix LM").

Departs from the papers: nothing; 2017 adds −∞ to the scores where we write False.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from nlmcore.checks import Count, Size, checked, described


@checked
def causal_mask(n: Size, past_length: Count = 0, device: torch.device | str | None = None) -> Bool[Tensor, "query key"]:
    """True where query i may look, at key j ≤ i; (n, past_length + n), with `past_length` keys before query 0."""
    return torch.ones(n, past_length + n, dtype=torch.bool, device=device).tril(past_length)


@checked
def window_mask(
    n: Size, window: Size | None, past_length: Count = 0, device: torch.device | str | None = None
) -> Bool[Tensor, "query key"]:
    """True where query i may look: at the `window` keys that end with itself; None: `causal_mask(n, past_length)`."""
    mask = torch.ones(n, past_length + n, dtype=torch.bool, device=device).tril(past_length)
    return mask if window is None else mask & ~mask.tril(past_length - window)  # without j ≤ i − window


@checked
def prefix_mask(lengths: Int[Tensor, " batch"], n: Size) -> Bool[Tensor, "batch query key"]:
    """Causal, but the first lengths[b] positions see one another both ways. Raises ValueError outside [0, n]."""
    return causal_mask(n, device=lengths.device) | padding_mask(lengths, n)[:, None, :]


@checked
def padding_mask(lengths: Int[Tensor, " batch"], length: Count | None = None) -> Bool[Tensor, "batch time"]:
    """True where a token is real; length: the largest unless given. Raises ValueError outside [0, length]."""
    if not len(lengths):
        raise ValueError("lengths must hold at least one length, got none")
    largest = int(lengths.max())
    length = largest if length is None else length
    if int(lengths.min()) < 0 or largest > length:
        raise ValueError(f"lengths must lie in [0, {length}], got {int(lengths.min())} to {largest}")
    return torch.arange(length, device=lengths.device) < lengths.unsqueeze(-1)  # (time) < (batch, 1)


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
