"""The keys and values that attention has read: its memory of a text, and a state like any other.

    keys, values (batch, kv_head, key, d_head)

So the next token costs one position, not the whole text. Appending is concatenation, [old; new]: nothing old is written
to, so every earlier state stays what it was, and you may continue from it twice.

Departs from the literature: nothing in what is computed. Implementations for long texts write into buffers instead.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueCache:
    """What one attention layer has read. Rows (the batch) are gathered by `nlmcore.language_model.select`."""

    keys: Float[Tensor, "batch kv_head key d_head"]
    values: Float[Tensor, "batch kv_head key d_head"]
    first: int = 0  # the position in the text of the first key kept; a sliding window forgets those before

    @classmethod
    def start(cls, keys: Tensor, values: Tensor, window: int | None = None) -> "KeyValueCache":
        """The cache of a text just begun, or what a sliding window keeps of it."""
        check_pair(keys, values)
        return cls(keys, values).forget(window)

    @property
    def length(self) -> int:
        return self.keys.shape[2]

    @property
    def position(self) -> int:
        """How many tokens were read: the position of the next one."""
        return self.first + self.length

    def extend(self, keys: Tensor, values: Tensor, window: int | None = None) -> "tuple[Tensor, Tensor, KeyValueCache]":
        """[old; new], keys and values that the new positions see, and the cache after them."""
        check_pair(keys, values, self.keys)
        old = self.forget(window)  # the first of the new positions sees window - 1 old ones, the others fewer
        keys, values = torch.cat([old.keys, keys], dim=2), torch.cat([old.values, values], dim=2)
        return keys, values, KeyValueCache(keys, values, old.first).forget(window)

    def forget(self, window: int | None) -> "KeyValueCache":
        """Only what the next position sees beside itself: the last window - 1 positions."""
        n = 0 if window is None else max(0, self.length - (window - 1))
        return KeyValueCache(self.keys[:, :, n:], self.values[:, :, n:], self.first + n) if n else self

    def __repr__(self) -> str:
        """Its shape: a state at the end of a notebook's cell should not print every number."""
        batch, heads, _, width = self.keys.shape
        shape = f"batch={batch}, kv_head={heads}, d_head={width}"
        return f"{type(self).__name__}({shape}, positions {self.first} to {self.position - 1})"


def check_cache(state: Any, window: int | None) -> None:
    """A state is a cache, and what it has forgotten lies outside what a query sees."""
    if not isinstance(state, KeyValueCache):
        raise TypeError(f"state must be None or the KeyValueCache of an earlier call, got {type(state).__name__}")
    first, length = state.first, state.length
    if first and (window is None or length < window - 1):
        sees = "all before it" if window is None else f"the last {window}, itself included"
        raise ValueError(
            f"state has kept {length} positions and forgotten the first {first}: it comes from a shorter window. Here"
            f" a position sees {sees}; read the text again with this model"
        )


def check_pair(keys: Tensor, values: Tensor, before: Tensor | None = None) -> None:
    """Keys and values of one text; behind those `before`, of their batch, heads, width and dtype."""
    if keys.ndim != 4 or values.shape != keys.shape:
        raise ValueError(
            "keys and values must have one shape (batch, kv_head, time, d_head), got"
            f" {tuple(keys.shape)} and {tuple(values.shape)}"
        )
    if before is None:
        return
    batch, heads, _, width = keys.shape
    if (batch, heads, width) != (*before.shape[:2], before.shape[3]):
        raise ValueError(
            f"state must have keys of shape ({batch}, {heads}, time, {width}), got {tuple(before.shape)}: another"
            " batch's, or another model's"
        )
    if keys.dtype != before.dtype:  # torch.cat would promote without a word
        raise TypeError(f"state must hold {keys.dtype} as the model does, got {before.dtype}")
