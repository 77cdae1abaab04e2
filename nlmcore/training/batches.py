"""Batches in an order that can be replayed, epoch after epoch: an exact resume needs the same random numbers.

`fit` lends the global generators to the data while it makes a batch.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

_NOTHING = object()


@dataclass(frozen=True)
class RandomState:
    """torch's generators ("cpu"; where CUDA is in use also "cuda.0" ...), and Python's, where lists do for tuples."""

    tensors: dict[str, Tensor]
    python: Any

    @classmethod
    def now(cls) -> "RandomState":
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        states = {"cpu": torch.get_rng_state()} | {f"cuda.{i}": state for i, state in enumerate(cuda)}
        return cls(states, random.getstate())

    @classmethod
    def seeded(cls, seed: int) -> "RandomState":
        """As if the CPU's generators had been seeded with `seed`; nothing global is touched."""
        cpu = {"cpu": torch.Generator().manual_seed(seed).get_state()}
        return cls(cls.now().tensors | cpu, random.Random(seed).getstate())

    def restore(self) -> None:
        torch.set_rng_state(self.tensors["cpu"])
        for i in range(len(self.tensors) - 1):
            torch.cuda.set_rng_state(self.tensors[f"cuda.{i}"], i)
        version, numbers, gauss = self.python
        random.setstate((version, tuple(numbers), gauss))


@dataclass(frozen=True)
class EpochStart:
    """What determines an epoch's order: the data's random numbers at its start."""

    epoch: int
    random: RandomState


class BatchStream:
    """One batch at a time from an iterable, or from a function epoch -> iterable.

    It fetches one batch ahead, so that `epoch_is_over` is known as soon as the last batch was returned.
    """

    def __init__(self, batches: Iterable[Any] | Callable[[int], Iterable[Any]], random: RandomState) -> None:
        self.batches = batches
        self.start = EpochStart(-1, random)
        self.position = 0  # how many batches of this epoch were returned
        self._random = random
        self._iterator: Iterator[Any] = iter(())
        self._ahead: Any = _NOTHING  # fetched, not yet returned; a batch may itself be None

    @property
    def epoch_is_over(self) -> bool:
        """No batch is left in this epoch (or none has begun)."""
        return self._ahead is _NOTHING

    def begin_epoch(self, epoch: int) -> None:
        self.start = EpochStart(epoch, self._random)  # with these an epoch can be replayed
        self.position = 0
        # The iterator may draw when it is made (a shuffle) and at every batch.
        with self._own_randomness():
            self._iterator = iter(self.batches(epoch) if callable(self.batches) else self.batches)
            self._ahead = next(self._iterator, _NOTHING)
        if self.epoch_is_over:
            once = "; an iterator can be gone over once: give a list or a function epoch -> batches" if epoch else ""
            raise ValueError(f"batches must hold at least one batch, got none in epoch {epoch}{once}")

    def next(self) -> Any:
        batch = self._ahead
        with self._own_randomness():
            self._ahead = next(self._iterator, _NOTHING)
        self.position += 1
        return batch

    def replay(self, start: EpochStart, position: int) -> Any:
        """Go to the position of an earlier run, and return the last batch that it returned (None: none yet)."""
        self._random = start.random
        self.begin_epoch(start.epoch)
        last = None
        for _ in range(position):
            if self.epoch_is_over:
                raise ValueError(f"batches ended after {self.position}, but the checkpoint was made after {position}")
            # Every batch is made again: only then are the random numbers after it the same.
            last = self.next()
        return last

    @contextmanager
    def _own_randomness(self) -> Iterator[None]:
        outside = RandomState.now()  # the model's: dropout, sampling
        self._random.restore()
        try:
            yield
        finally:
            self._random = RandomState.now()  # the data's go on from here the next time
            outside.restore()
