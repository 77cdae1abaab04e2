"""What the modules of this folder refuse, said once."""

import math

from torch import Tensor

from nlmcore.attention.checks import check_floats
from nlmcore.checks import check_sizes


def check_text(x: Tensor, d_model: int, first: int, max_length: float | int = math.inf) -> None:
    """x must be (batch, time, d_model), and `first` tokens and x together no longer than max_length."""
    check_floats(x=x)
    if x.ndim != 3 or x.shape[2] != d_model:
        raise ValueError(f"x must have shape (batch, time, {d_model}), got {tuple(x.shape)}")
    check_first(first)
    if first + x.shape[1] > max_length:
        before = f" ({first} before and {x.shape[1]} now)" if first else ""
        raise ValueError(
            f"the text has {first + x.shape[1]} tokens{before}, this model knows {max_length} positions: cut the text,"
            " or build the model with a larger max_length"
        )


def check_first(first: object) -> None:
    """The number of tokens read before: a whole number, 0 or more."""
    if not isinstance(first, int) or isinstance(first, bool):
        raise TypeError(f"first must be a whole number, got {type(first).__name__} {first!r}")
    if first < 0:
        raise ValueError(f"first, the number of tokens read before, must be at least 0, got {first}")


def check_even(name: str, size: object, why: str) -> None:
    """A positive even number: TypeError for what is no whole number, ValueError for any other."""
    if not isinstance(size, int) or isinstance(size, bool):
        raise TypeError(f"{name} must be a positive even number, got {size!r}")
    if size < 2 or size % 2:
        raise ValueError(f"{name} must be a positive even number ({why}), got {size}")


def check_base(base: object) -> None:
    """The base of the wavelengths: a finite number above 1."""
    if not isinstance(base, float | int) or isinstance(base, bool):
        raise TypeError(f"base must be a finite number above 1, got {type(base).__name__} {base!r}")
    if not 1 < base < math.inf:
        raise ValueError(f"base must be a finite number above 1, got {base}")


def check_lengths(query_length: object, key_length: object) -> None:
    """Queries are the last of the keys, so there are no more of them."""
    check_sizes(query_length=query_length, key_length=key_length)
    if query_length > key_length:  # type: ignore[operator]
        raise ValueError(
            "the queries stand at the end of the keys, so query_length must not exceed key_length,"
            f" got {query_length} and {key_length}"
        )


def check_heads(n_heads: object, d_head: object, max_length: object, causal: object) -> None:
    """What every module inside attention is built from."""
    check_sizes(n_heads=n_heads, d_head=d_head, max_length=max_length)
    if not isinstance(causal, bool):
        raise TypeError(f"causal must be True or False, got {type(causal).__name__} {causal!r}")


def check_pair(q: Tensor, k: Tensor, n_heads: int, d_head: int) -> None:
    """q (batch, n_heads, query, d_head) and k (batch, kv_head, key, d_head), queries at the end of the keys."""
    check_floats(q=q, k=k)
    if q.ndim != 4 or q.shape[1] != n_heads or q.shape[3] != d_head:
        raise ValueError(f"q must have shape (batch, {n_heads}, query, {d_head}), got {tuple(q.shape)}")
    if k.ndim != 4 or k.shape[0] != q.shape[0] or k.shape[3] != d_head or not k.shape[1] or n_heads % k.shape[1]:
        raise ValueError(
            f"k must have shape ({q.shape[0]}, kv_head, key, {d_head}) with a number of heads that divides {n_heads},"
            f" got {tuple(k.shape)}"
        )
    check_lengths(q.shape[2], k.shape[2])
