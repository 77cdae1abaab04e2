"""Question 1b: counts turned into probabilities."""

from autograder.exercise.declare import judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.laws.ngrams import right_where_known, uniform_where_known
from autograder.exercise.specification import Case, case
from solutions.ngrams.checks.common import CLOSED, table


def _counts(draw: Draw) -> list[Case]:
    return [case("every context was seen", table(draw, draw.largest + 1))]


def _with_unseen(draw: Draw) -> list[Case]:
    counts = table(draw, draw.largest + 2, unseen=2)
    never, other = draw.integers(0, 10**9, len(counts)).argsort()[:2].tolist()
    counts[:, other] += counts[:, never]  # one word never follows another: it gets its 1/V all the same
    counts[:, never] = 0
    return [Case(label="two contexts were never seen", calls=((counts,),), known=(counts.sum(1) == 0,))]


def _seen_rows(draw: Draw) -> list[Case]:
    made = []
    for unseen in (0, 1):
        counts = table(draw, draw.largest + 1 + unseen, unseen)
        seen = (counts.sum(1) > 0)[:, None].expand(counts.shape)
        made.append(Case(label=f"{unseen or 'no'} context never seen", calls=((counts,),), known=(seen.clone(),)))
    return made


CONDITIONAL = question(
    "ngrams.conditional_probabilities",
    minutes=15,
    difficulty="easy",
    returns=("probabilities",),
    properties=[
        shapes(0.25, _counts, "one probability per pair"),
        values("the probabilities are right", 1, _counts),
        judged("contexts that were seen", 0.75, _seen_rows, right_where_known("probabilities")),
        judged("a context never seen", 1, _with_unseen, and_inputs_unchanged(uniform_where_known("probabilities"))),
    ],
    closed=CLOSED,
    mistakes="""
columns-sum-to-one: Your columns sum to 1. That is P(the previous word | this word), a model that generates backwards.
Divide each *row* by its sum: `counts.sum(1, keepdim=True)`.
- sum(1, keepdim=True) → sum(0, keepdim=True)

joint-probability: You divided by the number of all pairs. That is P(a, w), the probability of the pair. Return P(w |
a): divide by how often a was a context.
+ return counts / counts.sum()

sum-without-keepdim: You divided each *column* by the sum of a row: `counts.sum(1)` has the shape (V,), and PyTorch
broadcasts it along the rows. With `keepdim=True` it is (V, 1), and each row is divided by its own sum.
- , keepdim=True →

zeros-filled-up: You replaced every 0 by 1/V, also after contexts that were seen: those rows now sum to more than 1.
Only a row without a single count becomes uniform.
- total > 0 → counts > 0

written-into-the-counts: The probabilities are right, but you changed `counts` itself, so the caller's table contains
pairs that occur in no text. Work on `counts.clone()`, or use `torch.where`.
+ counts[counts.sum(1) == 0] = 1
+ return counts / counts.sum(1, keepdim=True)

unseen-is-zero: For a context that was never seen you return zeros: no word may follow, and the row does not sum to 1.
Nothing is known there, so give every word 1/V.
- 1 / counts.shape[1] → 0.0

unseen-is-nan: For a context that was never seen you return NaN, because you divided 0 by 0. Nothing is known there, so
give every word 1/V.
+ return counts / counts.sum(1, keepdim=True)

softmax-of-counts: You took a softmax of the counts. It turns scores into probabilities, and a word with count 0 would
still get some. Counts are not scores: divide them by their sum.
+ return torch.softmax(counts.float(), 1)
""",
)
