"""Figure: does capacity follow the number of parameters, whatever the cell? Memorising, and characters of Shakespeare.

Collins, Sohl-Dickstein & Sussillo (2016) find about 5 bits per parameter for every architecture that is trained well
enough, so that what distinguishes cells is how easily they are trained. Two measurements at matched parameter counts:

1. Memorising. N random sequences of 5 symbols out of 16, each with a random label, 0 or 1; the last state classifies.
   A network that labels a share p of them right has stored N (1 − H(p)) bits, H the entropy of a coin with that bias.
   N is 5 times the number of parameters.
2. Characters of Shakespeare: perplexity per character on the dev plays after the same number of steps.

Departs from the paper: theirs tunes every cell's hyperparameters at length on many machines; here all cells get the
same few minutes, so a cell that learns slowly shows less than it could hold.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from nlmcore.metrics import perplexity
from nlmcore.recurrent import RecurrentLM, SequenceClassifier
from nlmcore.tokens import CharTokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.run import Run, parameters, recipe
from lectures.recipes.texts import Stream, as_document, in_rows, plays

CELLS = {"rnn": "RNN", "ugrnn": "UGRNN", "gru": "GRU", "lstm": "LSTM"}
CHARACTER_STEPS = 600
SYMBOLS, LENGTH, LABELS_PER_PARAMETER = 16, 5, 5


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
    """Bits per parameter that this cell has stored after its training."""

    def build(hidden: int) -> SequenceClassifier:
        return SequenceClassifier(SYMBOLS, 2, cell, 8, hidden)

    hidden, steps = matched(build, wanted), run.size(4000, 4)
    size = parameters(build(hidden))
    name = f"memorise-{cell}-{wanted}"
    facts = Facts(LABELS_PER_PARAMETER * size, 512, run.seed_of(str(wanted)))
    model: Any = run.build(name, lambda: build(hidden))
    run.fit(name, model, facts, loss=label_loss, steps=steps, learning_rate=1e-2, warm_up=50, checkpoint_every=2000)
    sequences, labels = facts.all()
    with torch.no_grad():
        right = float((model(sequences).argmax(-1) == labels).float().mean())
    bits = stored_bits(right, facts.count)
    run.say(f"{name}: {right:.1%} of {facts.count:,} right, {bits / size:.2f} bits per parameter")
    return {
        "hidden": hidden,
        "parameters": size,
        "labels": facts.count,
        "right": round(right, 4),
        "bits_per_parameter": round(bits / size, 3),
    }


def characters(run: Run, cell: str, wanted: int, stream: Stream, dev: Tensor, vocab_size: int) -> dict[str, Any]:
    """Perplexity per character after so many steps."""

    def build(hidden: int) -> RecurrentLM:
        return RecurrentLM(vocab_size, cell, 32, hidden)

    hidden, steps = matched(build, wanted), run.size(CHARACTER_STEPS, 3)
    name = f"characters-{cell}-{wanted}"
    model: Any = run.build(name, lambda: build(hidden))
    run.fit(name, model, stream, steps=steps, learning_rate=4e-3, warm_up=50, carry_state=True)
    value = round(perplexity(model, dev, ignore=0), 3)
    run.say(f"{name}: perplexity per character {value}")
    return {"hidden": hidden, "parameters": parameters(model), "perplexity": value}


@recipe(6)
def cook(run: Run) -> None:
    memory_sizes, character_sizes = run.size([500, 1000, 2000], [300]), run.size([20_000, 60_000, 180_000], [3000])
    stored = {cell: {str(size): memorise(run, cell, size) for size in memory_sizes} for cell in CELLS}

    shakespeare = plays(limit=run.size(None, 2000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    stream = Stream([as_document(tokenizer.encode(text)) for text in shakespeare.train], run.size(32, 4), 50, 20)
    dev = in_rows([as_document(tokenizer.encode(text[: run.size(60_000, 200)])) for text in shakespeare.dev])
    gated = [cell for cell in CELLS if cell != "rnn"]
    written = {
        cell: {str(size): characters(run, cell, size, stream, dev, tokenizer.vocab_size) for size in character_sizes}
        for cell in gated
    }
    split = shakespeare.split
    run.save_result(
        "capacity",
        {
            "question": "Does capacity follow the number of parameters, whatever the cell? (Collins et al. 2016)",
            "cells": CELLS,
            "memorising": stored,
            "memorising_is": f"bits stored about random labels of random sequences of {LENGTH} symbols of {SYMBOLS},"
            " 5 labels per parameter, 4,000 steps of up to 512, AdamW at 0.01 with a cosine; one seed",
            "characters": written,
            "characters_are": f"perplexity per character, dev plays, {CHARACTER_STEPS} steps of 32 times 50; one seed",
            "split": split,
            "what_it_shows": shown(stored, written),
        },
    )


def shown(stored: dict, written: dict) -> str:
    """How far apart the cells are at equal size, beside how far apart the sizes are."""
    sizes = list(next(iter(stored.values())))
    apart = max(
        max(row[size]["bits_per_parameter"] for row in stored.values())
        / max(1e-9, min(row[size]["bits_per_parameter"] for row in stored.values()))
        for size in sizes
    )
    sizes = list(next(iter(written.values())))
    between_cells = max(
        max(row[size]["perplexity"] for row in written.values())
        / min(row[size]["perplexity"] for row in written.values())
        for size in sizes
    )
    between_sizes = max(row[sizes[0]]["perplexity"] / row[sizes[-1]]["perplexity"] for row in written.values())
    return (
        f"at equal size, bits per parameter differ between cells by a factor of up to {apart:.2f}; perplexity by up to"
        f" {between_cells:.3f} between gated cells, and by up to {between_sizes:.3f} between sizes"
    )
