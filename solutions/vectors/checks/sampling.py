"""Questions 1b and 1c: how noise is sampled, and which frequent words are left out."""

from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.vectors.checks.common import CLOSED


def _counts(draw: Draw) -> Tensor:
    return draw.integers(1, 60, draw.largest + 3)


def _three_quarters(draw: Draw) -> list[Case]:
    return [case("the usual power, 0.75", _counts(draw), 0.75)]


def _powers(draw: Draw) -> list[Case]:
    return [case("power 1", _counts(draw), 1.0), case("power 0.5", _counts(draw), 0.5)]


def _never_seen(draw: Draw) -> list[Case]:
    counts = _counts(draw)
    counts[draw.integer(0, len(counts) - 1)] = 0
    return [case("a word with count 0", counts, 0.75)]


NOISE_DISTRIBUTION = question(
    "vectors.noise",
    minutes=10,
    difficulty="easy",
    returns=("distribution",),
    properties=[
        shapes(0.2, _three_quarters, "one probability per word"),
        values("the usual power", 0.8, _three_quarters),
        values("other powers", 0.5, _powers),
        values("a word with count 0", 0.5, _never_seen),
    ],
    closed=CLOSED,
    mistakes="""
not-normalised-again: You turned the counts into relative frequencies and raised those to the power: they no longer sum
to 1. Divide by their sum *after* raising to the power.
- counts.double() → (counts / counts.sum())
-  / raised.sum() →

never-normalised: These are the powers, and they do not sum to 1. Divide by their sum.
-  / raised.sum() →

always-three-quarters: Your power is always 0.75. Use the argument: there are other powers to try.
^ power = 0.75

one-for-the-unseen: You count a word that was never seen once. It occurs next to nothing and need not be sampled: 0 to a
power is 0.
^ counts = counts.clamp(min=1)

power-forgotten: You did not use the power: these are plain relative frequencies. With 0.75, rare words are sampled more
often.
^ power = 1.0

inverse: You sample rare words *most* often. A power between 0 and 1 flattens the distribution, but frequent words stay
ahead: use no minus sign and no 1 over.
- counts.double() ** power → counts.clamp(min=1).double() ** -power

softmax: You took a softmax. Counts are not logits: raise them to the power and divide by their sum.
+ return torch.softmax(counts.double() * power, -1)
""",
)


def _frequent(draw: Draw) -> list[Case]:
    return [case("all words are frequent", draw.integers(20, 60, draw.largest + 2), 0.02)]


def _rare(draw: Draw) -> list[Case]:
    counts = draw.integers(1, 4, draw.largest + 3)
    counts[draw.integer(0, len(counts) - 1)] = 200
    return [case("rare words among frequent ones", counts, 0.03)]


KEEP_PROBABILITY = question(
    "vectors.keep_probability",
    minutes=10,
    difficulty="easy",
    returns=("probabilities",),
    properties=[
        shapes(0.2, _frequent, "one probability per word"),
        values("frequent words", 1, _frequent),
        values("rare words", 0.8, _rare),
    ],
    closed=CLOSED,
    mistakes="""
left-out-for-kept: That is the probability of *dropping* a word, 1 − √(t/f). Return the probability of keeping it: it is
smaller for frequent words.
- return → return 1 -

above-one: Rare words have a probability above 1. Where f is below t, every occurrence is kept: the probability there is
exactly 1.
- .clamp(max=1.0) →

as-the-program-has-it: That is √(t/f) + t/f, which the program published with the paper computes. Return the formula of
the paper: just √(t/f).
- (threshold / frequency).sqrt() → ((threshold / frequency).sqrt() + threshold / frequency)

maximum-for-minimum: Your probabilities are 1 and more: `clamp(min=1)` and `max` take the *larger* of two numbers. Take
the smaller of 1 and √(t/f).
- max=1.0 → min=1

upside-down: You took √(f/t): the more frequent a word, the more of it you keep. Drop the frequent ones: √(t/f).
- threshold / frequency → frequency / threshold

root-forgotten: You left out the root: t/f drops far too many frequent words. Keep √(t/f).
- .sqrt() →

counts-for-frequencies: You compared the threshold with the *count*. f is a relative frequency: divide the counts by
their sum first.
- counts / counts.sum() → counts
""",
)
