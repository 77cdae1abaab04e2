"""Questions 1a to 1c: which pairs are learned from, how noise is drawn, and which frequent words are left out."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.checks.vectors.common import REFERENCE_ITSELF
from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.laws.vectors import same_pairs
from autograder.specification import Case, Exercise, Misconception, Property, case

PAIRS, NOISE, KEPT = ("pairs",), ("distribution",), ("probabilities",)


def _text(draw: Draw, length: int) -> list[int]:
    """Ids that are all different, so that every pair says where it comes from."""
    return draw.integers(0, 10**9, length + 5).argsort().tolist()[:length]


def window_pairs(words: Sequence[int], m: int) -> list[list[int]]:
    return [
        [words[i], words[j]]
        for i in range(len(words))
        for j in range(max(0, i - m), min(len(words), i + m + 1))
        if j != i
    ]


def _inside(draw: Draw) -> list[Case]:
    return [case("m = 2", _text(draw, draw.largest + 3), 2), case("m = 1", _text(draw, draw.largest + 2), 1)]


def _edges(draw: Draw) -> list[Case]:
    return [case("a text shorter than the window", _text(draw, 3), 4), case("two words", _text(draw, 2), 1)]


def _repeated(draw: Draw) -> list[Case]:
    a, b, c = _text(draw, 3)
    return [case("a word that comes twice in one window", [a, b, a, c, c], 2)]


def _around_the_end(words: Sequence[int], m: int) -> list[list[int]]:
    n = len(words)
    return [[words[i], words[(i + d) % n]] for i in range(n) for d in range(-m, m + 1) if d != 0 and -n < i + d < n]


def _unlike(words: Sequence[int], m: int) -> list[list[int]]:
    return [pair for pair in window_pairs(words, m) if pair[0] != pair[1]]


def _with_itself(words: Sequence[int], m: int) -> list[list[int]]:
    return [[words[i], words[j]] for i in range(len(words)) for j in range(max(0, i - m), min(len(words), i + m + 1))]


WINDOW_PAIRS = Exercise(
    name="vectors.window_pairs",
    title="Who stands near whom",
    signature="window_pairs(words, m)",
    arguments=("words", "m"),
    returns=PAIRS,
    minutes=15,
    difficulty="easy",
    reference=window_pairs,
    properties=(
        Property(name="words in the middle and at the ends", points=1.5, cases=_inside, judge=same_pairs("pairs")),
        Property(name="texts shorter than the window", points=0.75, cases=_edges, judge=same_pairs("pairs")),
        Property(name="a word twice in one window", points=0.75, cases=_repeated, judge=same_pairs("pairs")),
    ),
    misconceptions=(
        Misconception(
            id="only-to-the-right",
            sentence=(
                "You only look at the words *after* the centre. The window reaches m words to both sides: 2m words in"
                " all."
            ),
            implementation=lambda words, m: [
                [words[i], words[j]] for i in range(len(words)) for j in range(i + 1, min(len(words), i + m + 1))
            ],
        ),
        Misconception(
            id="with-itself",
            sentence="The centre is paired with itself. A word does not predict itself: leave its own place out.",
            implementation=_with_itself,
        ),
        Misconception(
            id="around-the-end",
            sentence=(
                "At the beginning of the text you took words from its end: an index below 0 counts from the back in"
                " Python. Cut the window off at 0."
            ),
            implementation=_around_the_end,
        ),
        Misconception(
            id="window-too-small",
            sentence="The window's last word is missing on the right: `range` ends one before its second argument.",
            implementation=lambda words, m: [
                [words[i], words[j]]
                for i in range(len(words))
                for j in range(max(0, i - m), min(len(words), i + m))
                if j != i
            ],
        ),
        Misconception(
            id="equal-words-left-out",
            sentence=(
                "You left out pairs of equal *words*. Left out is the centre's own *place*; the same word two places"
                " on is a neighbour like any other."
            ),
            implementation=_unlike,
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- noise ------------------------------------------------------------------------------------------------


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


def noise(counts: Tensor, power: float) -> Tensor:
    raised = counts.double() ** power
    return raised / raised.sum()


NOISE_DISTRIBUTION = Exercise(
    name="vectors.noise",
    title="Whom to draw as noise",
    signature="noise(counts, power)",
    arguments=("counts", "power"),
    returns=NOISE,
    minutes=10,
    difficulty="easy",
    reference=noise,
    properties=(
        Property(name="one probability per word", points=0.2, cases=_three_quarters, judge=same_shapes(NOISE)),
        Property(name="the usual power", points=0.8, cases=_three_quarters, judge=same_values(NOISE)),
        Property(name="other powers", points=0.5, cases=_powers, judge=same_values(NOISE)),
        Property(name="a word with count 0", points=0.5, cases=_never_seen, judge=same_values(NOISE)),
    ),
    misconceptions=(
        Misconception(
            id="not-normalised-again",
            sentence=(
                "You made shares of the counts and raised those to the power: they no longer sum to 1. Divide by their"
                " sum *after* the power."
            ),
            implementation=lambda counts, power: (counts / counts.sum()) ** power,
        ),
        Misconception(
            id="power-forgotten",
            sentence="The power plays no part: these are the plain shares. With 0.75 rare words are drawn more often.",
            implementation=lambda counts, power: counts / counts.sum(),
        ),
        Misconception(
            id="inverse",
            sentence=(
                "Your rare words are drawn *most*. A power between 0 and 1 flattens the distribution, but the frequent"
                " words stay in front: no minus sign, no 1 over."
            ),
            implementation=lambda counts, power: noise(counts.clamp(min=1), -power),
        ),
        Misconception(
            id="softmax",
            sentence="You took a softmax. Counts are not logits: raise them to the power and divide by their sum.",
            implementation=lambda counts, power: torch.softmax(counts.double() * power, -1),
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- frequent words ---------------------------------------------------------------------------------------


def keep_probability(counts: Tensor, threshold: float) -> Tensor:
    frequency = counts.double() / counts.sum()
    return (threshold / frequency).sqrt().clamp(max=1.0)


def _frequent(draw: Draw) -> list[Case]:
    return [case("all words are frequent", draw.integers(20, 60, draw.largest + 2), 0.02)]


def _rare(draw: Draw) -> list[Case]:
    counts = draw.integers(1, 4, draw.largest + 3)
    counts[draw.integer(0, len(counts) - 1)] = 200
    return [case("rare words among frequent ones", counts, 0.03)]


KEEP_PROBABILITY = Exercise(
    name="vectors.keep_probability",
    title="Leaving out the frequent",
    signature="keep_probability(counts, threshold)",
    arguments=("counts", "threshold"),
    returns=KEPT,
    minutes=10,
    difficulty="easy",
    reference=keep_probability,
    properties=(
        Property(name="one probability per word", points=0.2, cases=_frequent, judge=same_shapes(KEPT)),
        Property(name="frequent words", points=1, cases=_frequent, judge=same_values(KEPT)),
        Property(name="rare words", points=0.8, cases=_rare, judge=same_values(KEPT)),
    ),
    misconceptions=(
        Misconception(
            id="left-out-for-kept",
            sentence=(
                "That is the probability of being *left out*, 1 − √(t/f). Asked is that of being kept: the frequent"
                " word has the smaller one."
            ),
            implementation=lambda counts, threshold: 1 - keep_probability(counts, threshold),
        ),
        Misconception(
            id="above-one",
            sentence=(
                "Rare words have a probability above 1. Where f is below t every occurrence is kept: the probability is"
                " 1 there, and no more."
            ),
            implementation=lambda counts, threshold: (threshold / (counts.double() / counts.sum())).sqrt(),
        ),
        Misconception(
            id="root-forgotten",
            sentence="The root is missing: t/f takes far too much from frequent words. Keep √(t/f).",
            implementation=lambda counts, threshold: (threshold / (counts.double() / counts.sum())).clamp(max=1.0),
        ),
        Misconception(
            id="counts-for-frequencies",
            sentence=(
                "You compared the threshold with the *count*. f is a share of the text: divide the counts by their sum"
                " first."
            ),
            implementation=lambda counts, threshold: (threshold / counts.double()).sqrt().clamp(max=1.0),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
