"""What the questions on word vectors share: pairs among noise, cosines, and the names that are off limits."""

from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case

CLOSED = (
    "nlmcore.word2vec",
    "nlmcore.feedforward",
    "nlmcore.seq2seq",
    "gensim",
    "sklearn",
)
"""Closed in every question with PyTorch: word vectors, what learns them, what compares them."""


def _pair(draw: Draw, d: int, k: int, label: str) -> Case:
    """A centre, a context and k noise words."""
    return case(label, draw.normal(d), draw.normal(d), draw.normal(k, d))


def usual_pairs(draw: Draw) -> list[Case]:
    d, k = draw.sizes(2)
    return [_pair(draw, d, k, "several noise words")]


def small_pairs(draw: Draw) -> list[Case]:
    return [_pair(draw, draw.size(), 1, "one noise word"), _pair(draw, 1, 3, "vectors of one dimension")]


def unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)
