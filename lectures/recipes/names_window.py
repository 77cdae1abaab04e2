"""Figure: the next letter of a first name from the last three, by Bengio's network and by counting.

Three trainings of the network, from the short one of the lecture to a proper one, against n-grams with Kneser–Ney
smoothing. Both see the same letters; a blank stands before the beginning and for the end. The network is measured
with five seeds; counting has no seed. The settings were chosen on the development names, and nothing on the test names.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.ngram import NGramLM
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.run import Run, parameters, recipe
from lectures.recipes.texts import BOS, EOS

SYMBOLS, WINDOW, ORDERS, SEEDS, LEARNING_RATE = 27, 3, (2, 3, 4), 5, 0.01


@dataclass(frozen=True)
class Setting:
    """One way to train the network."""

    d_embedding: int
    d_hidden: int
    steps: int
    decays: bool
    """The learning rate falls to 0 along a cosine; otherwise it stays."""
    weight_decay: float = 0.0
    batch: int = 128


SETTINGS = {
    "1,500 steps": Setting(8, 64, 1500, False),
    "6,000 steps, decaying rate": Setting(8, 64, 6000, True),
    "the same, wider": Setting(16, 256, 6000, True, 0.1, 256),
}


def windows(names: list[str]) -> tuple[Tensor, Tensor]:
    """Every window of three symbols (a is 1, blank is 0), and the symbol that follows."""
    rows = [[0] * WINDOW + [ord(letter) - 96 for letter in name.lower()] + [0] for name in names]
    inputs = [row[i : i + WINDOW] for row in rows for i in range(len(row) - WINDOW)]
    return torch.tensor(inputs), torch.tensor([symbol for row in rows for symbol in row[WINDOW:]])


def network(setting: Setting) -> nn.Module:
    """softmax(tanh(x V + b₁) W + b₂), x the embeddings of the window side by side."""
    x = nn.Sequential(nn.Embedding(SYMBOLS, setting.d_embedding), nn.Flatten())
    hidden = nn.Linear(WINDOW * setting.d_embedding, setting.d_hidden)
    return nn.Sequential(*x, hidden, nn.Tanh(), nn.Linear(setting.d_hidden, SYMBOLS))


def batches(inputs: Tensor, following: Tensor, batch: int, seed: int, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
    """All windows, in another order each epoch."""
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(seed + epoch))
    return ((inputs[rows], following[rows]) for rows in order.split(batch))


def surprise(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


@torch.no_grad()
def perplexity_of(model: nn.Module, inputs: Tensor, following: Tensor) -> float:
    return round(surprise(model, (inputs, following)).exp().item(), 3)


def counted(names: dict[str, list[str]], order: int) -> float:
    """Perplexity per letter of an n-gram with Kneser–Ney smoothing on the test names."""
    ids = {part: [[BOS, *(ord(c) - 94 for c in name.lower()), EOS] for name in of] for part, of in names.items()}
    ngram = NGramLM(order, 30, "kneser_ney").fit(ids["train"])
    nats = [-ngram.log_probabilities(torch.tensor([name]))[0, 1:].double() for name in ids["test"]]
    return round(torch.cat(nats).mean().exp().item(), 3)


@recipe(2)
def cook(run: Run) -> None:
    corpus = load("names", kind="first")
    names = {part: [d.text for d in of][: run.size(None, 100)] for part, of in corpus.splits.items()}
    data = {part: windows(of) for part, of in names.items()}
    rows: dict[str, dict[str, Any]] = {}
    for title, setting in SETTINGS.items():
        steps = run.size(setting.steps, 3)
        row: dict[str, Any] = {"train": [], "valid": [], "test": []}
        for seed in range(run.size(SEEDS, 2)):
            name = f"{title}-{seed}".replace(", ", "-").replace(",", "").replace(" ", "-")
            model = run.build(name, partial(network, setting))
            run.fit(
                name,
                model,
                partial(batches, *data["train"], setting.batch, run.seed_of(name) % 2**31),
                warm_up=0 if setting.decays else None,
                loss=surprise,
                steps=steps,
                learning_rate=LEARNING_RATE,
                weight_decay=setting.weight_decay,
                checkpoint_every=2000,
            )
            for part, values in row.items():
                values.append(perplexity_of(model, *data[part]))
            run.say(f"{name}: perplexity {row['test'][-1]}")
        rows[title] = {"parameters": parameters(model), **row}
    grams = {str(order): counted(names, order) for order in ORDERS}
    run.save_result(
        "names_window",
        {
            "question": "The next letter of a name from the last three: a network, trained briefly and properly,"
            " against counts.",
            "task": f"{len(names['train']):,} first names to learn from, {len(names['test'])} test names of together"
            f" {len(data['test'][1]):,} letters and ends; perplexity per letter; AdamW at {LEARNING_RATE}, batches"
            " of 128, of the wider network 256",
            "network": rows,
            "network_is": "one value per seed",
            "ngram": grams,
            "what_it_shows": "test perplexity, lowest to highest seed: "
            + ", ".join(f"{title} {min(row['test']):.2f} to {max(row['test']):.2f}" for title, row in rows.items())
            + f"; the 4-gram {grams['4']:.2f}",
        },
    )
