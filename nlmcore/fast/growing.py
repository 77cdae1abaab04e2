"""Tensors that grow along their third axis: [old; new], without copying the old each time.

Buffers are allocated ahead and doubled when full, so n tokens are copied O(n) times in all, not O(n²) as by torch.cat.

**A state is a value.** Several states may share one buffer: a beam that continues in two ways keeps one past. Only the
newest, whose length is all that was ever written (its `Ledger` says so), writes behind it in place; an older state
moves to another buffer first. While autograd records, tensors are concatenated and never written, because the backward
pass needs them as they were.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.checks import door

SMALLEST = 16  # the least capacity of a buffer
Pair = tuple[Tensor, Tensor]


@dataclass
class Ledger:
    """How many positions of a buffer anybody has written."""

    filled: int


class GrowingPair:
    """What a dataclass of such buffers does besides its mathematics: pieces of text, rows of the batch, a repr."""

    length: int
    first: int

    def extend(self: Any, keys: Tensor, values: Tensor, window: int | None, recorded: bool) -> tuple[Pair, Any]:
        """What new positions see, [old; new] or as much as the window shows them; and the cache after them."""
        if keys.shape[2] == 1 or window is None:  # all of it lies side by side in the buffer
            state = self.append(keys, values, window, recorded)
            return state.read(window), state
        old = self.read(window - 1)
        seen = torch.cat((old[0], keys), 2), torch.cat((old[1], values), 2)
        return seen, self.append(keys, values, window, recorded)

    @door
    def select(self: Any, indices: Int[Tensor, " chosen"]) -> Any:
        """Rows of the batch, in a buffer of their own; all rows in the same order are the same state."""
        chosen, batch = indices.tolist(), len(self.keys)
        if chosen == list(range(batch)):
            return self
        if chosen and not 0 <= min(chosen) <= max(chosen) < batch:
            raise IndexError(f"indices must lie in [0, {batch}), the state's batch, got {min(chosen)} to {max(chosen)}")
        indices, old = indices.to(self.keys.device), (self.keys, self.values)
        if _recorded(self.keys):
            keys, values = (x[:, :, : self.length].index_select(0, indices) for x in old)
        else:
            keys, values = _buffers(old, len(indices), self.keys.shape[2])
            for a, b in zip((keys, values), old, strict=True):
                torch.index_select(b[:, :, : self.length], 0, indices, out=a[:, :, : self.length])
        return replace(self, keys=keys, values=values, ledger=Ledger(self.length))

    def __repr__(self: Any) -> str:
        """Its shape: a state at the end of a notebook's cell should not print every number."""
        batch, heads, capacity, width = self.keys.shape
        return (
            f"{type(self).__name__}(batch={batch}, kv_head={heads}, d_head={width}, positions {self.first} to"
            f" {self.first + self.length - 1}, room for {capacity})"
        )


def forget(pair: Pair, window: int | None) -> tuple[Pair, int]:
    """What a sliding window keeps of a text just begun, and how many it forgets: none that autograd returns to."""
    forgotten = 0 if window is None or _recorded(pair[0]) else max(0, pair[0].shape[2] - (window - 1))
    if not forgotten:
        return pair, 0
    return (pair[0][:, :, forgotten:].clone(), pair[1][:, :, forgotten:].clone()), forgotten


def grow(old: Pair, new: Pair, length: int, kept: int, ledger: Ledger, recorded: bool) -> tuple[Pair, int, Ledger]:
    """The first `length` positions of `old` with `new` behind them; if they must move, only the last `kept` of them do.

    Returns the buffers, how much of them is filled, and the ledger. recorded: autograd may return to them.
    """
    time, begin = new[0].shape[2], length - kept
    if recorded or _recorded(new[0]) or _recorded(old[0]):
        keys, values = (torch.cat([a[:, :, begin:length], b], dim=2) for a, b in zip(old, new, strict=True))
        return (keys, values), kept + time, Ledger(kept + time)
    newest = ledger.filled == length and length + time <= old[0].shape[2]
    if not newest or (old[0].is_inference() and not torch.is_inference_mode_enabled()):
        moved = _buffers(old, len(old[0]), 2 * (kept + time))
        for a, b in zip(moved, old, strict=True):
            a[:, :, :kept] = b[:, :, begin:length]
        old, length, ledger = moved, kept, Ledger(kept)
    ledger.filled = end = length + time
    old[0][:, :, length:end] = new[0]
    old[1][:, :, length:end] = new[1]
    return old, end, ledger


def _recorded(x: Tensor) -> bool:
    return torch.is_grad_enabled() and x.requires_grad


def _buffers(like: Pair, batch: int, capacity: int) -> Pair:
    keys, values = (x.new_empty(batch, x.shape[1], max(capacity, SMALLEST), x.shape[3]) for x in like)
    return keys, values
