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

from lectures.recipes.experiment import said
from lectures.recipes.run import Run, recipe
from lectures.recipes.small_network import BATCH, SEEDS, data, sweep

STEPS = 1_000
OPTIMISERS: dict[str, tuple[Callable[..., torch.optim.Optimizer], tuple[float, ...]]] = {
    "SGD": (torch.optim.SGD, (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)),
    "momentum": (partial(torch.optim.SGD, momentum=0.9), (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
    "Adam": (partial(torch.optim.Adam, fused=True), (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)),
    "AdamW": (partial(torch.optim.AdamW, weight_decay=0.1, fused=True), (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)),
}
"""Momentum 0.9, Adam's β 0.9 and 0.999, AdamW's decay 0.1."""

SCHEDULE_STEPS, WARM_UP = 500, 50
SCHEDULES: dict[str, Callable[..., float]] = {
    "constant": lambda step, total: 1.0,
    "warm-up": lambda step, total: min(1.0, step / WARM_UP),
    "cosine": lambda step, total: cosine_schedule(step, total),
    "warm-up, cosine": lambda step, total: cosine_schedule(step, total, min(WARM_UP, total - 1)),
}
LOW, HIGH = (1e-3, 3e-3, 1e-2), (3e-3, 1e-2, 3e-2)
SCHEDULE_RATES = {"constant": LOW, "warm-up": LOW, "cosine": HIGH, "warm-up, cosine": HIGH}
"""The best of each row has a worse one on either side."""

EXAMPLES = 32_768
"""Characters that every size of minibatch is trained on."""
SIZE_RATES = {16: LOW, 128: HIGH, 1024: (*HIGH, 1e-1)}
"""Size of the minibatches -> learning rates, with worse ones on either side of the best."""


HOW = (
    "nats per character of Shakespeare; a window model of 16 characters and one hidden layer of 128; five seeds; the"
    " rate was chosen on dev plays, the loss is that of the test plays; ±: 95 % interval of the mean"
)


def contest(run: Run, question: str, how: str, rows: dict[str, dict[str, Any]], **facts: Any) -> None:
    """Every row at its rates, each with all seeds; the result has the recipe's name."""
    found = data(run)
    by = {row: sweep(run, found=found, **training) for row, training in rows.items()}
    about = {"split": found.split, "seeds": SEEDS, "guess": round(math.log(found.vocab_size), 3)}
    best = {row: {"rate": one["best"], "test": one["rates"][one["best"]]["test"]} for row, one in by.items()}
    shown = said(best, "{row} {test!i} nats at a rate of {rate}")
    run.save_result(
        run.recipe.name,
        {"question": question, **facts, "how": f"{HOW}; {how}", **about, "by": by, "what_it_shows": shown},
    )


def adam(title: str, rates: tuple[float, ...], **training: Any) -> dict[str, Any]:
    return {"title": title, "rates": rates, "optimiser": OPTIMISERS["Adam"][0], "points": 4, **training}


@recipe(7)
def cook_optimisers(run: Run) -> None:
    """SGD, momentum, Adam and AdamW on a small window model, each at six learning rates."""
    steps = run.size(STEPS, 4)
    rows = {
        name: {"title": name, "rates": rates, "optimiser": make, "steps": steps}
        for name, (make, rates) in OPTIMISERS.items()
    }
    question = "SGD, momentum, Adam and AdamW on one small language model, each at its best learning rate."
    contest(run, question, f"{steps} steps of {BATCH}, constant rate", rows, steps=steps)


@recipe(5)
def cook_schedules(run: Run) -> None:
    """Constant rate, warm-up and cosine on the same model."""
    steps = run.size(SCHEDULE_STEPS, 4)
    rows = {
        name: adam(f"schedule {name}", SCHEDULE_RATES[name], steps=steps, schedule=partial(schedule, total=steps))
        for name, schedule in SCHEDULES.items()
    }
    question = "Do warm-up and cosine lower the loss of a small language model trained by Adam?"
    contest(run, question, f"{steps} steps of {BATCH}, warm-up {WARM_UP} steps", rows)


@recipe(5)
def cook_minibatches(run: Run) -> None:
    """Minibatches of 16 to 1,024 examples at the same number of examples."""
    examples = run.size(EXAMPLES, 2048)
    rows = {
        str(size): adam(f"minibatches of {size}", SIZE_RATES[size], steps=examples // size, batch=size)
        for size in run.size((16, 128, 1024), (128, 1024))
    }
    question = "Many small minibatches or few large ones, for the same number of training examples?"
    contest(run, question, "Adam, constant rate", rows, examples=examples)
