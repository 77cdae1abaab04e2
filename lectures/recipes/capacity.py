"""Figure: does capacity follow the number of parameters, whatever the cell? Memorising, and characters of Shakespeare.

Collins, Sohl-Dickstein & Sussillo (2016) find about 5 bits per parameter for every architecture that is trained well
enough, so that what distinguishes cells is how easily they are trained. Two measurements at matched parameter counts:

1. Memorising. N random sequences of 5 symbols out of 16, each with a random label, 0 or 1; the last state classifies.
   A network that labels a share p of them right has stored N (1 − H(p)) bits, H the entropy of a coin with that bias.
   N is 5 times the number of parameters. Other sequences, labels and first weights for each seed.
2. Characters of Shakespeare: nats per character of the test plays after the same number of steps.

The rate is chosen for each cell and size: with a seed of its own when memorising, on the dev plays for characters.

Departs from the paper: theirs tunes every cell's hyperparameters at length on many machines; here all cells get the
same few minutes and only the rate is tuned, so a cell that learns slowly shows less than it could hold.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from nlmcore.metrics import perplexity
from nlmcore.recurrent import RecurrentLM, SequenceClassifier
from nlmcore.tokens import CharTokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.experiment import Experiment, Setting, Task, best_rate, columns, gap, said
from lectures.recipes.run import Run, parameters, recipe
from lectures.recipes.texts import Stream, as_document, in_rows, plays
from lectures.recipes.tied import loss

CELLS = {"rnn": "RNN", "ugrnn": "UGRNN", "gru": "GRU", "lstm": "LSTM"}
SYMBOLS, LENGTH, LABELS_PER_PARAMETER, EMBEDDING, TIME, HELD = 16, 5, 5, 8, 64, 20_000
MEMORISING = Setting(4000, 512, (3e-3, 1e-2, 3e-2), name="{row}-{rate:g}-{seed}", choose=("bits", max), quick=(4, 16))
CHARACTERS = Setting(600, 32, (3e-3, 1e-2, 3e-2), name="{row}-{rate:g}-{seed}", choose=("dev", min), quick=(3, 4))


def matched(build: Callable[[int], nn.Module], wanted: int) -> int:
    """The hidden size whose parameter count is nearest to `wanted`."""
    size = 1
    while parameters(build(size + 1)) <= wanted:
        size += 1
    return min((size, size + 1), key=lambda s: abs(parameters(build(s)) - wanted))


@dataclass(frozen=True)
class Facts:
    """Random sequences with random labels; called with an epoch, all of them in another order."""

    count: int
    batch: int
    seed: int

    def all(self) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        codes = torch.randperm(SYMBOLS**LENGTH, generator=generator)[: self.count]  # no sequence twice
        digits = torch.stack([codes // SYMBOLS**k % SYMBOLS for k in range(LENGTH)], dim=1)
        return digits, torch.randint(2, (self.count,), generator=generator)

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        sequences, labels = self.all()
        order = torch.randperm(self.count, generator=torch.Generator().manual_seed(self.seed + 1 + epoch))
        for start in range(0, self.count, self.batch):
            here = order[start : start + self.batch]
            yield sequences[here], labels[here]


def label_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


def stored_bits(right: float, count: int) -> float:
    """N (1 − H(p)): what `count` labels tell, if a share `right` of them is known."""
    if right <= 0.5:
        return 0.0
    entropy = 0.0 if right == 1 else -right * math.log2(right) - (1 - right) * math.log2(1 - right)
    return count * (1 - entropy)


def memorise(run: Run, cell: str, wanted: int) -> dict[str, Any]:
    """Bits per parameter that this cell has stored after its training, at the rate that is best with a seed that is not
    reported."""

    def build(hidden: int) -> SequenceClassifier:
        return SequenceClassifier(SYMBOLS, 2, cell, EMBEDDING, hidden)

    hidden = matched(build, wanted)
    size = parameters(build(hidden))

    def one(seed: int, rate: float) -> dict[str, Any]:
        count = LABELS_PER_PARAMETER * size
        sequences, labels = Facts(count, count, run.seed_of(f"{wanted}-{seed}")).all()

        def measure(model: nn.Module) -> dict[str, float]:
            with torch.no_grad():
                right = float((model(sequences).argmax(-1) == labels).float().mean())
            return {"right": round(right, 4), "bits": round(stored_bits(right, count) / size, 3)}

        task = Task(lambda batch, _: Facts(count, batch, run.seed_of(f"{wanted}-{seed}")), label_loss, measure)
        return Experiment(run, task, MEMORISING).one(f"memorise-{cell}-{wanted}", partial(build, hidden), seed, rate)

    rates = run.size(MEMORISING.rates, MEMORISING.rates[:1])
    rate, _ = best_rate(rates, partial(one, 0), *MEMORISING.choose)
    found = columns([one(seed, rate) for seed in range(1, 1 + run.size(MEMORISING.seeds, 2))])
    run.say(f"{cell}, {size} parameters: {found['bits']} bits per parameter at {rate:g}")
    return {"hidden": hidden, "rate": rate, **found}


def character_task(run: Run) -> Task:
    shakespeare = plays(limit=run.size(None, 2000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    train, dev, test = (
        [as_document(tokenizer.encode(text))[:longest] for text in texts]
        for texts, longest in ((shakespeare.train, None), (shakespeare.dev, HELD), (shakespeare.test, HELD))
    )
    held = {"dev": in_rows(dev), "test": in_rows(test)}

    def measure(model: Any) -> dict[str, float]:
        return {part: round(math.log(perplexity(model, rows, ignore=0, chunk=500)), 4) for part, rows in held.items()}

    return Task(
        lambda batch, _: Stream(train, batch, run.size(TIME, 20)),
        loss,
        measure,
        f"× {TIME} characters",
        tokenizer.vocab_size,
    )


@recipe(40)
def cook(run: Run) -> None:
    memory_sizes, character_sizes = run.size([500, 1000, 2000], [300]), run.size([20_000, 60_000], [3000])
    stored = {cell: {str(size): memorise(run, cell, size) for size in memory_sizes} for cell in CELLS}
    task = character_task(run)

    def build(cell: str, hidden: int) -> RecurrentLM:
        return RecurrentLM(task.vocab_size, cell, 32, hidden)

    written = {
        cell: {
            str(size): Experiment(run, task, CHARACTERS).at_best_rate(
                f"characters-{cell}-{size}", partial(build, cell, matched(partial(build, cell), size))
            )
            for size in character_sizes
        }
        for cell in CELLS
    }
    run.save_result(
        "capacity",
        {
            "question": "Does capacity follow the number of parameters, whatever the cell? (Collins et al. 2016)",
            "cells": CELLS,
            "memorising": stored,
            "memorising_is": f"bits stored about random labels of random sequences of {LENGTH} symbols of {SYMBOLS},"
            f" {LABELS_PER_PARAMETER} labels per parameter; {MEMORISING.words('sequences')}, rates bracketed with a seed"
            " that is not reported; one value per seed",
            "characters": written,
            "characters_are": f"nats per character of the first {HELD:,} of each play; {CHARACTERS.words(task.what)}, rates"
            " bracketed on dev plays with the first seed; one value per seed",
            "less than LSTM": {
                "memorising": beside_lstm(stored, "bits"),
                "characters": beside_lstm(written, "test"),
            },
            "less_is": "each cell less the LSTM, seed by seed: the mean and half its 95 % interval",
            "what_it_shows": "; ".join(
                f"{CELLS[cell]}: {said(stored[cell], '{bits!m:.2f}', ', ')} bits per parameter,"
                f" {said(written[cell], '{test!m:.3f}', ', ')} nats per character"
                for cell in CELLS
            ),
        },
    )


def beside_lstm(found: dict[str, Any], measure: str) -> dict[str, dict[str, list[float]]]:
    return {
        cell: {size: [round(x, 4) for x in gap(of[measure], found["lstm"][size][measure])] for size, of in rows.items()}
        for cell, rows in found.items()
        if cell != "lstm"
    }
