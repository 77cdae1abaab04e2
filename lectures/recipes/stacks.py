"""Other orders and other shapes of a Transformer language model, trained until they use their context.

    python -m lectures.recipes.stacks --hours 2      any number of times; `lectures.recipes.resumable` says how

**Orders.** s is self-attention, f a feed-forward network, 6 of each: the plain order, the sandwich and 20 random orders
(Press, Smith & Levy 2020). The best of 20 orders is lucky twice, by its order and by its seed, so every order has five
seeds: the first plays the paper's search, the others are fresh. The plain order has 20 seeds.

**Shapes.**

    deeper, wider    layers against the width of feed-forward network and heads     Narang et al. (2021), section 2.3
    one block        every layer is the first one                                   Lan et al. (2020)
    WideNet          one attention and experts for all layers, own norms            Xue et al. (2022)

WideNet is several changes at once: sharing, own norms, more parameters, more operations, and experts. So beside it are one
network with own norms; one as wide as the two experts that a token meets; and a block so wide that it has all parameters.

A comparison means nothing while a model only knows which character follows which. So `plan` trains the reference
models first, and refuses the rest unless each

- beats a bigram of the characters that it has read by `MARGIN`;
- loses at least `CONTEXT` when all characters but the current one are those of another text;
- has its best learning rate between two worse ones;

and unless what everybody knows is seen: without attention a stack is no better than the bigram, one layer is worse than
six. Rates are chosen on dev; test is another play. A seed means the same batches in every row.

Before all that, 200 steps of the plain order and the sandwich, which hardly use their context. And 4,800 steps of
these two and of the search's choice, since the order of two models can reverse with the length of the training.

Departs from the papers: characters instead of words or images, narrow models, minutes of training; Glorot's first
weights for all rows. One file a run in `results/stacks/`, written when the run ends.
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any

import torch
from nlmcore.ngram import NGramLM
from nlmcore.positions import SinusoidalPositions
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.variants import CATALOGUE, Variant
from nlmcore.variants.albert import share_blocks
from nlmcore.variants.mixture_of_experts import MixtureOfExperts, balance_loss
from nlmcore.variants.sandwich import build_order, order
from nlmcore.variants.variant import RELU, Times
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes import positions, resumable
from lectures.recipes.costs import multiply_adds
from lectures.recipes.experiment import stretches
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.positions import Windows, next_loss
from lectures.recipes.resumable import bracketed, descent, file_of, read, unused
from lectures.recipes.run import machine, parameters, write_json
from lectures.recipes.texts import plays

DEPTH, WIDTH, TIME, BATCH, STEPS, SEEDS, PLAIN_SEEDS = 6, 32, 48, 8, 1_600, 5, 20
RATES, FACTOR = (4e-3, 8e-3, 1.6e-2), 2.0
SHORT, SHORT_RATE, LONG = 200, 4e-3, 4_800
PLAIN, SANDWICH = order(DEPTH, 0), order(DEPTH, (3 * DEPTH + 4) // 8)
ONLY_NETWORKS, ONLY_ATTENTION, ONE_LAYER = "f" * 2 * DEPTH, "s" * 2 * DEPTH, "sf"
WINDOWS = 1_000
"""Of dev and of test, 48 characters each and the next one."""
FLOORS = file_of("stacks", "floors")
MARGIN, CONTEXT = 0.2, 0.5
"""Nats per character."""
THEIRS = {
    "random": [
        *(20.74, 20.64, 20.33, 20.27, 19.98, 19.92, 19.69, 19.54, 19.08, 18.90),
        *(18.83, 18.77, 18.68, 18.64, 18.61, 18.60, 18.55, 18.38, 18.28, 18.19),
    ],
    "plain": [19.13, 18.83, 18.54, 18.49, 18.25],
}
"""Press et al. (2020): perplexity on WikiText-103, dev; 16 s and 16 f."""

SIZES = {"d_model": 48, "n_heads": 6, "n_layers": DEPTH, "max_length": TIME}
SIX = "6 layers"
_WIDENET = dict(CATALOGUE["WideNet"].changes)
_ONE_NETWORK = _WIDENET | {"feed_forward": partial(MixtureOfExperts, n_experts=1, k=1, expert=RELU)}
SHAPES: dict[str, dict[str, Any]] = {
    SIX: {},
    "12 layers, half as wide": dict(CATALOGUE["24 layers, d_ff = 1536, H = 6"].changes),
    "3 layers, twice as wide": dict(CATALOGUE["6 layers, d_ff = 6144, H = 24"].changes),
    "one block": {"share": share_blocks},
    "one block, 8.5 times as wide": {"share": share_blocks, "d_ff": Times(Fraction(17, 2))},
    "one block, own norms": _ONE_NETWORK,
    "one block, own norms, twice as wide": _ONE_NETWORK | {"d_ff": Times(2)},
    "WideNet, 4 experts": _WIDENET,
    "WideNet, 8 experts": _WIDENET | {"feed_forward": partial(MixtureOfExperts, n_experts=8, expert=RELU)},
}
"""Row -> the fields of the vanilla row that it changes. Widths are those of the feed-forward network (and heads, if layers differ)."""


@lru_cache
def random_orders(number: int = 20) -> tuple[str, ...]:
    """Different from each other and from the plain order, with as many s and f."""
    chance, found = Random(0), dict.fromkeys([PLAIN])
    while len(found) <= number:
        letters = list(PLAIN)
        chance.shuffle(letters)
        found["".join(letters)] = None
    return tuple(found)[1:]


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
    beside the runs, with the same for the windows that `positions.characters` looks at."""
    if FLOORS.exists():
        return list(json.loads(FLOORS.read_text(encoding="utf-8"))["n-grams"])
    _, dev, _, symbols = texts()
    rows = [row for batch in batches(STEPS, 0) for row in batch.tolist()]
    older = positions.data(None)[1][1][:, : TIME + 1]
    held = {"n-grams": dev[:200].tolist(), "n-grams, windows of positions": older.tolist()}
    found: dict[str, list[float]] = {name: [] for name in held}
    for n in range(1, orders + 1):
        model = NGramLM(n, symbols, smoothing="witten_bell").fit(rows)
        for name, windows in held.items():
            nats = [-math.log(model.probability(row[i], row[:i])) for row in windows for i in range(1, TIME + 1)]
            found[name].append(round(fmean(nats), 4))
    write_json(FLOORS, {**found, "characters": sum(map(len, rows)), "machine": machine()})
    return found["n-grams"]


# --- one run ------------------------------------------------------------------------------------------


def in_order(vocab_size: int, letters: str) -> TransformerConfig:
    """A language model whose sublayers have this order."""
    sizes = positions.config(vocab_size, WIDTH, TIME, SinusoidalPositions, None)
    return replace(sizes, n_layers=len(letters) // 2, stack=partial(build_order, letters=letters))


def build(row: str, symbols: int) -> Any:
    if set(row) <= set("sf"):
        return TransformerLM(in_order(symbols, row))
    config = Variant(row, SHAPES[row], "").config(symbols, **SIZES)
    return TransformerLM(replace(config, initialise=initialise_glorot))


def cost(row: str) -> dict[str, int]:
    """Parameters, and multiply-adds of one window."""
    _, dev, _, symbols = texts()
    model = build(row, symbols).eval()
    return {"parameters": parameters(model), "multiply_adds": multiply_adds(partial(model, dev[:1, :-1]))}


def balanced_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Of the next character, and a hundredth of the experts' balance: Fedus et al. (2022), equation 4."""
    return next_loss(model, batch) + 0.01 * balance_loss(model)


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
    lossof = balanced_loss if experts else next_loss
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


def context_cost(row: str, rate: float, part: str) -> float:
    """Nats that the last character costs more when all but the one before it are another text's; the mean of the seeds."""
    runs = [run for seed in range(SEEDS) if (run := read(Job(row, seed, rate)))]
    return fmean(run[part]["last, another context"] - run[part]["last"] for run in runs)


def rates_of(row: str, seeds: int, steps: int = STEPS) -> tuple[list[float], float | None]:
    """The rates to try for this row, and the best once it lies between two worse ones."""

    def mean(rate: float) -> float | None:
        found = losses(row, rate, seeds, steps)
        return None if found is None else fmean(found)

    return bracketed(RATES, mean, FACTOR)


TUNED = {PLAIN: 2, SANDWICH: 2, SIX: 2} | {row: 1 for row in SHAPES if row != SIX}
"""Rows whose rate is tuned -> by how many seeds. The random orders have the plain order's."""


def plan() -> tuple[list[Job], list[str]]:
    best: dict[str, float | None] = {}
    jobs = [Job(row, seed, SHORT_RATE, SHORT) for seed in range(SEEDS) for row in (PLAIN, SANDWICH)]
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
    jobs += [Job(row, seed, plain) for seed in range(SEEDS) for row in random_orders()]
    long: dict[str, float | None] = {}
    for row in (PLAIN, SANDWICH):  # the best rate depends on the length, and the sandwich had a larger one
        rates, long[row] = rates_of(row, TUNED[row], LONG)
        jobs += [Job(row, seed, rate, LONG) for rate in rates for seed in range(TUNED[row])]
        jobs += [Job(row, seed, rate, LONG) for rate in (best[row], long[row]) if rate for seed in range(SEEDS)]
    if (found := searched(plain)) and (rate := long[PLAIN]):
        jobs += [Job(found, seed, rate, LONG) for seed in range(SEEDS)]
    jobs += [Job(PLAIN, seed, plain) for seed in range(PLAIN_SEEDS)]
    for row in SHAPES:
        rates, rate = rates_of(row, TUNED[row])
        jobs += [Job(row, seed, each) for each in rates for seed in range(TUNED[row])]
        jobs += [Job(row, seed, rate) for seed in range(SEEDS)] if rate else []
    return list(dict.fromkeys(jobs)), []


def searched(rate: float) -> str | None:
    """The random order that a search with one seed would choose, on dev; None while one is missing."""
    first = {row: found[0] for row in random_orders() if (found := losses(row, rate, 1))}
    return min(first, key=first.__getitem__) if len(first) == len(random_orders()) else None


def gates(plain: float, six: float) -> list[str]:
    """What does not hold, in sentences."""
    wrong, bigram = [], floors()[1]
    for row, rate in ((PLAIN, plain), (SIX, six)):
        own, cost = fmean(losses(row, rate, SEEDS) or []), context_cost(row, rate, "dev")
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
