"""What the questions on decoding share: a model that is a table, and paths through it."""

import torch
from torch import Tensor

from autograder.draw import Draw

REFERENCE_ITSELF = ("nlmcore.decoding",)
"""Closed everywhere: it is what the student writes."""


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
