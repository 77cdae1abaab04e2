"""Question 2a: every word counted a little more often."""

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, table
from autograder.checks.ngrams.shares import PROBABILITIES
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case


def _one(draw: Draw) -> list[Case]:
    return [case("k = 1", table(draw, draw.largest + 1), 1.0)]


def _fractions(draw: Draw) -> list[Case]:
    return [
        case("k = 0.25", table(draw, draw.largest + 2), 0.25),
        case("k = 3", table(draw, draw.largest + 1), 3.0),
    ]


def _never(draw: Draw) -> list[Case]:
    return [case("a context never seen", table(draw, draw.largest + 1, unseen=1), 0.5)]


def _additive(counts: Tensor, k: float) -> Tensor:
    return (counts + k) / (counts.sum(1, keepdim=True) + k * counts.shape[1])


def _only_zeros(counts: Tensor, k: float) -> Tensor:
    filled = torch.where(counts == 0, k, counts.float())
    return filled / filled.sum(1, keepdim=True)


ADDITIVE = Exercise(
    name="ngrams.additive",
    title="A little for every word",
    signature="additive(counts, k)",
    arguments=("counts", "k"),
    returns=PROBABILITIES,
    minutes=10,
    difficulty="easy",
    reference=_additive,
    properties=(
        Property(name="one probability per pair", points=0.25, cases=_one, judge=same_shapes(PROBABILITIES)),
        Property(name="k = 1 (Laplace)", points=1, cases=_one, judge=same_values(PROBABILITIES)),
        Property(name="any k", points=1.25, cases=_fractions, judge=same_values(PROBABILITIES)),
        Property(name="a context never seen", points=0.5, cases=_never, judge=same_values(PROBABILITIES)),
    ),
    misconceptions=(
        Misconception(
            id="k-once-below",
            sentence=(
                "Above you add k to each of the V words, below only once: the row sums to more than 1. Below it is k"
                " times the size of the vocabulary."
            ),
            implementation=lambda counts, k: (counts + k) / (counts.sum(1, keepdim=True) + k),
        ),
        Misconception(
            id="denominator-unchanged",
            sentence=(
                "The sum below is still that of the plain counts, so the row sums to more than 1. The k's that you"
                " added above count below, too: one per word of the vocabulary."
            ),
            implementation=lambda counts, k: (counts + k) / counts.sum(1, keepdim=True).clamp(min=1e-9),
        ),
        Misconception(
            id="sum-without-keepdim",
            sentence=(
                "You divided each *column* by a row's sum: `counts.sum(1)` has the shape (V,), and PyTorch lays it"
                " along the rows. With `keepdim=True` it is (V, 1), and each row is divided by its own sum."
            ),
            implementation=lambda counts, k: (counts + k) / (counts + k).sum(1),
        ),
        Misconception(
            id="only-the-zeros",
            sentence=(
                "Only words that were never seen got k. Every word is counted k more times, the frequent ones as well;"
                " otherwise a word seen once may fall behind one never seen, when k is above 1."
            ),
            implementation=_only_zeros,
        ),
        Misconception(
            id="vocabulary-of-the-row",
            sentence=(
                "You multiplied k by the number of different words seen after this context. V is the size of the whole"
                " vocabulary: the words never seen get their k as well."
            ),
            implementation=lambda counts, k: (
                (counts + k) / (counts.sum(1, keepdim=True) + k * (counts > 0).sum(1, keepdim=True).clamp(min=1))
            ),
        ),
        Misconception(
            id="always-one",
            sentence="Your k is always 1. Use the argument: with a smaller k less is taken from what was seen.",
            implementation=lambda counts, k: _additive(counts, 1.0),
        ),
        Misconception(
            id="pairs-for-words",
            sentence=(
                "Below you added k for each of the V² pairs. One row has V entries: add k·V, and each row sums to 1."
            ),
            implementation=lambda counts, k: (
                (counts + k) / (counts.sum(1, keepdim=True) + k * counts.shape[0] * counts.shape[1])
            ),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
