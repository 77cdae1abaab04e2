"""Other orders and other shapes of a Transformer language model, trained until they use their context.

    python -m lectures.recipes.stacks --hours 2      any number of times; `lectures.recipes.resumable` says how

**Orders.** s is self-attention, f a feed-forward network, 6 of each: the plain order, the sandwich and 20 random orders
(Press, Smith & Levy 2020). The best of 20 orders is lucky twice, by its order and by its seed, so every order has five
seeds: the first plays the paper's search, the others are fresh. The plain order has 20 seeds.

**Shapes.** The rows of `lectures.recipes.deeper_or_wider`: layers against width, one block for all layers, experts.

A comparison means nothing while a model only knows which character follows which. So `plan` trains the reference
models first, and refuses the rest unless each

- beats a bigram of the characters that it has read by `MARGIN`;
- loses at least `CONTEXT` when all characters but the current one are those of another text;
- has its best learning rate between two worse ones;

and unless what everybody knows is seen: without attention a stack is no better than the bigram, one layer is worse than
six. Rates are chosen on dev; test is another play. A seed means the same batches in every row.

Before all that, 200 steps of the plain order and the sandwich, at the rate of `lectures.recipes.sublayer_order`: what is
compared there hardly uses its context. And 4,800 steps, since an order of two models can reverse with the length of the
training.

Departs from the papers: characters instead of words or images, narrow models, minutes of training; Glorot's first
weights for all rows. One file a run in `results/stacks/`, written when the run ends.
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch
from nlmcore.ngram import NGramLM
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import TransformerLM
from nlmcore.variants import Variant
from nlmcore.variants.mixture_of_experts import MixtureOfExperts
from nlmcore.variants.sandwich import order
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes import deeper_or_wider, positions, resumable, sublayer_order
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.positions import Windows, next_loss
from lectures.recipes.experiment import stretches
from lectures.recipes.resumable import bracketed, descent, file_of, read, unused
from lectures.recipes.run import machine, parameters, write_json
from lectures.recipes.texts import plays

DEPTH, TIME, BATCH, STEPS, SEEDS, PLAIN_SEEDS = 6, 48, 8, 1_600, 5, 20
RATES, FACTOR = (4e-3, 8e-3, 1.6e-2), 2.0
SHORT, LONG, LONG_SEEDS = 200, 4_800, 3
PLAIN, SANDWICH, SIX = order(DEPTH, 0), order(DEPTH, (3 * DEPTH + 4) // 8), deeper_or_wider.BASE
ONLY_NETWORKS, ONLY_ATTENTION, ONE_LAYER = "f" * 2 * DEPTH, "s" * 2 * DEPTH, "sf"
WINDOWS = 1_000
"""Of dev and of test, 48 characters each and the next one."""
FLOORS = file_of("stacks", "floors")
MARGIN, CONTEXT = 0.2, 0.5
"""Nats per character."""


@dataclass(frozen=True)
class Job:
    """One training; `row` is an order in letters, or the name of a shape."""

    row: str
    seed: int
    rate: float
    steps: int = STEPS

    @property
    def file(self) -> Path:
        return file_of("stacks", self.row, f"{self.steps} steps rate {self.rate:g} seed {self.seed}")


# --- text ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def texts() -> tuple[Tensor, Tensor, Tensor, int]:
    """The training plays in one line; windows of dev and of test (window, TIME + 1); the number of characters."""
    parts = plays()
    characters = CharTokenizer.fit(parts.train)
    train, dev, test = (
        torch.tensor([i for text in part for i in characters.encode(text)])
        for part in (parts.train, parts.dev, parts.test)
    )
    windows = [part.unfold(0, TIME + 1, TIME + 1)[:WINDOWS] for part in (dev, test)]
    return train, windows[0], windows[1], characters.vocab_size


def batches(steps: int, seed: int) -> Any:
    source = Windows(texts()[0], BATCH, TIME, 1_000 * seed)
    for epoch in range(-(-steps // 100)):
        for batch, _ in source(epoch):
            yield batch


@lru_cache(maxsize=1)
def floors(orders: int = 6) -> list[float]:
    """Nats per character of dev by Witten-Bell n-grams of orders 1, 2, …, counted on what one run of STEPS reads; stored
    beside the runs, with the same for the windows of the older recipes."""
    if FLOORS.exists():
        return list(json.loads(FLOORS.read_text(encoding="utf-8"))["n-grams"])
    _, dev, _, symbols = texts()
    rows = [row for batch in batches(STEPS, 0) for row in batch.tolist()]
    older = positions.data(None)[1][1][:, : TIME + 1]
    held = {"n-grams": dev[:200].tolist(), "n-grams, windows of sublayer_order and deeper_or_wider": older.tolist()}
    found: dict[str, list[float]] = {name: [] for name in held}
    for n in range(1, orders + 1):
        model = NGramLM(n, symbols, smoothing="witten_bell").fit(rows)
        for name, windows in held.items():
            nats = [-math.log(model.probability(row[i], row[:i])) for row in windows for i in range(1, TIME + 1)]
            found[name].append(round(fmean(nats), 4))
    write_json(FLOORS, {**found, "characters": sum(map(len, rows)), "machine": machine()})
    return found["n-grams"]


# --- one run ------------------------------------------------------------------------------------------


def build(row: str, symbols: int) -> Any:
    if set(row) <= set("sf"):
        return TransformerLM(sublayer_order.config(symbols, row))
    config = Variant(row, deeper_or_wider.ROWS[row], "").config(symbols, **deeper_or_wider.SIZES)
    return TransformerLM(replace(config, initialise=initialise_glorot))


@torch.no_grad()
def measured(model: Any, windows: Tensor) -> dict[str, float]:
    """Nats per character over all positions; at the last position with its own context, and with another window's."""
    every, right, wrong = [], [], []
    for own, other in zip(windows.split(250), windows.roll(len(windows) // 2, 0).split(250), strict=True):
        losses = F.cross_entropy(model(own[:, :-1])[0].transpose(1, 2), own[:, 1:], reduction="none")
        strange = torch.cat([other[:, : TIME - 1], own[:, TIME - 1 : -1]], 1)  # the current character is its own
        every.append(losses.flatten())
        right.append(losses[:, -1])
        wrong.append(F.cross_entropy(model(strange)[0][:, -1], own[:, -1], reduction="none"))
    mean = {"loss": every, "last": right, "last, another context": wrong}
    return {name: round(float(torch.cat(values).mean()), 4) for name, values in mean.items()}


def train(job: Job) -> dict[str, Any]:
    _, dev, test, symbols = texts()
    torch.manual_seed(job.seed)
    model = build(job.row, symbols)
    experts = any(isinstance(part, MixtureOfExperts) for part in model.modules())
    lossof = deeper_or_wider.balanced_loss if experts else next_loss
    found: dict[str, Any] = {"job": asdict(job), "parameters": parameters(model)}
    curve: list[float] = []

    def loss(batch: Tensor) -> Tensor:
        return lossof(model, (batch, torch.tensor(0)))

    warm_up = max(1, job.steps // 16)
    for value in descent(model, batches(job.steps, job.seed), loss, job.rate, warm_up, job.steps):
        if value is None:
            return found | {"diverged": len(curve) + 1}
        curve.append(value)
    model.eval()
    return found | {"dev": measured(model, dev), "test": measured(model, test), "curve": stretches(curve, 50, 3)}


# --- the order of work ----------------------------------------------------------------------------------


def losses(row: str, rate: float, seeds: int, steps: int = STEPS, part: str = "dev") -> list[float] | None:
    """By seed; None while one is missing. A run that diverged has an infinite loss."""
    runs = [read(Job(row, seed, rate, steps)) for seed in range(seeds)]
    return None if None in runs else [run[part]["loss"] if "dev" in run else math.inf for run in runs if run]


def rates_of(row: str, seeds: int) -> tuple[list[float], float | None]:
    """The rates to try for this row, and the best once it lies between two worse ones."""

    def mean(rate: float) -> float | None:
        found = losses(row, rate, seeds)
        return None if found is None else fmean(found)

    return bracketed(RATES, mean, FACTOR)


TUNED = {PLAIN: 2, SANDWICH: 2, SIX: 2} | {row: 1 for row in deeper_or_wider.ROWS if row != SIX}
"""Rows whose rate is tuned -> by how many seeds. The random orders have the plain order's."""


def plan() -> tuple[list[Job], list[str]]:
    best: dict[str, float | None] = {}
    jobs = [Job(row, seed, sublayer_order.RATE, SHORT) for seed in range(SEEDS) for row in (PLAIN, SANDWICH)]
    for row in (PLAIN, SANDWICH, SIX):
        rates, best[row] = rates_of(row, TUNED[row])
        jobs += [Job(row, seed, rate) for rate in rates for seed in range(TUNED[row])]
    if None in best.values():
        return jobs, ["the learning rates of the reference models are not bracketed yet"]
    plain, sandwich, six = (best[row] or 0.0 for row in (PLAIN, SANDWICH, SIX))
    jobs += [Job(row, 0, plain) for row in (ONLY_NETWORKS, ONLY_ATTENTION, ONE_LAYER)]
    jobs += [Job(row, seed, rate) for row, rate in ((PLAIN, plain), (SIX, six)) for seed in range(SEEDS)]
    if any(read(job) is None for job in jobs):
        return list(dict.fromkeys(jobs)), ["the runs that the gates look at are not all done"]
    if wrong := gates(plain, six):
        return list(dict.fromkeys(jobs)), wrong
    jobs += [Job(SANDWICH, seed, sandwich) for seed in range(SEEDS)]
    jobs += [Job(row, seed, best[row] or 0.0, LONG) for seed in range(LONG_SEEDS) for row in (PLAIN, SANDWICH)]
    jobs += [Job(row, seed, plain) for seed in range(SEEDS) for row in sublayer_order.random_orders()]
    jobs += [Job(PLAIN, seed, plain) for seed in range(PLAIN_SEEDS)]
    for row in deeper_or_wider.ROWS:
        rates, rate = rates_of(row, TUNED[row])
        jobs += [Job(row, seed, each) for each in rates for seed in range(TUNED[row])]
        jobs += [Job(row, seed, rate) for seed in range(SEEDS)] if rate else []
    return list(dict.fromkeys(jobs)), []


def gates(plain: float, six: float) -> list[str]:
    """What does not hold, in sentences."""
    wrong, bigram = [], floors()[1]
    for row, rate in ((PLAIN, plain), (SIX, six)):
        runs = [run for seed in range(SEEDS) if (run := read(Job(row, seed, rate)))]
        own = fmean(run["dev"]["loss"] for run in runs)
        cost = fmean(run["dev"]["last, another context"] - run["dev"]["last"] for run in runs)
        wrong += unused(f"{row}, its context", own, bigram, cost, MARGIN, CONTEXT)
    found = losses(PLAIN, plain, SEEDS) or []
    alone, single = (losses(row, plain, 1) or [math.nan] for row in (ONLY_NETWORKS, ONE_LAYER))
    if alone[0] < bigram - MARGIN / 2:
        wrong.append(f"without attention {alone[0]:.3f} nats: below the bigram, so something else reads the context")
    if single[0] < fmean(found) + 5 * stdev(found):
        wrong.append(f"one layer: {single[0]:.3f} nats, no worse than six: the known effect is not seen")
    return wrong


if __name__ == "__main__":
    resumable.main("lectures.recipes.stacks", plan, train)
