"""What the questions on word vectors share: pairs among noise, cosines, and the names that are closed."""

from torch import Tensor

from autograder.exercise.closed import DIFFERENTIATION
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case

CLOSED = ("nlmcore.word2vec", "nlmcore.autodiff", "nlmcore.feedforward", "nlmcore.seq2seq")
"""Closed in every question: word vectors, what learns them, what compares them."""
BY_HAND = (*CLOSED, DIFFERENTIATION)
"""Closed where a gradient is asked for."""


def _pair(draw: Draw, d: int, k: int, label: str) -> Case:
    """A centre, a context and k words of noise."""
    return case(label, draw.normal(d), draw.normal(d), draw.normal(k, d))


def usual_pairs(draw: Draw) -> list[Case]:
    d, k = draw.sizes(2)
    return [_pair(draw, d, k, "several words of noise")]


def small_pairs(draw: Draw) -> list[Case]:
    return [_pair(draw, draw.size(), 1, "one word of noise"), _pair(draw, 1, 3, "vectors of one number")]


def unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)
