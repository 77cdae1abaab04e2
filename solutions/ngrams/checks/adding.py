"""Question 2a: additive smoothing."""

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.ngrams.checks.common import CLOSED, table


def _one(draw: Draw) -> list[Case]:
    return [case("k = 1", table(draw, draw.largest + 1), 1.0)]


def _fractions(draw: Draw) -> list[Case]:
    return [
        case("k = 0.25", table(draw, draw.largest + 2), 0.25),
        case("k = 3", table(draw, draw.largest + 1), 3.0),
    ]


def _never(draw: Draw) -> list[Case]:
    return [case("a context never seen", table(draw, draw.largest + 1, unseen=1), 0.5)]


ADDITIVE = question(
    "ngrams.additive",
    minutes=10,
    difficulty="easy",
    returns=("probabilities",),
    properties=[
        shapes(0.25, _one, "one probability per pair"),
        values("k = 1 (Laplace)", 1, _one),
        values("any k", 1.25, _fractions),
        values("a context never seen", 0.5, _never),
    ],
    closed=CLOSED,
    mistakes="""
k-once-below: In the numerator you add k for each of the V words, but in the denominator only once, so the row sums to
more than 1. The denominator needs k times the size of the vocabulary.
- k * counts.shape[1] → k

denominator-unchanged: Your denominator is still the sum of the plain counts, so the row sums to more than 1. Every k
that you added in the numerator belongs to it as well: one per word of the vocabulary.
- (counts.sum(1, keepdim=True) + k * counts.shape[1]) → counts.sum(1, keepdim=True).clamp(min=1e-9)

sum-without-keepdim: You divided each *column* by the sum of a row: `counts.sum(1)` has the shape (V,), and PyTorch
broadcasts it along the rows. With `keepdim=True` it is (V, 1), and each row is divided by its own sum.
- , keepdim=True →

only-the-zeros: You added k only to words that were never seen. Count every word k more times, the frequent ones as
well; otherwise, with k above 1, a word seen once may rank below one never seen.
+ filled = torch.where(counts == 0, k, counts.float())
+ return filled / filled.sum(1, keepdim=True)

vocabulary-of-the-row: You multiplied k by the number of different words seen after this context. V is the size of the
whole vocabulary: words never seen get their k as well.
- counts.shape[1] → (counts > 0).sum(1, keepdim=True).clamp(min=1)

divided-by-columns: You divided by the sums of the columns, which say how often a word comes *second*. A row belongs to
a context: divide it by its own sum, `counts.sum(1, keepdim=True)`, plus k·V.
- counts.sum(1, keepdim=True) → counts.sum(0)
or
- counts.sum(1, keepdim=True) → counts.sum(0)[:, None]

always-one: Your k is always 1. Use the argument: with a smaller k, less is taken from what was seen.
^ k = 1.0

pairs-for-words: In the denominator you added k for each of the V² pairs. One row has V entries: add k·V, and each row
sums to 1.
- counts.shape[1] → counts.shape[0] * counts.shape[1]
""",
)
