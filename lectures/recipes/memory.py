"""Figures: how far back does a cell remember, and does it help to start with a gradient that arrives?

1. ‖∂L_T/∂h_{T-d}‖ / ‖∂L_T/∂h_T‖ for d = 0, 1, 2, …: RNN, UGRNN, GRU, LSTM as they are initialised here, and again
   after they were trained on the copying task below with a delay of 10. Geometric means over texts and seeds; an
   LSTM's state is (h, c). Pascanu, Mikolov & Bengio (2013), section 2, say that it vanishes or explodes
   exponentially.

2. Copying after a delay. The network reads 5 symbols out of 8, then D blanks, then a signal, and must write the
   symbols. Same training for every cell and delay. Hochreiter & Schmidhuber (1997, section 5) introduced such tasks;
   this form is Arjovsky, Shah & Bengio's (2016, section 4.1) with 5 symbols for 10.

3. The same task and training for a plain RNN; only the initialisation of the recurrent matrix U differs:

    uniform      ±1/√hidden, as in torch.nn; its spectral radius is about 1/√3
    orthogonal   every length is kept (Saxe, McClelland & Ganguli 2014)
    identity     every unit keeps itself (Le, Jaitly & Hinton 2015)

Departs from the papers: in 3, tanh units, where Le et al. use rectified linear ones.
"""

import copy
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from nlmcore.diagnostics import gradient_norms
from nlmcore.recurrent import CELLS, RecurrentLM
from torch import Tensor, nn

from lectures.recipes.run import Run, recipe

SYMBOLS, LENGTH = 8, 5
BLANK, SIGNAL, VOCAB = SYMBOLS, SYMBOLS + 1, SYMBOLS + 2
CELL_NAMES = ("rnn", "ugrnn", "gru", "lstm")
TITLES = {"rnn": "RNN", "ugrnn": "UGRNN", "gru": "GRU", "lstm": "LSTM"}


def copying_batch(delay: int, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """(tokens, targets, mask): after the signal, targets are the symbols read `delay` + 5 steps before.

    tokens   s₁ … s₅   blank × delay   signal × 5      (nothing that was written is read back)
    targets                            s₁ … s₅
    """
    symbols = torch.randint(SYMBOLS, (batch, LENGTH), generator=generator)
    blanks = torch.full((batch, delay), BLANK)
    signal = torch.full((batch, LENGTH), SIGNAL)
    tokens = torch.cat([symbols, blanks, signal], dim=1)
    targets = torch.zeros_like(tokens)
    targets[:, -LENGTH:] = symbols
    mask = torch.zeros_like(tokens, dtype=torch.bool)
    mask[:, -LENGTH:] = True
    return tokens, targets, mask


def epoch_of_copying(delay: int, batch: int, count: int, seed: int, epoch: int) -> Iterator[tuple]:
    """`count` fresh batches; the same ones for the same seed and epoch."""
    generator = torch.Generator().manual_seed(seed + epoch)
    return (copying_batch(delay, batch, generator) for _ in range(count))


@torch.no_grad()
def copying_accuracy(model: nn.Module, delay: int, texts: int = 512, seed: int = 999_983) -> float:
    """Share of the symbols that are written right."""
    tokens, targets, mask = copying_batch(delay, texts, torch.Generator().manual_seed(seed))
    logits, _ = model(tokens)
    return float((logits.argmax(-1) == targets)[mask].float().mean())


def relative_gradients(model: RecurrentLM, distance: int, texts: int, generator: torch.Generator) -> Tensor:
    """ln ‖∂L/∂state_{T-d}‖ − ln ‖∂L/∂state_T‖ for d = 0 … distance, (texts, distance + 1)."""
    tokens = torch.randint(SYMBOLS, (texts, distance + 1), generator=generator)
    tokens[:, :-1].masked_fill_(torch.rand(texts, distance, generator=generator) < 0.8, BLANK)  # mostly waiting
    precise = copy.deepcopy(model).double()  # in single precision an RNN's gradient is 0 after some 80 steps
    with torch.no_grad():
        inputs = precise.embedding(tokens)
    norms = gradient_norms(precise.recurrent.cells[0], inputs).state.clamp(min=1e-300).log()
    return norms.flip(1) - norms[:, -1:]


def shown(accuracy: dict[str, dict[int, float]], delays: list[int]) -> str:
    """The longest delay that each cell learned, in words."""
    learned = {cell: max((d for d in delays if row[d] > 0.9), default=0) for cell, row in accuracy.items()}
    return "longest delay with more than 90 % right: " + ", ".join(
        f"{TITLES[c]} {d or 'none'}" for c, d in learned.items()
    )


@recipe(7)
def cook(run: Run) -> None:
    hidden, batch = run.size(64, 8), 64
    steps, delays = run.size(1500, 4), run.size([5, 10, 20, 40, 80], [3])
    distance, seeds = run.size(100, 12), run.size(5, 2)
    trained_on = delays[min(1, len(delays) - 1)]
    accuracy: dict[str, dict[int, float]] = {}
    gradients: dict[str, dict[str, list[float]]] = {"at initialisation": {}, "trained to copy": {}}

    def measured(models: list[RecurrentLM]) -> list[float]:
        generator = torch.Generator().manual_seed(run.seed_of("texts"))
        logs = torch.cat([relative_gradients(model, distance, run.size(32, 3), generator) for model in models])
        return [round(value / math.log(10), 3) for value in logs.mean(dim=0).tolist()]

    for cell in CELL_NAMES:
        fresh = [
            run.build(f"{cell} {i}", partial(RecurrentLM, VOCAB, cell, hidden, d_hidden=hidden)) for i in range(seeds)
        ]
        gradients["at initialisation"][cell] = measured(fresh)  # type: ignore[arg-type]
        accuracy[cell] = {}
        for delay in delays:
            name = f"copy-{cell}-{delay}"
            model: Any = run.build(name, partial(RecurrentLM, VOCAB, cell, hidden, d_hidden=hidden))
            batches = partial(epoch_of_copying, delay, batch, 100, run.seed_of(name))
            run.fit(name, model, batches, steps=steps, learning_rate=3e-3, checkpoint_every=500)
            accuracy[cell][delay] = round(copying_accuracy(model, delay), 4)
            if delay == trained_on:
                gradients["trained to copy"][cell] = measured([model])
            run.say(f"{name}: {accuracy[cell][delay]:.1%} of symbols right")

    run.save_result(
        "memory",
        {
            "question": "How far back does a cell remember? Gradient norms against distance; copying after a delay.",
            "cells": TITLES,
            "d_hidden": hidden,
            "gradient_log10": gradients,
            "gradient_is": "log10 of the norm at distance d over that at distance 0, d = 0, 1, …; geometric mean over"
            f" texts, at initialisation also over {seeds} seeds; trained: on copying after {trained_on} blanks",
            "copy_accuracy": {cell: {str(d): value for d, value in row.items()} for cell, row in accuracy.items()},
            "copy_task": f"{LENGTH} symbols of {SYMBOLS}, then so many blanks, then write them; {steps} steps of"
            f" {batch} fresh texts, one seed; AdamW at 0.003, clipped at 1; chance is {1 / SYMBOLS}",
            "what_it_shows": shown(accuracy, delays),
            "parameters": {
                cell: sum(p.numel() for p in RecurrentLM(VOCAB, cell, hidden, d_hidden=hidden).parameters())
                for cell in CELLS
            },
        },
    )


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


@recipe(5)
def cook_initialisation(run: Run) -> None:
    """Copying after a delay by a plain RNN, its recurrent matrix uniform, orthogonal or the identity."""
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
            run.fit(label, model, batches, steps=steps, learning_rate=3e-3, checkpoint_every=500)
            accuracy[name][str(delay)] = round(copying_accuracy(model, delay), 4)
            run.say(f"{label}: {accuracy[name][str(delay)]:.1%} of symbols right")
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
