"""Figure: does it help a plain recurrent network to start with a gradient that arrives? Copying after a delay, by how U
was drawn.

The task and the training are those of `memory`, the cell its RNN; only the first value of the recurrent matrix differs:

    uniform      ±1/√hidden, as in torch.nn; its spectral radius is about 1/√3
    orthogonal   every length is kept (Saxe, McClelland & Ganguli 2014)
    identity     every unit keeps itself (Le, Jaitly & Hinton 2015)

Departs from the papers: tanh units, where Le et al. use rectified linear ones.
"""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lectures.recipes.memory import VOCAB, copying_accuracy, epoch_of_copying, relative_gradients
from lectures.recipes.recipe import Recipe, Run, table
from nlmcore.recurrent import RecurrentLM

DRAWN = {"uniform": lambda U: U, "orthogonal": nn.init.orthogonal_, "identity": nn.init.eye_}
"""name -> what fills the recurrent matrix (in place)."""


def fresh(hidden: int, initialisation: str) -> nn.Module:
    model = RecurrentLM(VOCAB, "rnn", hidden, d_hidden=hidden)
    U: Any = model.recurrent.cells[0].weight_hh
    with torch.no_grad():
        DRAWN[initialisation](U)
    return model


def log10_norms(model: Any, distance: int, texts: int, seed: int) -> list[float]:
    """Of the gradient at distance d over that at distance 0; geometric mean over texts."""
    logs: Tensor = relative_gradients(model, distance, texts, torch.Generator().manual_seed(seed))
    return [round(value / math.log(10), 3) for value in logs.mean(dim=0).tolist()]


def cook(run: Run) -> None:
    hidden, batch, steps = run.size(64, 8), 64, run.size(1500, 4)
    delays, distance, texts = run.size([10, 20, 40, 80], [3]), run.size(100, 12), run.size(32, 3)
    accuracy: dict[str, dict[str, float]] = {}
    gradients: dict[str, list[float]] = {}
    for name in DRAWN:
        accuracy[name] = {}
        for delay in delays:
            label = f"copy-{name}-{delay}"
            model: Any = run.build(label, partial(fresh, hidden, name))
            if delay == delays[0]:
                gradients[name] = log10_norms(model, distance, texts, run.seed_of("texts"))
            batches = partial(epoch_of_copying, delay, batch, 100, run.seed_of(label))
            settings = {"drawn": name, "hidden": hidden, "delay": delay, "steps": steps, "batch": batch}
            run.fit(label, model, batches, settings, steps=steps, learning_rate=3e-3, checkpoint_every=500)
            accuracy[name][str(delay)] = round(copying_accuracy(model, delay), 4)
            run.say(f"{label}: {accuracy[name][str(delay)]:.1%} of symbols right")
    rows = [[name, *(f"{by[str(d)]:.1%}" for d in delays)] for name, by in accuracy.items()]
    run.say("\nSymbols copied right after a delay (chance 12.5%)\n" + table(["recurrent matrix", *delays], rows))
    run.save_result(
        "initialisation",
        {
            "question": "Does a plain recurrent network remember longer if its recurrent matrix starts orthogonal?",
            "d_hidden": hidden,
            "copy_accuracy": accuracy,
            "copy_task": f"5 symbols of 8, then so many blanks, then write them; a plain RNN, {steps} steps of {batch}"
            " fresh texts, one seed; AdamW at 0.003, clipped at 1; chance is 0.125",
            "gradient_log10": gradients,
            "gradient_is": "log10 of the norm at distance d over that at distance 0, at initialisation; geometric mean",
            "what_it_shows": f"right after {delays[0]} blanks: "
            + ", ".join(f"{name} {by[str(delays[0])]:.0%}" for name, by in accuracy.items())
            + f"; after {delays[-1]}: "
            + ", ".join(f"{name} {by[str(delays[-1])]:.0%}" for name, by in accuracy.items()),
        },
    )


RECIPE = Recipe(
    "initialisation",
    "copying after a delay by a plain RNN, its recurrent matrix uniform, orthogonal or the identity",
    ("result:initialisation",),
    5,
    cook,
)
