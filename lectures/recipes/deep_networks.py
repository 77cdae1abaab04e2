"""Figure of the lecture Training well: 20 hidden layers, four initialisations, with and without normalisation."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lectures.recipes.pages import interval
from lectures.recipes.run import Run, recipe
from lectures.recipes.small_network import BATCH, Data, Norm, data, network, sweep

DEPTH, WIDTH, STEPS = 20, 64, 300
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
NORMS: dict[str, Norm | None] = {"no norm": None, "LayerNorm": nn.LayerNorm}


def deep(vocab_size: int, initialisation: str, norm: Norm | None) -> nn.Sequential:
    """20 hidden layers, matrices drawn anew, biases 0."""
    model = network(vocab_size, DEPTH, WIDTH, norm)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            INITIALISATIONS[initialisation](module.weight)
            nn.init.zeros_(module.bias)
    return model


def contestant(run: Run, found: Data, initialisation: str, norm: str) -> dict[str, Any]:
    """One initialisation with one norm at every rate."""
    return sweep(
        run,
        f"{initialisation}, {norm}",
        RATES,
        partial(torch.optim.Adam, fused=True),
        found=found,
        steps=run.size(STEPS, 2),
        points=4,
        build=partial(deep, initialisation=initialisation, norm=NORMS[norm]),
    )


@recipe(9)
def cook(run: Run) -> None:
    found = data(run)
    by = {
        norm: {initial: contestant(run, found, initial, norm) for initial in run.size(list(INITIALISATIONS), ["He"])}
        for norm in NORMS
    }
    rows = [
        [norm, *(interval(one["rates"][one["best"]]["test"]) for one in by_initial.values())]
        for norm, by_initial in by.items()
    ]
    cells = [f"{row[0]}, {name}: {cell}" for row in rows for name, cell in zip(by["no norm"], row[1:], strict=True)]
    run.save_result(
        "deep_networks",
        {
            "question": "Do initial weights and normalisation decide whether 20 layers learn?",
            "how": f"nats per character on test plays; {DEPTH} hidden layers of {WIDTH}, ReLU, {STEPS} steps of {BATCH},"
            " Adam; rate chosen on dev plays; five seeds; ±: 95 % interval of the mean",
            "guess": round(math.log(found.vocab_size), 3),
            "by": by,
            "what_it_shows": "; ".join(cells),
        },
    )
