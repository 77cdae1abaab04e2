"""What a computation costs: seconds of one thread, bytes held at its peak, multiply-adds; and the law they obey.

Seconds are of the process clock, which stands still while other programs have the core; of several runs the fastest,
since what disturbs a run only adds; the runs of all that is compared take turns. Bytes are PyTorch's own account of
every allocation, buffers inside its kernels included. Multiply-adds are those of matrix products; a causal mask saves
none in this count.

A power law  cost = c · n^p  is a line in logarithms; p with its 95 % interval by Student's t for the points' scatter
around the line. The interval says nothing of lengths that were not measured.

A training step costs the processor time of one step on one core, measured for all models in turn; the wall time of a
training on a shared machine says less.
"""

import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import Any, NamedTuple

import torch
from nlmcore.metrics.significance import T_95
from nlmcore.training import teacher_forcing_loss
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from lectures.recipes.pairs import PairBatches

Work = Callable[[], Any]


class PowerLaw(NamedTuple):
    """cost = c · n^exponent over n in [start, end]."""

    exponent: float
    low: float
    high: float
    start: int
    end: int

    def rounded(self) -> dict[str, float | int]:
        return {name: round(value, 3) for name, value in self._asdict().items()}


@torch.no_grad()
def seconds(work: Mapping[Any, Work], repeats: int, of: Callable[[list[float]], float] = min) -> dict[Any, float]:
    """Seconds of each one's fastest run (or `of` all its runs), taking turns; one turn before them is not counted."""
    taken: dict[Any, list[float]] = {name: [] for name in work}
    for turn in range(repeats + 1):
        for name, run in work.items():
            start = time.process_time()
            run()
            if turn:
                taken[name].append(time.process_time() - start)
    return {name: of(times) for name, times in taken.items()}


@torch.no_grad()
def peak_bytes(work: Work) -> int:
    """The most that is allocated at once while it runs, over what was there before."""
    from torch.profiler import ProfilerActivity, profile

    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler tells the terminal of every start
    work()  # what is made once and kept is not the work's
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as tape:
        work()
    events = sorted(
        (event for event in tape.profiler.kineto_results.events() if event.name() == "[memory]"),
        key=lambda event: event.start_ns(),
    )
    held = peak = 0
    for event in events:
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def multiply_adds(work: Work) -> int:
    """Counted while it runs, with gradients recorded: without them some products take a path that is not counted.

    Nor is an LSTM's fused kernel: count `Recurrent(…, fused=False)`, whose numbers are the same.
    """
    attention = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention_operations}
    counter = FlopCounterMode(display=False, custom_mapping=attention)
    with torch.enable_grad(), counter:
        work()
    return counter.get_total_flops() // 2


def power_law(lengths: Sequence[int], costs: Sequence[float | int], start: int = 1) -> PowerLaw:
    """Fitted to the lengths of at least `start`. Raises ValueError for fewer than three of them."""
    kept = [(math.log(n), math.log(cost)) for n, cost in zip(lengths, costs, strict=True) if n >= start]
    if len(kept) < 3:
        raise ValueError(f"start must leave at least three lengths, got {start} for {list(lengths)}")
    x, y = zip(*kept, strict=True)
    exponent, shift = statistics.linear_regression(x, y)
    squares = sum((b - shift - exponent * a) ** 2 for a, b in kept)
    spread = sum((a - statistics.fmean(x)) ** 2 for a in x)
    freedom = len(kept) - 2
    reach = T_95[min(freedom, len(T_95)) - 1] * math.sqrt(squares / freedom / spread)
    first = min(n for n in lengths if n >= start)
    return PowerLaw(exponent, exponent - reach, exponent + reach, first, max(lengths))


def _attention_operations(q: Sequence[int], k: Sequence[int], v: Sequence[int], *_: Any, **__: Any) -> int:
    """q Kᵀ and α V of every head, two operations per multiply-add."""
    batch, head, query, d_head = q
    return 2 * batch * head * query * k[2] * (d_head + v[3])


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
