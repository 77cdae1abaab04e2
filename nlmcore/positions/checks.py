"""What no annotation can say about positions, said once for this folder."""

import math

from torch import Tensor

from nlmcore.checks import ContextLengthError


def check_length(first: int, time: int, max_length: int) -> None:
    """`first` tokens and `time` more must not be more than max_length together."""
    if first + time > max_length:
        raise ContextLengthError(first, time, max_length)


def check_waves(name: str, size: int, base: float | int = 2, why: str = "sines and cosines come in pairs") -> None:
    """An even number of waves, and the base of their lengths."""
    if size % 2:
        raise ValueError(f"{name} must be a positive even number ({why}), got {size}")
    if not 1 < base < math.inf:
        raise ValueError(f"base must be a finite number above 1, got {base}")


def check_lengths(query_length: int, key_length: int) -> None:
    """Queries are the last of the keys, so there are no more of them."""
    if query_length > key_length:
        raise ValueError(
            "the queries are the last of the keys, so query_length must not exceed key_length,"
            f" got {query_length} and {key_length}"
        )


def check_pair(q: Tensor, k: Tensor, n_heads: int, d_head: int) -> None:
    """q (batch, n_heads, query, d_head) and k (batch, kv_head, key, d_head), queries at the end of the keys."""
    if q.ndim != 4 or q.shape[1] != n_heads or q.shape[3] != d_head:
        raise ValueError(f"q must have shape (batch, {n_heads}, query, {d_head}), got {tuple(q.shape)}")
    if k.ndim != 4 or k.shape[0] != q.shape[0] or k.shape[3] != d_head or not k.shape[1] or n_heads % k.shape[1]:
        raise ValueError(
            f"k must have shape ({q.shape[0]}, kv_head, key, {d_head}) with a number of heads that divides {n_heads},"
            f" got {tuple(k.shape)}"
        )
    if q.dtype != k.dtype:
        raise TypeError(f"k must have the dtype of q, {q.dtype}, got {k.dtype}")
    check_lengths(q.shape[2], k.shape[2])
