"""What the questions on decoding share: a model that is a table, paths through it, and logits."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

REFERENCE_ITSELF = ("nlmcore.decoding",)
"""Closed everywhere: it is what the student writes."""
PROBABILITIES = ("probabilities",)


def model(draw: Draw, size: int, eos: int, ending: float = 0.5) -> Tensor:
    """ln P(next | last), (last, next): what a bigram model says. `ending` is added to the logit of `eos`."""
    logits = draw.normal(size, size) * 1.5
    logits[:, eos] += ending
    return torch.log_softmax(logits.double(), -1).float()


def greedy(table: Tensor, start: int, eos: int, longest: int) -> list[int]:
    tokens: list[int] = []
    last = start
    while len(tokens) < longest and last != eos:
        last = int(table[last].argmax())
        tokens.append(last)
    return tokens


def different_logits(draw: Draw, size: int) -> Tensor:
    """Logits with no two alike."""
    return draw.normal(size) + torch.arange(size)[draw.integers(0, 10**9, size).argsort()] * 0.3


def softmax_of(logits: Tensor, kept: Tensor) -> Tensor:
    """The kept words share the probability."""
    return torch.softmax(logits.double().masked_fill(~kept, -torch.inf), -1)
