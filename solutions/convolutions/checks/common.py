"""What the questions on convolutions share: batches of texts, filters, and names that are off limits."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = (
    "nlmcore.convolutional",
    "nlmcore.feedforward",
    "nlmcore.word2vec",
    "nlmcore.recurrent",
    "nlmcore.training",
    "gensim",
    "sklearn",
)
"""Closed in every question with PyTorch: classifiers and what they are made of, and their training."""


def lengths_below(draw: Draw, batch: int, time: int) -> Tensor:
    """One length per text, from 1: the first is `time`, the last is shorter."""
    lengths = draw.integers(1, time, batch)
    lengths[0], lengths[-1] = time, draw.integer(1, time - 1)
    return lengths


def some_filters(draw: Draw, d: int, count: int, *widths: int) -> tuple[list[Tensor], list[Tensor]]:
    """Weights (k, d, count) and biases (count,) for every width."""
    weights = [draw.normal(k, d, count) / (k * d) ** 0.5 for k in widths]
    return weights, [draw.normal(count) / 2 for _ in widths]


def doubles(*tensors: Tensor | list[Tensor]) -> list[Tensor | list[Tensor]]:
    """The same in float64; integers stay what they are."""
    return [
        [one.double() for one in t] if isinstance(t, list) else t.double() if t.is_floating_point() else t
        for t in tensors
    ]


def repeated(draw: Draw, time: int, vocab: int) -> Tensor:
    """Ids of a text of which one occurs twice, with another between them."""
    words = draw.integers(0, vocab - 1, time)
    words[2], words[1] = words[0], (words[0] + 1) % vocab
    return words


def full(batch: int, time: int) -> Tensor:
    return torch.full((batch,), time)
