"""Figure: how many of five features does a toy keep in two dimensions, at which sparsity, with and without a ReLU?

The toy of `nlmcore.inspect.features` (Elhage et al. 2022): importance 0.9^i, 1,500 steps of 512 examples, Adam whose
rate falls to 0. Five seeds are trained as one batch of models. Each cell of the grid runs at two rates; the one with the
lower mean loss is kept. The control without the ReLU can do no better than principal components, which need no training.
"""

import math
from functools import partial
from typing import Any

import torch
from nlmcore.inspect import ToyAutoencoder, dimensionality, sparse_features
from torch import Tensor

from lectures.recipes.run import Run, recipe

FEATURES, DIMENSIONS, DECAY, KEPT = 5, 2, 0.9, 0.5
SPARSITIES, RATES, BATCH = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98), (0.01, 0.03), 512


def importance() -> Tensor:
    return DECAY ** torch.arange(FEATURES)


def trained(sparsity: float, relu: bool, rate: float, seed: int, models: int, steps: int) -> ToyAutoencoder:
    """So many toys at once, after training."""
    torch.manual_seed(seed)
    toy = ToyAutoencoder(FEATURES, DIMENSIONS, relu, models)
    optimiser = torch.optim.Adam(toy.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for _ in range(steps):
        x = sparse_features((models, BATCH, FEATURES), sparsity)
        optimiser.zero_grad()
        toy.loss(x, importance()).sum().backward()  # the models share no weight, so the sum trains each by itself
        optimiser.step()
        schedule.step()
    return toy


def gaps(weight: Tensor) -> list[float]:
    """The angles between neighbouring features that are kept, in degrees; weight (2, n)."""
    kept = weight[:, weight.norm(dim=0) > KEPT]
    angles = torch.rad2deg(torch.atan2(kept[1], kept[0])).sort().values
    return (torch.cat([angles[1:], angles[:1] + 360]) - angles).tolist()


def cell(sparsity: float, relu: bool, rate: float, seed: int, models: int, steps: int) -> dict[str, Any]:
    toy = trained(sparsity, relu, rate, seed, models, steps)
    with torch.no_grad():
        x = sparse_features((models, 20_000, FEATURES), sparsity, torch.Generator().manual_seed(1))
        loss = toy.loss(x, importance()) / (importance() * x.square()).sum(-1).mean(-1)
        weight = toy.weight.detach()
        return {
            "rate": rate,
            "loss": [round(v, 4) for v in loss.tolist()],
            "kept": (weight.norm(dim=1) > KEPT).sum(-1).tolist(),
            "dimensionality": [[round(v, 3) for v in row] for row in dimensionality(weight).tolist()],
            "gaps": [[round(v, 1) for v in gaps(w)] for w in weight],
            "weight": [[[round(v, 3) for v in row] for row in w] for w in weight.tolist()],
        }


@recipe(1)
def cook(run: Run) -> None:
    models, steps = run.size((5, 1500), (2, 20))
    rows: dict[str, list[dict[str, Any]]] = {}
    for relu in (True, False):
        for sparsity in SPARSITIES:
            tried = [
                run.kept(f"{relu}, {sparsity}, {rate}", partial(cell, sparsity, relu, rate, run.seed, models, steps))
                for rate in RATES
            ]
            rows.setdefault("ReLU" if relu else "linear", []).append(min(tried, key=lambda row: math.fsum(row["loss"])))
    run.save_result(
        "superposition",
        {
            "question": "How many of five features fit into two dimensions?",
            "how": f"{models} seeds, {steps:,} steps of {BATCH}; importance {DECAY}^i; kept: a direction longer than {KEPT};"
            " loss: divided by that of answering 0",
            "sparsities": list(SPARSITIES),
            "rows": rows,
            "what_it_shows": "; ".join(
                f"{name}: at sparsity {s:g} {min(row['kept'])} to {max(row['kept'])} kept"
                for name, of in rows.items()
                for s, row in zip(SPARSITIES, of, strict=True)
                if s in (0, 0.7, 0.95)
            ),
        },
    )
