"""What the questions on decoding share: a model that is a table, and logits."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = ("nlmcore.decoding", "transformers")
"""Closed in every question: it is what the student writes."""


def random_model(draw: Draw) -> tuple[Tensor, int, int]:
    """ln P(next | previous), (previous, next), of a random bigram model; a start, and a different word as eos."""
    size = draw.largest + 2
    eos = draw.integer(0, size - 1)
    start = (eos + draw.integer(1, size - 1)) % size
    return torch.log_softmax((draw.normal(size, size) * 1.5).double(), -1).float(), start, eos


def different_logits(draw: Draw) -> Tensor:
    """Logits with no two alike."""
    size = draw.largest + 2
    return draw.normal(size) + torch.arange(size)[draw.integers(0, 10**9, size).argsort()] * 0.3
