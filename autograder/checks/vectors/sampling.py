"""Questions 1b and 1c: how noise is drawn, and which frequent words are left out."""

import torch
from torch import Tensor

from autograder.checks.vectors.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

NOISE, KEPT = ("distribution",), ("probabilities",)


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
            id="never-normalised",
            sentence="These are the powers, and they do not sum to 1. Divide by their sum.",
            implementation=lambda counts, power: counts.double() ** power,
        ),
        Misconception(
            id="always-three-quarters",
            sentence="Your power is always 0.75. Use the argument: there are other powers to try.",
            implementation=lambda counts, power: noise(counts, 0.75),
        ),
        Misconception(
            id="one-for-the-unseen",
            sentence=(
                "A word that was never seen is counted once. It is no neighbour of anything and need not be drawn: 0 to"
                " a power is 0."
            ),
            implementation=lambda counts, power: noise(counts.clamp(min=1), power),
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


def _as_the_program_has_it(counts: Tensor, threshold: float) -> Tensor:
    ratio = threshold / (counts.double() / counts.sum())
    return (ratio.sqrt() + ratio).clamp(max=1.0)


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
            id="as-the-program-has-it",
            sentence=(
                "That is √(t/f) + t/f, which the program computes that came with the paper. Asked is the paper's:"
                " √(t/f) alone."
            ),
            implementation=_as_the_program_has_it,
        ),
        Misconception(
            id="maximum-for-minimum",
            sentence=(
                "Your probabilities are 1 and more: `clamp(min=1)` and `max` take the *larger* of two numbers. Asked is"
                " the smaller of 1 and √(t/f)."
            ),
            implementation=lambda counts, threshold: (threshold / (counts.double() / counts.sum())).sqrt().clamp(min=1),
        ),
        Misconception(
            id="upside-down",
            sentence=(
                "You took √(f/t): the more frequent a word, the more of it is kept. Leave out the frequent: √(t/f)."
            ),
            implementation=lambda counts, threshold: (counts.double() / counts.sum() / threshold).sqrt().clamp(max=1.0),
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
