"""Figures of the lecture Training well: overfitting and its remedies, and how many seeds a claim needs.

Overfitting on purpose: the window model reads 5,000 characters about nineteen times. Every remedy changes one thing. Of several
strengths of a remedy the dev plays choose one; the loss reported is that of the test plays.

Seeds: three activation functions, 16 seeds each. How often would n of those seeds name the right winner?
"""

from functools import partial
from itertools import combinations
from typing import Any

import torch
from nlmcore.metrics import mean_interval
from torch import nn

from lectures.recipes.experiment import said
from lectures.recipes.run import Run, recipe
from lectures.recipes.small_network import HIDDEN, data, network, over_seeds

CHARACTERS, STEPS, RATE, POINTS = 5_000, 1_500, 3e-3, 15


def adam(parameters: Any, decay: float = 0.0) -> torch.optim.Optimizer:
    """AdamW; without a decay that is Adam."""
    return torch.optim.AdamW(parameters, lr=RATE, weight_decay=decay, fused=True)


REMEDIES: dict[str, dict[str, dict[str, Any]]] = {
    "nothing": {"": {}},
    "weight decay": {f"{decay:g}": {"decay": decay} for decay in (0.1, 1.0)},
    "dropout": {f"{rate:g}": {"dropout": rate} for rate in (0.2, 0.5)},
    "fewer units": {f"{units}": {"hidden": units} for units in (32,)},
    "more data": {f"{times} times": {"times": times} for times in (4, 32)},
}
"""Remedy -> strength -> what it changes."""


@recipe(15)
def cook_overfitting(run: Run) -> None:
    """A window model on 12,000 characters: weight decay, dropout, fewer units, more data, early stopping."""
    steps = run.size(STEPS, 24)
    found: dict[str, dict[str, Any]] = {}
    for remedy, strengths in REMEDIES.items():
        for strength, change in strengths.items():
            here = data(run, CHARACTERS * change.get("times", 1))
            found.setdefault(remedy, {})[strength] = over_seeds(
                run,
                f"{remedy} {strength}".strip(),
                found=here,
                steps=steps,
                optimiser=partial(adam, decay=change.get("decay", 0.0)),
                build=partial(network, hidden=change.get("hidden", HIDDEN), dropout=change.get("dropout", 0.0)),
                watch=("train", "dev", "test"),
                points=POINTS,
            )
    results = {remedy: chosen(by) for remedy, by in found.items()}
    results["early stopping"] = stopped_early(found["nothing"][""])
    run.save_result(
        "overfitting",
        {
            "question": "What helps a small network that overfits 5,000 characters of Shakespeare?",
            "how": f"nats per character; window model, one hidden layer of {HIDDEN}, Adam at {RATE:g}, {steps} steps of"
            f" 64 on {CHARACTERS:,} characters; five seeds; strengths chosen on dev plays; ±: 95 % interval of the mean",
            "steps": steps,
            "points": [i * (steps // POINTS) for i in range(POINTS + 1)],
            "results": results,
            "curves": {
                remedy: {strength: row["curve"] for strength, row in by.items()} for remedy, by in found.items()
            },
            "what_it_shows": said(results, "{row}: test {test!i}"),
        },
    )


def chosen(by: dict[str, Any]) -> dict[str, Any]:
    """The strength that dev prefers, at the end of training."""
    strength = min(by, key=lambda key: mean_interval(by[key]["dev"])[0])
    ends = {part: [seed[-1] for seed in by[strength]["curve"][part]] for part in ("train", "dev", "test")}
    return {"strength": strength, **ends}


def stopped_early(row: dict[str, Any]) -> dict[str, Any]:
    """The untreated runs, each as it was where its dev loss was lowest."""
    curve = row["curve"]
    at = [values.index(min(values)) for values in curve["dev"]]
    ends = {part: [values[i] for values, i in zip(curve[part], at, strict=True)] for part in ("train", "dev", "test")}
    return {"strength": "", "at": at, **ends}


ACTIVATIONS: dict[str, type[nn.Module]] = {"ReLU": nn.ReLU, "GELU": nn.GELU, "tanh": nn.Tanh}
MANY, SEED_STEPS = 16, 250


def with_activation(vocab_size: int, activation: type[nn.Module]) -> nn.Sequential:
    """The same network, its activation function exchanged."""
    layers = [activation() if isinstance(layer, nn.ReLU) else layer for layer in network(vocab_size)]
    return nn.Sequential(*layers)


@recipe(4)
def cook_seeds(run: Run) -> None:
    """ReLU, GELU and tanh with 30 seeds each: how many does a claim need?."""
    found = data(run)
    test = {}
    for i, (name, activation) in enumerate(ACTIVATIONS.items()):
        row = over_seeds(
            run,
            f"activation {name}",
            MANY,
            first=i * MANY,
            found=found,
            steps=run.size(SEED_STEPS, 4),
            optimiser=adam,
            build=partial(with_activation, activation=activation),
            points=1,
        )
        test[name] = row["test"]
    apart = {f"{a} − {b}": difference(test[a], test[b]) for a, b in combinations(test, 2)}
    run.save_result(
        "seeds",
        {
            "question": "How many seeds does it take to tell two activation functions apart?",
            "how": f"nats per character on test plays after {SEED_STEPS} steps of 64, Adam at {RATE:g}; window model, one"
            f" hidden layer of {HIDDEN}; {MANY} seeds each, all different",
            "test": test,
            "differences": apart,
            "what_it_shows": said(apart, "{row} {mean:+.4f} ± {half:.4f}"),
        },
    )


def difference(a: list[float], b: list[float]) -> dict[str, float]:
    """Mean difference of two independent samples of equal size, and half its 95 % interval (Welch 1947)."""
    (mean_a, half_a), (mean_b, half_b) = mean_interval(a), mean_interval(b)
    return {"mean": round(mean_a - mean_b, 5), "half": round((half_a**2 + half_b**2) ** 0.5, 5)}
