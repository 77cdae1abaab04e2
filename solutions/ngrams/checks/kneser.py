"""Question 2c: Kneser and Ney's bigram model, interpolated, from a table of counts."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.laws.ngrams import shares_out_what_discounting_frees
from autograder.exercise.specification import Case
from solutions.ngrams.checks.common import CLOSED, table


def _case(label: str, counts: Tensor, discount: float) -> Case:
    """A case that knows what each pair keeps, (V, V), and what each context has to distribute, (V,)."""
    total, different = counts.sum(1).double(), (counts > 0).sum(1).double()
    kept = (counts - discount).clamp(min=0) / total.clamp(min=1)[:, None]
    freed = torch.where(total > 0, discount * different / total.clamp(min=1), 1.0)
    return Case(label=label, calls=((counts, discount),), known=(kept.double(), freed))


def _plain(draw: Draw) -> list[Case]:
    return [_case("every context was seen", table(draw, draw.largest + 1), 0.75)]


def _other_discounts(draw: Draw) -> list[Case]:
    return [
        _case("a discount of 0.3", table(draw, draw.largest + 2), 0.3),
        _case("a discount of 1", table(draw, draw.largest + 1), 1.0),
    ]


def _unseen(draw: Draw) -> list[Case]:
    return [_case("a context never seen", table(draw, draw.largest + 2, unseen=1), 0.5)]


KNESER_NEY = question(
    "ngrams.kneser_ney",
    minutes=40,
    difficulty="hard",
    returns=("continuation", "probabilities"),
    properties=[
        shapes(0.5, _plain),
        values("the continuation of every word", 2, _plain, "continuation"),
        holds("probabilities, given your continuation", 2, _other_discounts, shares_out_what_discounting_frees),
        holds("a context never seen", 1, _unseen, shares_out_what_discounting_frees),
        values("everything together", 0.5, _unseen),
    ],
    closed=CLOSED,
    mistakes="""
counts-for-contexts: Your continuation says how often a word occurs. It should say after how many *different* words it
occurs: count the entries of its column that are above 0. That is the point: “Francisco” is frequent, but follows only
one word.
- seen.sum(0) / seen.sum() → counts.sum(0) / counts.sum()

followers-for-predecessors: Your continuation counts how many different words come *after* a word: the row. Count how
many come before it: the column.
- seen.sum(0) → seen.sum(1)

divided-by-the-vocabulary: You divided the continuation by the size of the vocabulary, so it does not sum to 1. Divide
by the number of all different pairs.
- / seen.sum() → / len(counts)

freed-mass-lost: You discounted the counts but did not redistribute the freed mass: the rows sum to less than 1. Add the
continuation times D · (different followers) / (all followers).
- kept + freed * continuation → torch.where(total > 0, kept, continuation)

below-zero: Words that were never seen after a context got 0 − D, which is negative. Discount only counts above 0: max(c
− D, 0).
- (counts - discount).clamp(min=0) / total.clamp(min=1)
+ torch.where(total > 0, (counts - discount) / total.clamp(min=1), 0.0)

one-discount-per-context: You redistributed one D per context. D was subtracted for each different word that followed
it: redistribute D times their number.
- discount * seen.sum(1, keepdim=True) → discount

share-is-d: You gave every context the weight D. The freed mass is D for each *different* follower, divided by the
number of all followers: D·T/N. That is D only where every follower was seen once.
- discount * seen.sum(1, keepdim=True) / total.clamp(min=1) → discount

unseen-is-zero: For a context that was never seen you return zeros. The counts know nothing there, so the continuation
gets all the mass: its weight is 1.
- , 1.0) → , 0.0)

unseen-is-uniform: For a context that was never seen you give every word 1/V, as in 1b. Here something is known: how
readily each word follows others. The row is the continuation.
- kept + freed * continuation → torch.where(total > 0, kept + freed * continuation, 1 / len(counts))

unseen-is-nan: For a context that was never seen you return NaN, because you divided 0 by 0. The counts know nothing
there, so the continuation gets all the mass.
* .clamp(min=1) →

number-by-number: (V,) times (V,) is (V,): you multiplied the freed mass of one context by the continuation of one word,
and added the same to every row. Each context has a separate row: `freed[:, None] * continuation`.
- freed * continuation → freed[:, 0] * continuation
or
- kept + freed * continuation → torch.where(total > 0, kept + freed[:, 0] * continuation, continuation)

axes-exchanged: The freed mass of a context belongs to its *row*, and the continuation runs along the columns. You
swapped them: write `freed[:, None] * continuation`.
- freed * continuation → freed.T * continuation[:, None]
or
- kept + freed * continuation → torch.where(total > 0, kept + freed.T * continuation[:, None], continuation)
""",
)
