"""Masks: boolean, True = may attend. Combine them with `&`, in shapes that broadcast to (batch, head, query, key):

    causal_mask(n) & padding_mask(lengths)[:, None, None, :],     prefix_mask(prefixes, n)[:, None] & …

A causal mask hides the future (Vaswani et al. 2017, section 3.2.3); a padding mask hides what is no token; a window
hides what is long past (Beltagy et al. 2020, section 3.1); a prefix is read in both directions before what follows is
written (Raffel et al. 2020, section 3.2.1, "prefix LM").

Departs from the papers: nothing; 2017 adds −∞ to the scores where False stands here.
"""

import torch
from jaxtyping import Bool
from torch import Tensor

from nlmcore.checks import check_sizes


def causal_mask(n: int, past: int = 0, device: torch.device | str | None = None) -> Bool[Tensor, "query key"]:
    """True where query i may look: at key j ≤ i. Shape (n, past + n), with `past` keys read before.

    Raises TypeError if they are no whole numbers, ValueError if n < 1 or past < 0.
    """
    if not all(isinstance(size, int) and not isinstance(size, bool) for size in (n, past)):
        raise TypeError(f"n and past must be whole numbers, got n={n!r}, past={past!r}")
    if n < 1 or past < 0:
        raise ValueError(f"causal_mask needs n of at least 1 and past of at least 0, got n={n}, past={past}")
    return torch.ones(n, past + n, dtype=torch.bool, device=device).tril(past)


def window_mask(
    n: int, window: int | None, past: int = 0, device: torch.device | str | None = None
) -> Bool[Tensor, "query key"]:
    """True where query i may look: at the `window` keys that end with itself (None: all, `causal_mask`).

    Shape (n, past + n), with `past` keys read before. A window of n or more is no window.

    Raises TypeError if they are no whole numbers, ValueError if n or window < 1 or past < 0.
    """
    mask = causal_mask(n, past, device)
    if window is None:
        return mask
    check_sizes(window=window)
    return mask & ~mask.tril(past - window)


def prefix_mask(lengths: Tensor, n: int) -> Bool[Tensor, "batch query key"]:
    """Causal, but the first lengths[b] positions see one another both ways; lengths (batch,) gives (batch, n, n).

    Give it to `MultiHeadAttention` as `prefix_mask(lengths, n)[:, None]`.

    Raises TypeError if lengths are not whole numbers, ValueError if one is negative or exceeds n.
    """
    return causal_mask(n, device=getattr(lengths, "device", None)) | padding_mask(lengths, n)[:, None, :]


def padding_mask(lengths: Tensor, length: int | None = None) -> Bool[Tensor, "batch time"]:
    """True where a token is real: lengths (batch,) gives (batch, length), by default the longest.

    Give it to `MultiHeadAttention` as `padding_mask(lengths)[:, None, None, :]`.

    Raises TypeError if lengths or `length` are not whole numbers, ValueError if one is negative or exceeds `length`.
    """
    if not isinstance(lengths, Tensor):
        raise TypeError(f"lengths must be a one-dimensional tensor of integers, got {type(lengths).__name__}")
    if lengths.ndim != 1 or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise TypeError(
            f"lengths must be a one-dimensional tensor of integers, got {lengths.dtype} of shape {tuple(lengths.shape)}"
        )
    if not len(lengths):
        raise ValueError("lengths must hold at least one length, got none")
    longest = int(lengths.max())
    length = longest if length is None else length
    if not isinstance(length, int) or isinstance(length, bool):
        raise TypeError(f"length must be a whole number, got {type(length).__name__} {length!r}")
    if int(lengths.min()) < 0 or longest > length:
        raise ValueError(f"lengths must lie in [0, {length}], got {int(lengths.min())} to {longest}")
    return torch.arange(length, device=lengths.device) < lengths.unsqueeze(-1)


def check_mask(mask: Tensor, shape: tuple[int, ...] | torch.Size) -> None:
    """Refuse a mask that is not boolean (TypeError) or does not broadcast to `shape` (ValueError)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        way = "; mask == 1 makes one of ones and zeros, mask == 0 of what is added to scores, 0 or −inf"
        way = way if isinstance(mask, Tensor) else ""
        raise TypeError(f"mask must be a boolean tensor, True = may attend, got {got}{way}")
    try:
        fits = torch.broadcast_shapes(mask.shape, shape) == tuple(shape)
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask must broadcast to the scores' shape {tuple(shape)}, got {tuple(mask.shape)}{_hint(mask, shape)}"
        )


def _hint(mask: Tensor, shape: tuple[int, ...] | torch.Size) -> str:
    """What a mask of a known kind lacks to be one of (batch, head, query, key)."""
    if len(shape) == 4 and mask.shape == (shape[0], shape[3]):
        return "; a padding mask (batch, key) is given as mask[:, None, None, :]"
    if len(shape) == 4 and mask.shape == (shape[0], *shape[2:]):
        return "; a mask (batch, query, key) is given as mask[:, None]"
    return ""
