"""What a training step costs: the processor time of one step on one core, measured for all models in turns.

The wall time of a training on a machine that others share says less.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain, count
from typing import Any

import torch
from torch import Tensor, nn

from lectures.recipes.pairs import PairBatches
from nlmcore.training import teacher_forcing_loss

Draw = Callable[[], dict[str, Tensor]]
"""Gives a batch: the arguments of `teacher_forcing_loss`."""

SECONDS_ARE = "steps times the processor time of one step on one core, measured in turns at the end"


def random_tokens(model: nn.Module, shape: tuple[int, int]) -> Draw:
    """Batches (rows, time) for a language model: which tokens they are makes no difference to the time."""
    vocab_size: Any = model.vocab_size
    return lambda: {"tokens": torch.randint(vocab_size, (shape[0], shape[1] + 1))}


def pairs_in_turn(batches: PairBatches) -> Draw:
    """Batches of pairs, one after the other, epoch after epoch: their lengths differ."""
    return partial(next, chain.from_iterable(map(batches, count())))


def seconds_per_step(models: Mapping[str, tuple[nn.Module, Draw]], rounds: int) -> dict[str, float]:
    """Processor time of a training step of each model, the mean of `rounds` after a first: pairs differ in length.

    Weights stay as they are.
    """
    taken: dict[str, list[float]] = {name: [] for name in models}
    optimizers = {
        name: torch.optim.AdamW(model.parameters(), lr=0.0, fused=True) for name, (model, _) in models.items()
    }
    for _ in range(rounds + 1):
        for name, (model, draw) in models.items():
            batch: Any = draw()
            began = time.process_time()
            optimizers[name].zero_grad(set_to_none=True)
            teacher_forcing_loss(model, **batch).backward()  # type: ignore[arg-type]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizers[name].step()
            taken[name].append(time.process_time() - began)
    return {name: statistics.fmean(values[1:]) for name, values in taken.items()}
