"""Question 1c: the smallest set of most probable words that sums to at least p."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.decoding.common import PROBABILITIES, REFERENCE_ITSELF, different_logits, softmax_of
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case


def _nucleus(logits: Tensor, p: float) -> Tensor:
    return _nucleus_by(logits, lambda before, own: before < p)


def _nucleus_by(logits: Tensor, keep: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """`keep` is told, from the most probable word down, the mass before each word and its own."""
    own, order = torch.softmax(logits.double(), -1).sort(descending=True)
    kept = torch.zeros(len(logits), dtype=torch.bool)
    kept[order] = keep(own.cumsum(0) - own, own)
    return softmax_of(logits, kept) if kept.any() else torch.zeros(len(logits), dtype=torch.float64)


def _far_from_the_edge(draw: Draw, size: int, p: float) -> Tensor:
    """Logits whose cumulative sums all stay away from p, and of which p cuts off between 1 and size − 2 words."""
    while True:
        logits = different_logits(draw, size)
        sums = torch.softmax(logits.double(), -1).sort(descending=True).values.cumsum(0)
        if (sums - p).abs().min() > 0.02 and 1 <= int((sums < p).sum()) <= size - 3:
            return logits


def _usual(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [case(f"p = {p}", _far_from_the_edge(draw, size, p), p) for p in (0.9, 0.7)]


def _sharp(draw: Draw) -> list[Case]:
    """One word has more than p."""
    size = draw.largest + 2
    logits = different_logits(draw, size)
    logits[draw.integer(0, size - 1)] = logits.max() + 4
    return [case("one word has more than p", logits, 0.5)]


def _extremes(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [
        case("p = 1", different_logits(draw, size), 1.0),
        case("a very small p", different_logits(draw, size), 0.01),
        case("logits above a hundred", _far_from_the_edge(draw, size, 0.8) + 150, 0.8),
    ]


def _shares(logits: Tensor) -> Tensor:
    return torch.softmax(logits.double(), -1)


def _crossing_dropped(logits: Tensor, p: float) -> Tensor:
    return _nucleus_by(logits, lambda before, own: before + own <= p)


def _crossing_dropped_but_one(logits: Tensor, p: float) -> Tensor:
    return _nucleus_by(logits, lambda before, own: (before + own <= p) | (before == 0))


def _one_too_many(logits: Tensor, p: float) -> Tensor:
    return _nucleus_by(logits, lambda before, own: torch.cat([torch.tensor([True]), before[:-1] < p]))


def _not_shared(logits: Tensor, p: float) -> Tensor:
    return torch.where(_nucleus(logits, p) > 0, _shares(logits), 0.0)


def _zero_logits(logits: Tensor, p: float) -> Tensor:
    return torch.softmax(torch.where(_nucleus(logits, p) > 0, logits.double(), 0.0), -1)


def _softmax_twice(logits: Tensor, p: float) -> Tensor:
    return softmax_of(_shares(logits), _nucleus(logits, p) > 0)


def _by_size(logits: Tensor, p: float) -> Tensor:
    return _nucleus(logits, p).sort(descending=True).values


def _wrong_way_back(logits: Tensor, p: float) -> Tensor:
    return _by_size(logits, p)[logits.argsort(descending=True)]


def _overflowing(logits: Tensor, p: float) -> Tensor:
    return torch.where(logits.exp().isinf().any(), torch.full_like(logits, torch.nan), _nucleus(logits, p).float())


NUCLEUS = Exercise(
    name="decoding.nucleus",
    title="The nucleus",
    signature="nucleus(logits, p)",
    arguments=("logits", "p"),
    returns=PROBABILITIES,
    minutes=25,
    difficulty="medium",
    reference=_nucleus,
    properties=(
        Property(name="one probability per word", points=0.25, cases=_usual, judge=same_shapes(PROBABILITIES)),
        Property(name="the usual p", points=2, cases=_usual, judge=same_values(PROBABILITIES)),
        Property(name="one word has more than p", points=1, cases=_sharp, judge=same_values(PROBABILITIES)),
        Property(name="p = 1, tiny p, large logits", points=0.75, cases=_extremes, judge=same_values(PROBABILITIES)),
    ),
    misconceptions=(
        Misconception(
            id="crossing-word-dropped",
            sentence=(
                "You dropped the word with which the sum gets to p. It belongs to the nucleus: the smallest set whose"
                " sum is *at least* p. (If one word alone has more than p, such a rule keeps nothing.)"
            ),
            implementation=_crossing_dropped,
            also=(_crossing_dropped_but_one,),
        ),
        Misconception(
            id="one-too-many",
            sentence="You kept the word *after* the sum had got to p, too. The set should be as small as it can be.",
            implementation=_one_too_many,
        ),
        Misconception(
            id="not-shared-out",
            sentence=(
                "The words that you dropped took their probability with them: the rest sums to less than 1. Divide by"
                " its sum."
            ),
            implementation=_not_shared,
        ),
        Misconception(
            id="zero-for-minus-infinity",
            sentence=(
                "You set the logits of the dropped words to 0, and e⁰ is 1: they are still in the game. −∞ gives them"
                " nothing."
            ),
            implementation=_zero_logits,
        ),
        Misconception(
            id="softmax-twice",
            sentence=(
                "You took the softmax of *probabilities*, which makes them nearly alike. What is kept is only divided"
                " by its sum; a softmax belongs to logits."
            ),
            implementation=_softmax_twice,
        ),
        Misconception(
            id="sorted-by-size",
            sentence=(
                "The numbers are right, but they stand in the order of their size. Number w belongs to word w: put"
                " them back into the words' places."
            ),
            implementation=_by_size,
        ),
        Misconception(
            id="wrong-way-back",
            sentence=(
                "The numbers are right, but they stand in the wrong places: `sorted[order]` shuffles once more. The"
                " way back is an assignment, `out[order] = sorted`."
            ),
            implementation=_wrong_way_back,
        ),
        Misconception(
            id="least-probable-first",
            sentence="You gathered the words from the least probable up. Begin with the most probable one.",
            implementation=lambda logits, p: _nucleus_by(logits, lambda before, own: before + own > 1 - p),
        ),
        Misconception(
            id="each-for-itself",
            sentence=(
                "You compared each word's own probability with 1 − p. It is the running *sum*, from the most probable"
                " word down, that is compared with p. (A bound on each word is another method: min-p.)"
            ),
            implementation=lambda logits, p: _nucleus_by(logits, lambda before, own: own >= 1 - p),
        ),
        Misconception(
            id="exponential-overflows",
            sentence=(
                "With large logits yours is NaN: in float32 e to more than 88 is infinite, and ∞ / ∞ is no number."
                " Subtract the largest logit first, which changes no probability, or leave it to `torch.softmax`."
            ),
            implementation=_overflowing,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
