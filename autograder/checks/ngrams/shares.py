"""Question 1b: counts turned into probabilities."""

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, table
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged, same_shapes, same_values
from autograder.exercise.laws.ngrams import right_where_known, uniform_where_known
from autograder.exercise.specification import Case, Exercise, Misconception, Property

PROBABILITIES = ("probabilities",)


def _counts(draw: Draw) -> list[Case]:
    size = draw.largest + 1
    return [Case(label="every context was seen", calls=((table(draw, size),),))]


def _with_unseen(draw: Draw) -> list[Case]:
    counts = table(draw, draw.largest + 2, unseen=2)
    never, other = draw.integers(0, 10**9, len(counts)).argsort()[:2].tolist()
    counts[:, other] += counts[:, never]  # nothing is ever followed by one of the words: it gets its 1/V all the same
    counts[:, never] = 0
    return [Case(label="two contexts were never seen", calls=((counts,),), known=(counts.sum(1) == 0,))]


def _seen_rows(draw: Draw) -> list[Case]:
    made = []
    for unseen in (0, 1):
        counts = table(draw, draw.largest + 1 + unseen, unseen)
        seen = (counts.sum(1) > 0)[:, None].expand(counts.shape)
        made.append(Case(label=f"{unseen or 'no'} context never seen", calls=((counts,),), known=(seen.clone(),)))
    return made


def _rows(counts: Tensor, unseen: float) -> Tensor:
    total = counts.sum(1, keepdim=True)
    return torch.where(total > 0, counts / total.clamp(min=1), unseen)


def _sums_laid_along_rows(counts: Tensor) -> Tensor:
    total = counts.sum(1)
    return torch.where(total > 0, counts / total.clamp(min=1), 1.0 / len(counts))


def _written_into_the_counts(counts: Tensor) -> Tensor:
    counts[counts.sum(1) == 0] = 1
    return counts / counts.sum(1, keepdim=True)


def _zeros_filled_up(counts: Tensor) -> Tensor:
    shares = _rows(counts, 0.0)
    return torch.where(shares == 0, 1.0 / len(counts), shares)


CONDITIONAL = Exercise(
    name="ngrams.conditional_probabilities",
    title="From counts to probabilities",
    signature="conditional_probabilities(counts)",
    arguments=("counts",),
    returns=PROBABILITIES,
    minutes=15,
    difficulty="easy",
    reference=lambda counts: _rows(counts, 1.0 / counts.shape[1]),
    properties=(
        Property(name="one probability per pair", points=0.25, cases=_counts, judge=same_shapes(PROBABILITIES)),
        Property(name="the probabilities are right", points=1, cases=_counts, judge=same_values(PROBABILITIES)),
        Property(
            name="contexts that were seen", points=0.75, cases=_seen_rows, judge=right_where_known("probabilities")
        ),
        Property(
            name="a context never seen",
            points=1,
            cases=_with_unseen,
            judge=and_inputs_unchanged(uniform_where_known("probabilities")),
        ),
    ),
    misconceptions=(
        Misconception(
            id="columns-sum-to-one",
            sentence=(
                "Your columns sum to 1. That is P(the word before | this word), a model that writes backwards. Divide"
                " each *row* by its sum: `counts.sum(1, keepdim=True)`."
            ),
            implementation=lambda counts: _rows(counts.T, 1.0 / counts.shape[1]).T,
        ),
        Misconception(
            id="joint-probability",
            sentence=(
                "You divided by the number of all pairs. That is P(a, w), how probable the pair is. Asked is P(w | a):"
                " divide by how often a was a context."
            ),
            implementation=lambda counts: counts / counts.sum(),
        ),
        Misconception(
            id="sum-without-keepdim",
            sentence=(
                "You divided each *column* by a row's sum: `counts.sum(1)` has the shape (V,), and PyTorch lays it"
                " along the rows. With `keepdim=True` it is (V, 1), and each row is divided by its own sum."
            ),
            implementation=_sums_laid_along_rows,
        ),
        Misconception(
            id="zeros-filled-up",
            sentence=(
                "You put 1/V in place of every 0, also after contexts that were seen: those rows now sum to more than"
                " 1. Only a row without a single count becomes uniform."
            ),
            implementation=_zeros_filled_up,
        ),
        Misconception(
            id="written-into-the-counts",
            sentence=(
                "The probabilities are right, but you wrote into `counts` itself: whoever is given this table next"
                " finds pairs in it that no text has. Work on `counts.clone()`, or let `torch.where` choose."
            ),
            implementation=_written_into_the_counts,
        ),
        Misconception(
            id="unseen-is-zero",
            sentence=(
                "A context that was never seen gives zeros: no word may follow, and the row does not sum to 1. Nothing"
                " is known there, so give every word 1/V."
            ),
            implementation=lambda counts: _rows(counts, 0.0),
        ),
        Misconception(
            id="unseen-is-nan",
            sentence=(
                "A context that was never seen gives NaN: you divided 0 by 0. Nothing is known there, so give every"
                " word 1/V."
            ),
            implementation=lambda counts: counts / counts.sum(1, keepdim=True),
        ),
        Misconception(
            id="softmax-of-counts",
            sentence=(
                "You took a softmax of the counts: it makes scores into probabilities, and a word counted 0 times would"
                " still get some. Counts are not scores: divide them by their sum."
            ),
            implementation=lambda counts: torch.softmax(counts.float(), 1),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
