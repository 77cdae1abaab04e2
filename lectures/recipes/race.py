"""Figure: which cell learns first to copy five symbols after ten blanks? The same short training, five seeds each.

The task is that of `memory`. All runners get the same width, batches, optimiser and number of steps; a seed changes the
initial weights and the texts. The LSTM runs twice: with its forget gates' bias at 1, the default (Jozefowicz, Zaremba &
Sutskever 2015), and at 3. The plain RNN runs three times: its recurrent matrix starts uniform, the default, orthogonal
(Saxe, McClelland & Ganguli 2014), or as the identity (Le, Jaitly & Hinton 2015, there with ReLU). Two controls change
only the scale of a matrix: the orthogonal one divided by √3, to about the spectral radius of the uniform one, and the
uniform one divided by its own, to the radius of the orthogonal one, 1. What is stored is the share of symbols written right on 512 texts
that no training used.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from nlmcore.diagnostics import rescale
from nlmcore.recurrent import LSTMCell, RecurrentLM
from torch import nn

from lectures.recipes.memory import LENGTH, SYMBOLS, VOCAB, copying_accuracy, epoch_of_copying, fresh, log10_norms
from lectures.recipes.run import Run, recipe

STEPS, EVERY, DELAY, HIDDEN, BATCH, LEARNING_RATE = 250, 10, 10, 48, 32, 0.01
SEEDS = 5


def with_forget_bias(bias: float) -> Any:
    """Builds an LSTM cell whose forget gate starts at σ(bias)."""

    def build(input_size: int, d_hidden: int) -> LSTMCell:
        cell = LSTMCell(input_size, d_hidden)
        torch.nn.init.constant_(cell.bias_ih[d_hidden : 2 * d_hidden], bias)
        return cell

    return build


def usual(cell: Any) -> Callable[[int], nn.Module]:
    """hidden -> a model with this cell, initialised as usual."""
    return lambda hidden: RecurrentLM(VOCAB, cell, hidden, d_hidden=hidden)


def scaled(initialisation: str, radius: float) -> Callable[[int], nn.Module]:
    """hidden -> a plain network whose recurrent matrix starts so, scaled to a spectral radius."""

    def build(hidden: int) -> Any:
        model: Any = fresh(hidden, initialisation)
        U = model.recurrent.cells[0].weight_hh
        with torch.no_grad():
            U.copy_(rescale(U, radius))
        return model

    return build


RUNNERS: dict[str, Callable[[int], nn.Module]] = {
    "RNN": usual("rnn"),
    "UGRNN": usual("ugrnn"),
    "GRU": usual("gru"),
    "LSTM, bias 1": usual("lstm"),
    "LSTM, bias 3": usual(with_forget_bias(3.0)),
    "RNN, orthogonal": lambda hidden: fresh(hidden, "orthogonal"),
    "RNN, identity": lambda hidden: fresh(hidden, "identity"),
    "RNN, orthogonal / √3": scaled("orthogonal", 3**-0.5),
    "RNN, uniform, radius 1": scaled("uniform", 1),
}
"""The last four are plain networks whose recurrent matrix starts otherwise (see `memory`)."""


@recipe(2)
def cook(run: Run) -> None:
    steps, every, hidden = run.size(STEPS, 4), run.size(EVERY, 2), run.size(HIDDEN, 6)
    delay, seeds = run.size(DELAY, 2), run.size(SEEDS, 2)
    right: dict[str, list[list[float]]] = {name: [] for name in RUNNERS}
    gradients: dict[str, list[list[float]]] = {name: [] for name in RUNNERS}
    for seed in range(seeds):
        for name, build in RUNNERS.items():
            label = re.sub(r"\W+", "-", f"race-{name}-{seed}".lower().replace("/ √3", "shrunk"))
            model: Any = run.build(label, partial(build, hidden))
            gradients[name].append(log10_norms(model, delay + LENGTH, run.size(32, 3), run.seed_of("texts")))
            history = run.fit(
                label,
                model,
                partial(epoch_of_copying, delay, BATCH, 100, run.seed_of(f"texts {seed}") % 2**31),
                steps=steps,
                learning_rate=LEARNING_RATE,
                validation=lambda m: copying_accuracy(m, delay, run.size(512, 8)),
                evaluate_every=every,
                keep_best=False,
            )
            right[name].append([round(share, 4) for share in history.validation.values()])
            run.say(f"{label}: {right[name][-1][-1]:.1%} of symbols right")
    run.save_result(
        "race",
        {
            "question": "Which cell learns first to copy five symbols after ten blanks?",
            "task": f"{LENGTH} symbols of {SYMBOLS}, then {delay} blanks, then write them; {steps} steps of {BATCH}"
            f" fresh texts, width {hidden}, AdamW at {LEARNING_RATE}, clipped at 1; {seeds} seeds; chance is"
            f" {1 / SYMBOLS:.1%}",
            "steps": list(range(every, steps + 1, every)),
            "right": right,
            "right_is": "share of symbols written right on 512 texts that no training used, one list per seed",
            "gradient_log10": gradients,
            "gradient_is": "log10 of the norm of the gradient at distance d over that at distance 0, before training;"
            " one list per seed",
            "what_it_shows": f"right after {steps} steps, lowest to highest of {seeds} seeds: "
            + ", ".join(f"{name} {low:.0%} to {high:.0%}" for name, (low, high) in ends(right).items()),
        },
    )


def ends(right: dict[str, list[list[float]]]) -> dict[str, tuple[float, float]]:
    """Of each runner's seeds, the lowest and the highest share at the end."""
    last = {name: [curve[-1] for curve in curves] for name, curves in right.items()}
    return {name: (min(shares), max(shares)) for name, shares in last.items()}
