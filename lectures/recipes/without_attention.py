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
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.positions import SinusoidalPositions
from nlmcore.transformer import MaskedLM, TransformerConfig
from nlmcore.variants.fnet import FourierMixing
from nlmcore.variants.mlp_mixer import TokenMixing
from nlmcore.variants.parts import in_encoder, stack_of_two_kinds, without_padding
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes import positions
from lectures.recipes.changes_of_2017 import Nothing
from lectures.recipes.experiment import Experiment, Setting, Task, said
from lectures.recipes.run import Run, recipe

WIDTH, DEPTH = 32, 3
SETTING = Setting(250, 64, (4e-3,), quick=(2, 4))
SIDE, PATCHES = 2, 16
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


def patches(run: Run) -> Task:
    """Which digit is it? Measured: the share named, of digits of other writers."""
    images, was = digits()["held out"]

    def right(model: nn.Module) -> dict[str, float]:
        with torch.no_grad():
            return {"right": round(float((model(images).argmax(-1) == was).float().mean()), 4)}

    return Task(lambda size, seed: Images(*digits()["train"], size, 1000 * seed), image_loss, right, held=was)


@recipe(5)
def cook(run: Run) -> None:
    tasks: dict[str, tuple[Task, Any, int]] = {
        "letters": (positions.hidden_letters(run), MaskedLM, positions.LONGEST),
        "digits": (patches(run), PatchClassifier, PATCHES),
    }
    found = {}
    for name, (task, model, longest) in tasks.items():
        setting = replace(SETTING, weights=f"{name}-{{seed}}", name=f"{name}-{{row}}-{{seed}}")
        builds = {row: lambda row=row: model(config(row, longest)) for row in ROWS}  # type: ignore[misc]  # noqa: B023
        rows = Experiment(run, task, setting).rows(builds)
        found[name] = {row: {key: of[key] for key in ("right", "parameters")} for row, of in rows.items()}
    run.save_result(
        "without_attention",
        {
            "question": "What can an encoder do without attention, on a text and on an image task?",
            "how": f"the fraction right, one value per seed; {DEPTH} layers, d_model {WIDTH}, {SETTING.words()}; letters:"
            f" {len(tasks['letters'][0].held):,} words that were not trained on; digits: {len(tasks['digits'][0].held)} images"
            " of other writers",
            "theirs": THEIRS,
            "tasks": found,
            "what_it_shows": "; ".join(
                f"{TASKS[task]}: {said(by, '{row} {right!m:.1%}', ', ')}" for task, by in found.items()
            ),
        },
    )
