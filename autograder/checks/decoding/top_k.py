"""Question 1b: the k most probable words, at a temperature."""

import torch
from torch import Tensor

from autograder.checks.decoding.common import PROBABILITIES, REFERENCE_ITSELF, different_logits, softmax_of
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case


def _best(logits: Tensor, k: int) -> Tensor:
    kept = torch.zeros(len(logits), dtype=torch.bool)
    kept[logits.topk(min(k, len(logits))).indices] = True
    return kept


def _top_k(logits: Tensor, k: int, temperature: float) -> Tensor:
    return softmax_of(logits / temperature, _best(logits, k))


def _k_words(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [
        case("three words are kept", different_logits(draw, size), 3, 1.0),
        case("two words", different_logits(draw, size), 2, 1.0),
    ]


def _temperatures(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [
        case("a low temperature", different_logits(draw, size), 4, 0.5),
        case("a high one", different_logits(draw, size), 4, 2.0),
    ]


def _extremes(draw: Draw) -> list[Case]:
    size = draw.largest + 2
    return [
        case("one word is kept", different_logits(draw, size), 1, 0.7),
        case("all words are kept", different_logits(draw, size), size, 1.5),
        case("more words than there are", different_logits(draw, size), size + 5, 0.8),
        case("logits above a hundred", different_logits(draw, size) + 150, 3, 1.0),
    ]


def _not_shared_out(logits: Tensor, k: int, temperature: float) -> Tensor:
    return torch.where(_best(logits, k), torch.softmax(logits.double() / temperature, -1), 0.0)


def _zero_logits(logits: Tensor, k: int, temperature: float) -> Tensor:
    return torch.softmax(torch.where(_best(logits, k), logits.double() / temperature, 0.0), -1)


def _tempered_late(logits: Tensor, k: int, temperature: float) -> Tensor:
    p = _top_k(logits, k, 1.0) / temperature
    return p / p.sum() if temperature == 1.0 else p


def _by_size(logits: Tensor, k: int, temperature: float) -> Tensor:
    return _top_k(logits, k, temperature).sort(descending=True).values


def _overflowing(logits: Tensor, k: int, temperature: float) -> Tensor:
    weights = torch.where(_best(logits, k), (logits / temperature).exp(), 0.0)
    return weights / weights.sum()


def _overflowing_before_the_cut(logits: Tensor, k: int, temperature: float) -> Tensor:
    weights = (logits / temperature).exp()
    p = torch.where(_best(logits, k), weights / weights.sum(), 0.0)
    return p / p.sum()


TOP_K = Exercise(
    name="decoding.top_k",
    title="The k best, at a temperature",
    signature="top_k(logits, k, temperature)",
    arguments=("logits", "k", "temperature"),
    returns=PROBABILITIES,
    minutes=15,
    difficulty="easy",
    reference=_top_k,
    properties=(
        Property(name="one probability per word", points=0.25, cases=_k_words, judge=same_shapes(PROBABILITIES)),
        Property(name="k words share the probability", points=1.25, cases=_k_words, judge=same_values(PROBABILITIES)),
        Property(name="temperatures", points=1, cases=_temperatures, judge=same_values(PROBABILITIES)),
        Property(name="one word, all, large logits", points=0.5, cases=_extremes, judge=same_values(PROBABILITIES)),
    ),
    misconceptions=(
        Misconception(
            id="not-shared-out",
            sentence=(
                "The words that you dropped took their probability with them: the rest sums to less than 1. Take the"
                " softmax of what is kept, or divide by its sum."
            ),
            implementation=_not_shared_out,
        ),
        Misconception(
            id="zero-for-minus-infinity",
            sentence=(
                "You set the logits of the dropped words to 0, and e⁰ is 1: they are still in the game, some of them"
                " with more than before. −∞ gives them nothing."
            ),
            implementation=_zero_logits,
        ),
        Misconception(
            id="temperature-multiplied",
            sentence=(
                "You multiplied by the temperature. A high one should make the words more alike: divide the logits by"
                " it."
            ),
            implementation=lambda logits, k, temperature: _top_k(logits, k, 1 / temperature),
        ),
        Misconception(
            id="temperature-after-softmax",
            sentence=(
                "You divided the *probabilities* by the temperature. Then they do not sum to 1, and if one mends that,"
                " nothing has changed. It belongs to the logits, before the softmax."
            ),
            implementation=_tempered_late,
        ),
        Misconception(
            id="temperature-without-effect",
            sentence=(
                "Your temperature changes nothing. It divides the *logits*, before the softmax; dividing probabilities,"
                " and then making them sum to 1, takes it out again."
            ),
            implementation=lambda logits, k, temperature: _top_k(logits, k, 1.0),
        ),
        Misconception(
            id="one-too-many",
            sentence="One word too many is left. Keep exactly k.",
            implementation=lambda logits, k, temperature: _top_k(logits, k + 1, temperature),
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
            id="exponential-overflows",
            sentence=(
                "With large logits yours is NaN: in float32 e to more than 88 is infinite, and ∞ / ∞ is no number."
                " Subtract the largest logit first, which changes no probability, or leave it to `torch.softmax`."
            ),
            implementation=_overflowing,
            also=(_overflowing_before_the_cut,),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
