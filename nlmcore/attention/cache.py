"""The keys and values that attention has read: its memory of a text, and a state like any other.

    keys, values (batch, kv_head, capacity, d_head), of which the first `length` positions are filled

With them a Transformer reads a text token by token at the price of one token each, instead of reading it all again
(Vaswani et al. 2017 do not say so; every implementation does). The buffers are allocated ahead and doubled when full,
so n tokens are copied O(n) times in all, not O(n²) as by concatenation.

**A state is a value.** Several states may share one buffer: a beam that goes on in two ways keeps one past. Only the
newest reader, whose `length` is all that was ever written, writes behind it in place; a state that is read on from
later moves to a buffer of its own first. `ledger` is how it knows.

Departs from the literature: nothing is changed in what is computed; doubling is the usual growth of an array.

While autograd records, buffers are concatenated and never written: what a backward pass needs must stay.
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

SMALLEST = 16


@dataclass
class Ledger:
    """How many positions of a buffer anybody has written."""

    filled: int


@dataclass(frozen=True, eq=False)
class KeyValueCache:
    """What one attention layer has read. Rows (the batch) are gathered by `nlmcore.language_model.select`."""

    keys: Float[Tensor, "batch kv_head capacity d_head"]
    values: Float[Tensor, "batch kv_head capacity d_head"]
    length: int
    """How many of `capacity` are filled."""
    first: int = 0
    """The position in the text of the first key kept; a sliding window forgets those before."""
    ledger: Ledger = field(default_factory=lambda: Ledger(-1))

    @classmethod
    def start(cls, keys: Tensor, values: Tensor, window: int | None = None) -> "KeyValueCache":
        """The cache of a text just begun; it holds the tensors themselves, or what a sliding window keeps of them.

        Raises ValueError if keys and values are not of one shape (batch, kv_head, time, d_head).
        """
        _check_pair(keys, values)
        length = keys.shape[2]
        forgotten = 0 if window is None or _recorded(keys) else max(0, length - (window - 1))
        if forgotten:
            keys, values = keys[:, :, forgotten:].clone(), values[:, :, forgotten:].clone()
        return cls(keys, values, length - forgotten, forgotten, Ledger(length - forgotten))

    def __repr__(self) -> str:
        """Its shape: a state at the end of a notebook's cell should not print every number."""
        batch, heads, capacity, width = self.keys.shape
        return (
            f"KeyValueCache(batch={batch}, kv_head={heads}, d_head={width}, positions {self.first} to"
            f" {self.position - 1}, room for {capacity})"
        )

    @property
    def position(self) -> int:
        """How many tokens were read: the position of the next one."""
        return self.first + self.length

    def append(
        self, keys: Tensor, values: Tensor, window: int | None = None, recorded: bool = False
    ) -> "KeyValueCache":
        """The cache with the next keys and values (batch, kv_head, time, d_head) behind it.

        With `window`, whenever the buffer is full only the last window - 1 of the old positions move on; while autograd
        records, every time, so that a training that carries its state along keeps no more either. `recorded`: autograd
        may come back to the keys though they need no gradient themselves (a learned bias on frozen keys).

        Raises ValueError or TypeError for keys of another batch, number of heads, width or dtype: another model's; and
        for values of another shape than the keys'.
        """
        _check_pair(keys, values)
        self._check(keys)
        if recorded or _recorded(keys) or _recorded(self.keys):
            kept = self.length if window is None else min(self.length, window - 1)
            keys, values = (torch.cat(both, dim=2) for both in zip(self.read(kept), (keys, values), strict=True))
            return KeyValueCache(keys, values, keys.shape[2], self.first + self.length - kept, Ledger(keys.shape[2]))
        end = self.length + keys.shape[2]
        home = self if self._may_write(end) else self._moved(keys.shape[2], window)
        end = home.length + keys.shape[2]
        home.keys[:, :, home.length : end] = keys
        home.values[:, :, home.length : end] = values
        home.ledger.filled = end
        return KeyValueCache(home.keys, home.values, end, home.first, home.ledger)

    def read(self, last: int | None = None) -> tuple[Tensor, Tensor]:
        """Keys and values of what was read, or of its last positions; views, (batch, kv_head, key, d_head)."""
        begin = 0 if last is None else max(0, self.length - last)
        return self.keys[:, :, begin : self.length], self.values[:, :, begin : self.length]

    def select(self, indices: Tensor) -> "KeyValueCache":
        """Rows of the batch, in a buffer of their own. The same rows in the same order are the same state.

        Raises TypeError if `indices` is not a tensor of integers (chosen,), IndexError if one lies outside the batch.
        """
        if not isinstance(indices, Tensor) or indices.dtype not in (torch.int64, torch.int32) or indices.ndim != 1:
            got = f"{indices.dtype} {tuple(indices.shape)}" if isinstance(indices, Tensor) else repr(indices)
            raise TypeError(f"indices must be a one-dimensional tensor of integers, got {got}")
        rows, batch = indices.tolist(), len(self.keys)
        if rows == list(range(batch)):
            return self
        if rows and not 0 <= min(rows) <= max(rows) < batch:
            raise IndexError(f"indices must lie in [0, {batch}), the state's batch, got {min(rows)} to {max(rows)}")
        indices = indices.to(self.keys.device)
        if _recorded(self.keys):
            keys, values = (old[:, :, : self.length].index_select(0, indices) for old in (self.keys, self.values))
            return KeyValueCache(keys, values, self.length, self.first, Ledger(self.length))
        keys, values = (_room(old, len(indices), old.shape[2]) for old in (self.keys, self.values))
        for new, old in ((keys, self.keys), (values, self.values)):
            torch.index_select(old[:, :, : self.length], 0, indices, out=new[:, :, : self.length])
        return KeyValueCache(keys, values, self.length, self.first, Ledger(self.length))

    def _check(self, keys: Tensor) -> None:
        (batch, heads, _, width), kept = keys.shape, self.keys.shape
        if (batch, heads, width) != (kept[0], kept[1], kept[3]):
            raise ValueError(
                f"state must have keys of shape ({batch}, {heads}, time, {width}), got {tuple(kept)}: another batch's,"
                " or another model's"
            )
        if keys.dtype != self.keys.dtype:
            raise TypeError(f"state must hold {keys.dtype} as the model does, got {self.keys.dtype}")

    def _may_write(self, end: int) -> bool:
        newest = self.ledger.filled == self.length and end <= self.keys.shape[2]
        return newest and (torch.is_inference_mode_enabled() or not self.keys.is_inference())

    def _moved(self, more: int, window: int | None) -> "KeyValueCache":
        """The same past in a new buffer with room for `more` positions and as many again."""
        kept = self.length if window is None else min(self.length, window - 1)
        keys, values = (_room(old, len(old), 2 * (kept + more)) for old in (self.keys, self.values))
        keys[:, :, :kept] = self.keys[:, :, self.length - kept : self.length]
        values[:, :, :kept] = self.values[:, :, self.length - kept : self.length]
        return KeyValueCache(keys, values, kept, self.first + self.length - kept, Ledger(kept))


def _check_pair(keys: Tensor, values: Tensor) -> None:
    if keys.ndim != 4 or values.shape != keys.shape:  # or the buffer would broadcast them without a word
        raise ValueError(
            "keys and values must have one shape (batch, kv_head, time, d_head), got"
            f" {tuple(keys.shape)} and {tuple(values.shape)}"
        )


def _recorded(keys: Tensor) -> bool:
    return torch.is_grad_enabled() and keys.requires_grad


def _room(like: Tensor, batch: int, capacity: int) -> Tensor:
    return like.new_empty(batch, like.shape[1], max(capacity, SMALLEST), like.shape[3])
