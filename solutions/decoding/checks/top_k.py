"""Question 1b: the k most probable words, at a temperature."""

from autograder.exercise.declare import any_order, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.decoding.checks.common import CLOSED, different_logits


def _k_words(draw: Draw) -> list[Case]:
    return [
        case("three words are kept", different_logits(draw), 3, 1.0),
        case("two words", different_logits(draw), 2, 1.0),
    ]


def _temperatures(draw: Draw) -> list[Case]:
    return [
        case("a low temperature", different_logits(draw), 4, 0.5),
        case("a high temperature", different_logits(draw), 4, 2.0),
    ]


def _extremes(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [
        case("one word is kept", different_logits(draw), 1, 0.7),
        case("all words are kept", different_logits(draw), size, 1.5),
        case("k above the vocabulary size", different_logits(draw), size + 5, 0.8),
        case("logits above a hundred", different_logits(draw) + 150, 3, 1.0),
        case("logits below minus a hundred", different_logits(draw) - 150, 3, 1.0),
    ]


TOP_K = question(
    "decoding.top_k",
    minutes=15,
    difficulty="easy",
    returns=("probabilities",),
    properties=[
        shapes(0.25, _k_words, "one probability per word"),
        any_order("k probabilities that are right, in any order", 0.75, _k_words),
        values("each of the k words has its own", 0.5, _k_words),
        values("temperatures", 1, _temperatures),
        values("one word, all, large logits", 0.5, _extremes),
    ],
    closed=CLOSED,
    mistakes="""
not-shared-out: Your probabilities sum to less than 1 because you did not redistribute those of the dropped words. Take
the softmax of the kept logits, or divide by the sum.
- torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ torch.softmax(logits / temperature, dim=-1).masked_fill(logits < least, 0.0)

zero-for-minus-infinity: You set the logits of the dropped words to 0, and e⁰ is 1: they keep some probability, some of
them more than before. −∞ gives them none.
- -math.inf → 0.0

temperature-multiplied: You multiplied by the temperature. A high temperature should make the probabilities more alike:
divide the logits by it.
- / temperature → * temperature

temperature-after-softmax: You divided the *probabilities* by the temperature. Then they do not sum to 1, and dividing
by their sum undoes it. Divide the logits, before the softmax.
- / temperature, dim=-1) → , dim=-1) / temperature

temperature-without-effect: Your temperature changes nothing. Divide the *logits* by it, before the softmax; if you
divide probabilities and then make them sum to 1, it cancels.
- / temperature →

one-too-many: You kept one word too many. Keep exactly k.
- min(k, → min(k + 1,

sorted-by-size: The probabilities are right, but you return them sorted by size. Entry w belongs to word w: put them
back in the order of the words.
- dim=-1) → dim=-1).sort(descending=True).values

exponential-overflows: With large logits you return NaN: in float32, e to the power of more than 88 is infinite, and ∞ /
∞ is undefined. Subtract the largest logit first, which changes no probability, or use `torch.softmax`.
- return torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ weights = (logits.masked_fill(logits < least, -math.inf) / temperature).exp()
+ return weights / weights.sum()
or
- return torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ weights = (logits / temperature).exp()
+ kept = torch.where(logits < least, 0.0, weights / weights.sum())
+ return kept / kept.sum()
""",
)
