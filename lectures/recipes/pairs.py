"""Translation, whatever the languages are: batches of pairs in an order that can be replayed, and greedy decoding."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nlmcore.corpora import pad
from nlmcore.decoding import greedy

BOS, EOS = 1, 2

Ids = list[int]


def as_source(ids: Ids) -> Ids:
    """x_1 … x_n <eos>: a source is never empty, and its end can be seen."""
    return [*ids, EOS]


def as_target(ids: Ids) -> Ids:
    """<bos> y_1 … y_m <eos>."""
    return [BOS, *ids, EOS]


@dataclass(frozen=True)
class PairBatches:
    """Called with an epoch, gives that epoch's batches: pairs of like length together, in another order each time."""

    pairs: Sequence[tuple[Ids, Ids]]
    """(source, target) as ids, without <bos> and <eos>."""
    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[dict[str, Tensor]]:
        chance = random.Random(f"{self.seed}/{epoch}")
        order = list(range(len(self.pairs)))
        chance.shuffle(order)
        chunk = 50 * self.batch
        batches: list[list[int]] = []
        for start in range(0, len(order), chunk):
            near = sorted(order[start : start + chunk], key=self._lengths)
            batches += [near[i : i + self.batch] for i in range(0, len(near), self.batch)]
        chance.shuffle(batches)
        return (self._collate(batch) for batch in batches)

    def _lengths(self, index: int) -> tuple[int, int]:
        source, target = self.pairs[index]
        return len(source), len(target)

    def _collate(self, batch: list[int]) -> dict[str, Tensor]:
        source, source_mask = pad([as_source(self.pairs[i][0]) for i in batch])
        tokens, mask = pad([as_target(self.pairs[i][1]) for i in batch])
        return {"source": source, "source_mask": source_mask, "tokens": tokens, "mask": mask}


@torch.no_grad()
def translate(model: Any, sources: Sequence[Ids], longest: Callable[[int], int], batch: int = 256) -> list[Ids]:
    """The greedy translation of every source, without <eos>; at most longest(length of the source) tokens."""
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    outputs: list[Ids] = [[] for _ in sources]
    for start in range(0, len(order), batch):
        here = order[start : start + batch]
        source, source_mask = pad([as_source(sources[i]) for i in here])
        limit = longest(max(len(sources[i]) for i in here))
        prompt = torch.full((len(here), 1), BOS)
        generation: Any = greedy(model, prompt, limit, eos=EOS, state=model.encode(source, source_mask))
        for i, row in zip(here, generation.tokens.tolist(), strict=True):
            outputs[i] = row[: row.index(EOS)] if EOS in row else row
    return outputs
