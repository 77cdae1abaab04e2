"""Figures: an encoder whose attention is replaced by something simpler, on a text task and on an image task; five seeds.

    attention       softmax(Q Kᵀ / √d_head) V                       Vaswani et al. (2017)
    MLP-Mixer       a small network over positions, trained         Tolstikhin et al. (2021)
    linear mixing   one matrix over positions, trained              Lee-Thorp et al. (2022), "Linear", without its matrix
                                                                    over features, which the feed-forward network has
    FNet            the Fourier transform: nothing to train         Lee-Thorp et al. (2022)
    random mixing   one matrix over positions, not trained          there "Random"
    FNet, attention on top                                          there "FNet-Hybrid"
    no mixing       nothing: every position by itself               there "FF-only"

Everything else is the same in every row: sinusoids added to the input, three pre-norm layers, the learning rate.

1. **The hidden letter**, as in the recipe `positions`: a word with one letter hidden, `t _ e e`; which letter is it?
2. **Digits**: 8 × 8 points in 16 patches of 2 × 2, every patch through a matrix; the mean of the final vectors is classified.

Departs from the papers: narrow models and a minute of training; no pretraining.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from statistics import mean
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.positions import SinusoidalPositions
from nlmcore.transformer import MaskedLM, TransformerConfig
from nlmcore.variants.fnet import FourierMixing
from nlmcore.variants.mlp_mixer import TokenMixing
from nlmcore.variants.parts import in_encoder, stack_of_two_kinds
from nlmcore.variants.shapes import without_padding
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes import positions
from lectures.recipes.changes_of_2017 import Nothing
from lectures.recipes.run import Run, parameters, recipe

SEEDS, WIDTH, DEPTH, STEPS, BATCH, RATE, WARM_UP = 5, 32, 3, 250, 64, 4e-3, 50
SIDE, PATCHES = 2, 16
SETTINGS = f"{DEPTH} layers, d_model {WIDTH}, {STEPS} steps of {BATCH}, AdamW at {RATE:g} with a cosine"
TASKS = {"letters": "hidden letters named", "digits": "digits named"}
THEIRS = {
    "attention": 83.3,
    "linear mixing": 77.0,
    "FNet": 76.7,
    "FNet, attention on top": 80.6,
    "random mixing": 56.6,
    "no mixing": 49.3,
}
"""GLUE means of Lee-Thorp et al. (2022), base models; their hybrid has two layers of attention of twelve."""


class Mixing(nn.Module):
    """One matrix over positions, N(0, 1/n) at first; c: a TransformerConfig."""

    never_causal = "cannot hide the future: a row of the matrix reads every position"

    def __init__(self, c: Any, trained: bool = True) -> None:
        super().__init__()
        first = torch.randn(c.max_length, c.max_length) / math.sqrt(c.max_length)
        self.matrix = nn.Parameter(first, requires_grad=trained)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.matrix[: x.shape[1], : x.shape[1]] @ without_padding(x, mask)


class NoMixing(Nothing):
    """Nothing is added to a position."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(x)


def mixed(part: Any) -> dict[str, Any]:
    """The part of a configuration that mixes positions."""
    return {"attention": partial(in_encoder, part)}


def attention_on_top(c: Any, causal: bool, cross: bool) -> nn.Module:
    """Fourier transforms, and attention in the last layer."""
    fourier = replace(c, **mixed(FourierMixing))
    return stack_of_two_kinds(fourier, causal, cross, c, [c.n_layers - 1])


ROWS: dict[str, dict[str, Any]] = {
    "attention": {},
    "MLP-Mixer": mixed(TokenMixing),
    "linear mixing": mixed(Mixing),
    "FNet": mixed(FourierMixing),
    "FNet, attention on top": {"stack": attention_on_top},
    "random mixing": mixed(partial(Mixing, trained=False)),
    "no mixing": mixed(lambda c: NoMixing()),
}


def config(row: str, longest: int) -> TransformerConfig:
    """An encoder of so many positions."""
    sizes = positions.config(28, WIDTH, longest, SinusoidalPositions, None)
    return replace(sizes, n_layers=DEPTH, **ROWS[row])


# --- digits ----------------------------------------------------------------------------------------


class PatchClassifier(nn.Module):
    """patches (batch, patch, value) -> logits (batch, class)."""

    def __init__(self, c: TransformerConfig, values: int = SIDE * SIDE, n_classes: int = 10) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Linear(values, c.d_model), c.positions(c.max_length, c.d_model)
        self.layers, self.final_norm = c.stack(c, False, False), c.final_norm(c)
        self.output = nn.Linear(c.d_model, n_classes)
        c.initialise(self, c)

    def forward(self, patches: Tensor) -> Tensor:
        return self.output(self.final_norm(self.layers(self.positions(self.embedding(patches), 0))).mean(1))


def patches_of(images: Tensor) -> Tensor:
    """(image, 8, 8) -> (image, patch, value), row by row."""
    return images.unfold(1, SIDE, SIDE).unfold(2, SIDE, SIDE).reshape(len(images), PATCHES, SIDE * SIDE)


@lru_cache(maxsize=1)
def digits() -> dict[str, tuple[Tensor, Tensor]]:
    """Part -> (patches, labels); held out are the corpus's parts valid and test."""
    splits = load("digits").splits
    parts = {"train": splits["train"], "held out": (*splits["valid"], *splits["test"])}
    return {
        part: (patches_of(torch.stack([d.image for d in of])), torch.tensor([int(str(d.label)) for d in of]))  # type: ignore[misc]
        for part, of in parts.items()
    }


@dataclass(frozen=True)
class Images:
    """Called with an epoch: all images in another order."""

    patches: Tensor
    labels: Tensor
    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        for rows in torch.randperm(len(self.labels), generator=torch.Generator().manual_seed(self.seed + epoch)).split(
            self.batch
        ):
            yield self.patches[rows], self.labels[rows]


def image_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


# --- both ------------------------------------------------------------------------------------------


def train(run: Run, task: str, row: str, seed: int, words: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """The fraction of held-out answers that are right, and the model's size."""
    name, steps, batch = f"{task}-{row}-{seed}".replace(" ", "_"), run.size(STEPS, 2), run.size(BATCH, 4)
    options: dict[str, Any] = {"steps": steps, "learning_rate": RATE, "warm_up": WARM_UP, "checkpoint_every": 1000}
    if task == "letters":
        model: Any = run.build(f"{task}-{seed}", lambda: MaskedLM(config(row, positions.LONGEST)))
        batches: Any = positions.Words(words[0], batch, 1000 * seed)
        run.fit(name, model, batches, loss=positions.letter_loss, **options)
        hidden, at, was = positions.hide_one(words[1], torch.Generator().manual_seed(0))
        with torch.no_grad():
            answers = positions.letter_logits(model.eval(), hidden, at).argmax(-1)
    else:
        model = run.build(f"{task}-{seed}", lambda: PatchClassifier(config(row, PATCHES)))
        run.fit(name, model, Images(*digits()["train"], batch, 1000 * seed), loss=image_loss, **options)
        patches, was = digits()["held out"]
        with torch.no_grad():
            answers = model.eval()(patches).argmax(-1)
    return {"right": round(float((answers == was).float().mean()), 4), "size": parameters(model)}


@recipe(5)
def cook(run: Run) -> None:
    words, _ = positions.data(run.size(None, 4000))
    found = {
        task: positions.seeds_of(run, ROWS, lambda row, seed, task=task: train(run, task, row, seed, words))  # type: ignore[misc]
        for task in TASKS
    }
    shown = {
        task: {row: {"right": [o["right"] for o in of], "parameters": of[0]["size"]} for row, of in by.items()}
        for task, by in found.items()
    }
    run.save_result(
        "without_attention",
        {
            "question": "What can an encoder do without attention, on a text and on an image task?",
            "how": f"the fraction right, one value per seed; {SETTINGS}; letters: {len(words[1]):,} words that were not"
            f" trained on; digits: {len(digits()['held out'][1])} images of other writers",
            "theirs": THEIRS,
            "tasks": shown,
            "what_it_shows": "; ".join(
                f"{TASKS[task]}: " + ", ".join(f"{row} {mean(of['right']):.1%}" for row, of in by.items())
                for task, by in shown.items()
            ),
        },
    )
