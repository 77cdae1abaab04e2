"""Batches in an order that can be replayed: epoch after epoch, on a lane of random numbers of their own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nlmcore.training.randomness import RandomState

_NOTHING = object()


@dataclass(frozen=True)
class EpochStart:
    """What an epoch's order follows from: the lane's random state, and the user's generators, as it began."""

    epoch: int
    random: RandomState
    generators: tuple[Tensor, ...]


class Lane:
    """One batch at a time from an iterable, or from a function epoch -> iterable.

    It looks one batch ahead, so that `epoch_is_over` is known as soon as the last batch was handed out.
    """

    def __init__(
        self,
        batches: Iterable[Any] | Callable[[int], Iterable[Any]],
        generators: Sequence[torch.Generator],
        random: RandomState,
    ) -> None:
        self.batches, self.generators = batches, generators
        self.start = EpochStart(-1, random, ())
        self.position = 0
        """Batches of this epoch that were handed out."""
        self._random = random
        self._iterator: Iterator[Any] = iter(())
        self._ahead: Any = _NOTHING

    @property
    def epoch_is_over(self) -> bool:
        """No batch is left in this epoch (or none has begun)."""
        return self._ahead is _NOTHING

    def begin_epoch(self, epoch: int) -> None:
        """Start over."""
        self.start = EpochStart(epoch, self._random, tuple(generator.get_state() for generator in self.generators))
        self.position = 0
        with self._on_the_lane():
            self._iterator = iter(self.batches(epoch) if callable(self.batches) else self.batches)
            self._ahead = next(self._iterator, _NOTHING)
        if self.epoch_is_over:
            once = (
                "" if epoch == 0 else "; an iterator can be gone over once: give a list or a function epoch -> batches"
            )
            raise ValueError(f"batches must hold at least one batch, got none in epoch {epoch}{once}")

    def next(self) -> Any:
        """The next batch of this epoch."""
        batch = self._ahead
        with self._on_the_lane():
            self._ahead = next(self._iterator, _NOTHING)
        self.position += 1
        return batch

    def replay(self, start: EpochStart, position: int) -> Any:
        """Go to where an earlier run stood, and return the batch that it handed out last (None: none yet)."""
        self._random = start.random
        for generator, state in zip(self.generators, start.generators, strict=True):
            generator.set_state(state)
        self.begin_epoch(start.epoch)
        last = None
        for _ in range(position):
            if self.epoch_is_over:
                raise ValueError(f"batches ended after {self.position}, but the checkpoint was made after {position}")
            last = self.next()
        return last

    @contextmanager
    def _on_the_lane(self) -> Iterator[None]:
        """Lend the global generators to whatever makes batches."""
        outside = RandomState.now()
        self._random.restore()
        try:
            yield
        finally:
            self._random = RandomState.now()
            outside.restore()
