"""Figures: a Vision Transformer against a convolutional network on 100 to 1,197 handwritten digits, five seeds each.

Dosovitskiy et al. (2021), section 4.3, at a thousandth of the size: how much data does a network need that is not
told that neighbours belong together? Both have as many parameters, and as many steps whatever the number of images.

Rival explanations of a difference, each its own row: too few steps; augmentation (images shifted by up to one pixel
give what a convolution has built in), and masked-patch pretraining on all training images without their labels. The nearest
neighbour in pixels says what needs no network at all.

Departs from the paper: 8 × 8 grey digits, two layers, seconds of training; it compares pretraining on 9 to 300 million
labelled images and then fine-tunes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.vision import (
    ConvEncoder,
    ImageClassifier,
    PatchPredictor,
    VisionTransformer,
    hide_patches,
    patch_loss,
    to_patches,
)
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.experiment import said
from lectures.recipes.run import Run, parameters, recipe

SIZES, SEEDS, BATCH, STEPS, PRETRAINING = (100, 300, 1000, 1197), 5, 32, 250, 800
RATES, PATCH, HIDDEN = (1e-3, 4e-3, 1e-2), 2, 0.5
CNN, VIT, PRETRAINED = "CNN", "ViT", "ViT, pretrained"
SHIFTED, LONGER = ", shifted images", ", 3 times the steps"
ROWS = (CNN, VIT, PRETRAINED, CNN + SHIFTED, VIT + SHIFTED, PRETRAINED + SHIFTED, CNN + LONGER, VIT + LONGER)
SETTINGS = (
    f"{STEPS} steps of {BATCH} images, AdamW with a cosine; pretraining: {PRETRAINING} steps, half of the patches"
)


@lru_cache(maxsize=1)
def digits() -> dict[str, tuple[Tensor, Tensor]]:
    """split -> (images, labels)."""
    corpus = load("digits")
    return {
        split: (
            torch.stack([d.image for d in documents if d.image is not None]),
            torch.tensor([int(str(d.label)) for d in documents]),
        )
        for split, documents in corpus.splits.items()
    }


def shifted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image moved by −1, 0 or 1 pixel in each direction, with zeros at the border."""
    height, width = images.shape[1:]
    padded = F.pad(images, (1, 1, 1, 1))
    first = torch.randint(3, (2, len(images), 1, 1), generator=generator)
    rows = first[0] + torch.arange(height).unsqueeze(1)
    columns = first[1] + torch.arange(width)
    return padded[torch.arange(len(images))[:, None, None], rows, columns]


@dataclass(frozen=True)
class Images:
    """Called with an epoch: batches of random images with their labels."""

    images: Tensor
    labels: Tensor
    seed: int
    shift: bool = False
    batch: int = BATCH

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        generator = torch.Generator().manual_seed(self.seed + epoch)
        for _ in range(50):
            rows = torch.randint(len(self.images), (self.batch,), generator=generator)
            images = self.images[rows]
            yield shifted(images, generator) if self.shift else images, self.labels[rows]


def encoder(kind: str) -> nn.Module:
    if kind == CNN:
        return ConvEncoder((32, 80), pools=(2, 1))
    return VisionTransformer(8, 8, PATCH, d_model=32, n_heads=4, n_layers=2)


def class_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


def restore_loss(model: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
    images = batch[0]
    patches = to_patches(images, model.encoder.patch_size)
    hidden = hide_patches(len(images), patches.shape[1], HIDDEN)
    return patch_loss(model(images, hidden), patches, hidden)


def pretrained(run: Run, seed: int) -> PatchPredictor:
    """An encoder that has restored hidden patches of all training images, without labels."""
    model: Any = run.build(f"pretraining-{seed}", lambda: PatchPredictor(encoder(VIT)))  # type: ignore[arg-type]
    steps = run.size(PRETRAINING, 2)
    batches = Images(*digits()["train"], seed=1000 * seed)
    run.fit(f"pretraining-{seed}", model, batches, loss=restore_loss, steps=steps, learning_rate=3e-3,
            warm_up=50, checkpoint_every=1000)  # fmt: skip
    return model


def accuracy(model: nn.Module, split: str) -> float:
    images, labels = digits()[split]
    with torch.no_grad():
        return round(float((model.eval()(images).argmax(-1) == labels).float().mean()), 4)


def subset(size: int, seed: int) -> Tensor:
    """Which training images: as many of each seed's own choice, the smaller set within the larger."""
    return torch.randperm(len(digits()["train"][0]), generator=torch.Generator().manual_seed(seed))[:size]


def train(run: Run, row: str, size: int, seed: int, rate: float) -> dict[str, float]:
    kind, shift = row.removesuffix(SHIFTED).removesuffix(LONGER), row.endswith(SHIFTED)
    steps = run.size(STEPS * (3 if row.endswith(LONGER) else 1), 2)
    name = f"{row}-{size}-{seed}-{rate:g}".replace(" ", "_").replace(",", "")

    def measure() -> dict[str, float]:
        model: Any = run.build(f"{row}-{seed}", lambda: ImageClassifier(encoder(kind), 10))
        if kind == PRETRAINED:
            model.encoder.load_state_dict(pretrained(run, seed).encoder.state_dict())
        chosen, (images, labels) = subset(size, seed), digits()["train"]
        batches = Images(images[chosen], labels[chosen], 1000 * seed, shift)
        run.fit(name, model, batches, loss=class_loss, steps=steps, learning_rate=rate,
                warm_up=25, checkpoint_every=1000)  # fmt: skip
        return {split: accuracy(model, split) for split in ("valid", "test")}

    found: dict[str, float] = run.kept(f"{name}-found", measure)
    return found


def nearest(size: int, seed: int) -> float:
    """The share of test images whose nearest training image, in pixels, has their label."""
    chosen, (images, labels), (test, wanted) = subset(size, seed), digits()["train"], digits()["test"]
    distance = torch.cdist(test.flatten(1), images[chosen].flatten(1))
    return round(float((labels[chosen][distance.argmin(1)] == wanted).float().mean()), 4)


@recipe(4)
def cook(run: Run) -> None:
    sizes, seeds = run.size(SIZES, (100,)), range(run.size(SEEDS, 2))
    rates = run.size(RATES, RATES[:1])
    best = {row: max(rates, key=lambda rate: train(run, row, sizes[0], 0, rate)["valid"]) for row in ROWS}
    right = {
        row: {str(size): [train(run, row, size, seed, best[row])["test"] for seed in seeds] for size in sizes}
        for row in ROWS
    }
    right["nearest neighbour"] = {str(size): [nearest(size, seed) for seed in seeds] for size in sizes}
    counts = {kind: parameters(ImageClassifier(encoder(kind), 10)) for kind in (CNN, VIT)}
    run.save_result(
        "image_data",
        {
            "question": "A Vision Transformer against a convolutional network: how much data does each need?"
            " (Dosovitskiy et al. 2021, section 4.3)",
            "how": f"share of {len(digits()['test'][0])} test digits that are right, one value per seed, each with its own"
            f" training images and first weights; {SETTINGS}; the best of the rates {RATES} on valid with the first"
            f" seed and {sizes[0]} images; parameters: CNN {counts[CNN]:,}, ViT {counts[VIT]:,}",
            "parameters": counts,
            "rates": best,
            "right": right,
            "what_it_shows": "; ".join(f"{row}: {said(by, '{0!m:.1%} with {row}', ', ')}" for row, by in right.items()),
        },
    )
