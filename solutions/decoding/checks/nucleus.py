"""Question 1c: the smallest set of most probable words that sums to at least p."""

import torch
from torch import Tensor

from autograder.exercise.declare import any_order, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.decoding.checks.common import CLOSED, different_logits


def _far_from_the_edge(draw: Draw, p: float) -> Tensor:
    """Logits whose cumulative sums all stay away from p; p cuts off between 1 and size − 2 words."""
    while True:
        logits = different_logits(draw)
        sums = torch.softmax(logits.double(), -1).sort(descending=True).values.cumsum(0)
        if (sums - p).abs().min() > 0.02 and 1 <= int((sums < p).sum()) <= len(logits) - 3:
            return logits


def _usual(draw: Draw) -> list[Case]:
    return [case(f"p = {p}", _far_from_the_edge(draw, p), p) for p in (0.9, 0.7)]


def _sharp(draw: Draw) -> list[Case]:
    logits = different_logits(draw)
    logits[draw.integer(0, len(logits) - 1)] = logits.max() + 4
    return [case("one word has more than p", logits, 0.5)]


def _extremes(draw: Draw) -> list[Case]:
    return [
        case("p = 1", different_logits(draw), 1.0),
        case("a very small p", different_logits(draw), 0.01),
        case("logits above a hundred", _far_from_the_edge(draw, 0.8) + 150, 0.8),
        case("logits below minus a hundred", _far_from_the_edge(draw, 0.8) - 150, 0.8),
    ]


NUCLEUS = question(
    "decoding.nucleus",
    minutes=25,
    difficulty="medium",
    returns=("probabilities",),
    properties=[
        shapes(0.25, _usual, "one probability per word"),
        any_order("typical p: the probabilities, in any order", 1, _usual),
        values("typical p: each word has its own", 1, _usual),
        values("one word has more than p", 1, _sharp),
        values("p = 1, tiny p, large logits", 0.75, _extremes),
    ],
    closed=CLOSED,
    mistakes="""
crossing-word-dropped: You dropped the word with which the sum reaches p. It belongs to the nucleus: the smallest set
whose sum is *at least* p. (If a single word has more than p, your rule keeps nothing.)
- before < p → before + values <= p
- kept / kept.sum() → kept / kept.sum() if kept.any() else kept
or
- before < p → (before + values <= p) | (before == 0)

one-too-many: You also kept the word *after* the sum had reached p. The set should be as small as possible.
- before < p → torch.cat([torch.tensor([True]), before[:-1] < p])

not-shared-out: Your probabilities sum to less than 1 because you did not redistribute those of the dropped words.
Divide by the sum.
- kept / kept.sum() → kept

zero-for-minus-infinity: You set the logits of the dropped words to 0, and e⁰ is 1: they keep some probability. −∞ gives
them none.
- kept / kept.sum() → torch.softmax(torch.where(kept > 0, logits, 0.0), dim=-1)

softmax-twice: You took the softmax of *probabilities*, which makes them nearly equal. Divide what is kept by its sum; a
softmax is for logits.
- kept / kept.sum() → torch.softmax(torch.where(kept > 0, kept, -math.inf), dim=-1)

sorted-by-size: The probabilities are right, but you return them sorted by size. Entry w belongs to word w: put them
back in the order of the words.
- kept / kept.sum() → (kept / kept.sum()).sort(descending=True).values

wrong-way-back: The probabilities are right, but in the wrong order: `sorted[order]` permutes once more. To undo the
sorting, assign: `out[order] = sorted`.
- kept[order] = torch.where(before < p, values, 0.0) → kept = torch.where(before < p, values, 0.0)[order]

least-probable-first: You collected the words from the least probable up. Start with the most probable one.
- before < p → before + values > 1 - p

each-for-itself: You compared each word's own probability with 1 − p. Compare the running *sum*, from the most probable
word down, with p. (A bound on each word is another method: min-p.)
- before < p → values >= 1 - p
- kept / kept.sum() → kept / kept.sum() if kept.any() else kept

exponential-overflows: With large logits you return NaN: in float32, e to the power of more than 88 is infinite, and ∞ /
∞ is undefined. Subtract the largest logit first, which changes no probability, or use `torch.softmax`.
- torch.softmax(logits, dim=-1) → logits.exp() / logits.exp().sum()
""",
)
