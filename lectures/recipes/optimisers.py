"""Figures of the lecture Training well: optimisers at their best rates, schedules, and sizes of minibatches.

Each contestant runs at several learning rates with five seeds each. The rate is chosen on the dev plays, the loss
reported is that of the test plays, so nobody wins by having chosen well.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from nlmcore.training import cosine_schedule

from lectures.recipes.run import Run, recipe
from lectures.recipes.small_network import BATCH, SEEDS, Data, data, in_words, sweep

STEPS = 1_000
OPTIMISERS: dict[str, tuple[Callable[..., torch.optim.Optimizer], tuple[float, ...]]] = {
    "SGD": (torch.optim.SGD, (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)),
    "momentum": (partial(torch.optim.SGD, momentum=0.9), (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
    "Adam": (partial(torch.optim.Adam, fused=True), (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)),
    "AdamW": (partial(torch.optim.AdamW, weight_decay=0.1, fused=True), (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)),
}
"""Momentum 0.9, Adam's β 0.9 and 0.999, AdamW's decay 0.1."""

SCHEDULE_STEPS, WARM_UP = 500, 50
ADAM_RATES = (3e-3, 1e-2)
SCHEDULES: dict[str, Callable[..., float]] = {
    "constant": lambda step, total: 1.0,
    "warm-up": lambda step, total: min(1.0, step / WARM_UP),
    "cosine": lambda step, total: cosine_schedule(step, total),
    "warm-up, cosine": lambda step, total: cosine_schedule(step, total, min(WARM_UP, total - 1)),
}

SIZES = (16, 128, 1024)
EXAMPLES = 32_768
"""Characters that every size of minibatch is trained on."""
SIZE_RATES = (3e-3, 1e-2)


def rows(by: dict[str, Any]) -> list[list[str]]:
    return [[name, one["best"], in_words(one["rates"][one["best"]]["test"])] for name, one in by.items()]


def shown(by: dict[str, Any]) -> str:
    """Every contestant at its best rate, on test."""
    return "; ".join(f"{name} {loss} nats at a rate of {rate}" for name, rate, loss in rows(by))


def save(run: Run, name: str, found: Data, by: dict[str, Any], facts: dict[str, Any]) -> None:
    about = {"split": found.split, "seeds": SEEDS, "guess": round(math.log(found.vocab_size), 3)}
    run.save_result(name, {**facts, **about, "by": by, "what_it_shows": shown(by)})


HOW = (
    "nats per character of Shakespeare; a window model of 16 characters and one hidden layer of 128; five seeds; the"
    " rate was chosen on dev plays, the loss is that of the test plays; ±: 95 % interval of the mean"
)


@recipe(7)
def cook_optimisers(run: Run) -> None:
    """SGD, momentum, Adam and AdamW on a small window model, each at six learning rates."""
    found, steps = data(run), run.size(STEPS, 4)
    by = {name: sweep(run, name, rates, make, found=found, steps=steps) for name, (make, rates) in OPTIMISERS.items()}
    facts = {"question": "SGD, momentum, Adam and AdamW on one small language model, each at its best learning rate."}
    save(
        run,
        "optimisers",
        found,
        by,
        {**facts, "steps": steps, "how": f"{HOW}; {steps} steps of {BATCH}, constant rate"},
    )


@recipe(5)
def cook_schedules(run: Run) -> None:
    """Constant rate, warm-up and cosine on the same model."""
    found, steps = data(run), run.size(SCHEDULE_STEPS, 4)
    adam = OPTIMISERS["Adam"][0]
    by = {
        name: sweep(
            run,
            f"schedule {name}",
            ADAM_RATES,
            adam,
            found=found,
            steps=steps,
            schedule=partial(schedule, total=steps),
            points=4,
        )
        for name, schedule in SCHEDULES.items()
    }
    facts = {"question": "Do warm-up and cosine lower the loss of a small language model trained by Adam?"}
    save(run, "schedules", found, by, {**facts, "how": f"{HOW}; {steps} steps of {BATCH}, warm-up {WARM_UP} steps"})


@recipe(5)
def cook_minibatches(run: Run) -> None:
    """Minibatches of 16 to 1,024 examples at the same number of examples."""
    found, examples = data(run), run.size(EXAMPLES, 2048)
    adam = OPTIMISERS["Adam"][0]
    by = {
        str(size): sweep(
            run, f"minibatches of {size}", SIZE_RATES, adam, found=found, steps=examples // size, batch=size, points=4
        )
        for size in run.size(SIZES, (512, 1024))
    }
    facts = {"question": "Many small minibatches or few large ones, for the same number of training examples?"}
    save(run, "minibatches", found, by, {**facts, "examples": examples, "how": f"{HOW}; Adam, constant rate"})
