"""Figure of the lecture Training well: 20 hidden layers, four initialisations, normalisation, and residual connections.

The longer runs, at one rate, show what the short ones cannot: which initialisations learn at all.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lectures.recipes.pages import interval
from lectures.recipes.run import Run, recipe
from lectures.recipes.small_network import BATCH, SEEDS, Data, Norm, data, network, over_seeds, sweep

DEPTH, WIDTH, STEPS = 20, 64, 300
LONGER_STEPS, LONGER_RATE, LONGER_SEEDS = 2_000, 1e-3, 3
RATES = (1e-3, 3e-3)


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
ROWS: dict[str, tuple[tuple[str, ...], tuple[float, ...], int]] = {
    "no norm": (tuple(INITIALISATIONS), RATES, SEEDS),
    "LayerNorm": (tuple(INITIALISATIONS), RATES, SEEDS),
    "BatchNorm": (("He",), RATES, 3),
    WITH_SKIPS: (("0.01", "He"), (*RATES, 1e-2, 3e-2), SEEDS),
}
"""Norm -> initialisations, learning rates, seeds."""


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
    """One initialisation with one norm at every rate."""
    _, rates, seeds = ROWS[norm]
    return sweep(
        run,
        f"{initialisation}, {norm}",
        rates,
        partial(torch.optim.Adam, fused=True),
        count=seeds,
        found=found,
        steps=run.size(STEPS, 2),
        points=4,
        build=partial(deep, initialisation=initialisation, norm=norm),
    )


def longer(run: Run, found: Data, initialisation: str) -> list[float]:
    """Test losses of the plain network after more steps."""
    row = over_seeds(
        run,
        f"{initialisation}, no norm, longer",
        LONGER_SEEDS,
        found=found,
        steps=run.size(LONGER_STEPS, 2),
        optimiser=partial(torch.optim.Adam, lr=LONGER_RATE, fused=True),
        build=partial(deep, initialisation=initialisation, norm="no norm"),
        points=1,
    )
    return list(row["test"])


@recipe(9)
def cook(run: Run) -> None:
    found = data(run)
    by = {
        norm: {initial: contestant(run, found, initial, norm) for initial in run.size(initials, ("He",))}
        for norm, (initials, _, _) in ROWS.items()
    }
    after = {initial: longer(run, found, initial) for initial in run.size(("0.01", "He"), ("He",))}
    cells = [
        f"{norm}, {name}: {interval(one['rates'][one['best']]['test'])}"
        for norm, by_initial in by.items()
        for name, one in by_initial.items()
    ]
    cells += [f"{name} after {LONGER_STEPS:,} steps: {interval(test)}" for name, test in after.items()]
    run.save_result(
        "deep_networks",
        {
            "question": "Do initial weights, normalisation and residual connections decide whether 20 layers learn?",
            "how": f"nats per character on test plays; {DEPTH} hidden layers of {WIDTH}, ReLU, {STEPS} steps of {BATCH},"
            " Adam; rate chosen on dev plays; five seeds, BatchNorm three; ±: 95 % interval of the mean",
            "guess": round(math.log(found.vocab_size), 3),
            "by": by,
            "longer": {"steps": LONGER_STEPS, "rate": LONGER_RATE, "test": after},
            "what_it_shows": "; ".join(cells),
        },
    )
