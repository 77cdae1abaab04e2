"""Figure of the lecture Training well: 20 hidden layers, four initialisations, normalisation, and residual connections.

Each row has its own rate, between two worse ones on dev plays.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lectures.recipes.pages import interval
from lectures.recipes.run import Run, recipe
from lectures.recipes.small_network import BATCH, SEEDS, Data, Norm, data, network, sweep

DEPTH, WIDTH, STEPS = 20, 64, 1_000
RATES = (1e-3, 3e-3, 1e-2)


def plain(weight: Tensor) -> None:
    """N(0, 0.01²), as AlexNet began (Krizhevsky et al. 2012)."""
    nn.init.normal_(weight, std=0.01)


def pytorch(weight: Tensor) -> None:
    """nn.Linear's own, U(−1/√n, 1/√n): variance 1/(3 n)."""
    nn.init.uniform_(weight, -1 / math.sqrt(weight.shape[1]), 1 / math.sqrt(weight.shape[1]))


def he(weight: Tensor) -> None:
    """N(0, 2/n), He et al. (2015), section 2.2."""
    nn.init.kaiming_normal_(weight, nonlinearity="relu")


INITIALISATIONS: dict[str, Callable[[Tensor], Any]] = {
    "0.01": plain,
    "PyTorch": pytorch,
    "Glorot": nn.init.xavier_normal_,
    "He": he,
}
NORMS: dict[str, Norm | None] = {"no norm": None, "LayerNorm": nn.LayerNorm, "BatchNorm": nn.BatchNorm1d}
WITH_SKIPS = "LayerNorm, residual"
ROWS: dict[str, tuple[str, ...]] = {
    "no norm": tuple(INITIALISATIONS),
    "LayerNorm": ("0.01", "He"),
    "BatchNorm": ("He",),
    WITH_SKIPS: ("0.01", "He"),
}
"""Norm -> initialisations."""


class Skip(nn.Module):
    """h + f(h)."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, h: Tensor) -> Tensor:
        """(batch, width) -> (batch, width)"""
        return h + self.layers(h)


def with_skips(plain: nn.Sequential) -> nn.Sequential:
    """The same layers in the same order; each norm, ReLU and matrix adds to its input instead of replacing it."""
    layers = list(plain)
    first, hidden, last = layers[:3], layers[3:-3], layers[-3:]
    return nn.Sequential(*first, *(Skip(*hidden[i : i + 3]) for i in range(0, len(hidden), 3)), *last)


def deep(vocab_size: int, initialisation: str, norm: str) -> nn.Sequential:
    """20 hidden layers, matrices drawn anew, biases 0."""
    model = network(vocab_size, DEPTH, WIDTH, NORMS[norm.removesuffix(", residual")])
    if norm == WITH_SKIPS:
        model = with_skips(model)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            INITIALISATIONS[initialisation](module.weight)
            nn.init.zeros_(module.bias)
    return model


def contestant(run: Run, found: Data, initialisation: str, norm: str) -> dict[str, Any]:
    """One initialisation with one norm, at every rate that it takes to bracket the best."""
    return sweep(
        run,
        f"{initialisation}, {norm}",
        RATES,
        partial(torch.optim.Adam, fused=True),
        found=found,
        steps=run.size(STEPS, 2),
        points=5,
        build=partial(deep, initialisation=initialisation, norm=norm),
    )


@recipe(30)
def cook(run: Run) -> None:
    found = data(run)
    by = {
        norm: {initial: contestant(run, found, initial, norm) for initial in run.size(initials, ("He",))}
        for norm, initials in ROWS.items()
    }
    run.save_result(
        "deep_networks",
        {
            "question": "Do initial weights, normalisation and residual connections decide whether 20 layers learn?",
            "how": f"nats per character on test plays; {DEPTH} hidden layers of {WIDTH}, ReLU, {STEPS:,} steps of {BATCH},"
            f" Adam; rate bracketed on dev plays; {SEEDS} seeds; ±: 95 % interval of the mean",
            "guess": round(math.log(found.vocab_size), 3),
            "steps": STEPS,
            "by": by,
            "what_it_shows": "; ".join(
                f"{norm}, {name}: {interval(one['rates'][one['best']]['test'])}"
                for norm, by_initial in by.items()
                for name, one in by_initial.items()
            ),
        },
    )
