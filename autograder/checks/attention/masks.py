"""Question 3: one mask that hides the future and the padding."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

import nlmcore.attention as reference
from autograder.checks.attention.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_values
from autograder.exercise.laws.attention import boolean_mask, last_row_is_known
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

RETURNS = ("mask",)


def _lengths(draw: Draw, batch: int, time: int) -> Tensor:
    """One sentence fills the time, one does not; lengths are at least 1."""
    lengths = draw.integers(1, time, batch)
    lengths[0], lengths[1] = time, draw.integer(1, time - 1)
    return lengths


def _padded(draw: Draw) -> list[Case]:
    batch, time = draw.sizes(2)
    lengths, time = _lengths(draw, batch, time + 1), time + 1
    words = reference.padding_mask(lengths, time)
    return [Case(label="sentences of different lengths", calls=((lengths, time),), known=(words,))]


def _full(draw: Draw) -> list[Case]:
    batch, time = draw.sizes(2)
    return [
        case("no padding at all", torch.full((batch,), time), time),
        case("one word", torch.ones(1, dtype=torch.int64), 1),
    ]


def _edges(draw: Draw) -> list[Case]:
    batch, time = draw.sizes(2)
    lengths = _lengths(draw, batch, time)
    lengths[1] = 0
    return [
        case("sentences of different lengths", _lengths(draw, batch, time + 1), time + 1),
        case("an empty sentence in the batch", lengths, time),
        case("more time than the longest sentence needs", _lengths(draw, batch, time), time + 2),
    ]


def _combined(combine: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> Callable[[Tensor, int], Tensor]:
    """A mask from (query position, key position, length); the last argument is unused room for a time."""

    def decoder_mask(lengths: Tensor, time: int) -> Tensor:
        position = torch.arange(time)
        query, key = position[None, None, :, None], position[None, None, None, :]
        made = combine(query, key, lengths[:, None, None, None], torch.tensor(time))
        return made.expand(len(lengths), 1, time, time).clone()

    return decoder_mask


def _additive(lengths: Tensor, time: int) -> Tensor:
    return torch.zeros(len(lengths), 1, time, time).masked_fill(~_reference(lengths, time), -math.inf)


def _reference(lengths: Tensor, time: int) -> Tensor:
    return reference.causal_mask(time) & reference.padding_mask(lengths, time)[:, None, None, :]


DECODER_MASK = Exercise(
    name="attention.decoder_mask",
    title="Neither the future nor the padding",
    signature="decoder_mask(lengths, time)",
    arguments=("lengths", "time"),
    returns=RETURNS,
    minutes=15,
    difficulty="medium",
    reference=_reference,
    properties=(
        Property(
            name="boolean, of shape (batch, 1, time, time)",
            points=0.5,
            cases=_padded,
            judge=boolean_mask,
        ),
        Property(name="nobody sees the future", points=1, cases=_full, judge=same_values(RETURNS)),
        Property(name="nobody sees padding", points=1, cases=_padded, judge=law(last_row_is_known)),
        Property(name="both together, edges included", points=0.5, cases=_edges, judge=same_values(RETURNS)),
    ),
    misconceptions=(
        Misconception(
            id="padding-forgotten",
            sentence="Your mask hides the future, and padding can still be seen: the lengths play no part.",
            implementation=_combined(lambda query, key, length, time: key <= query),
        ),
        Misconception(
            id="future-forgotten",
            sentence=(
                "Your mask hides padding, and every word can see the words after it. A decoder that sees the next"
                " word has nothing left to predict."
            ),
            implementation=_combined(lambda query, key, length, time: (key < length) & (query >= 0)),
        ),
        Misconception(
            id="inverted",
            sentence="This is the mask of what is forbidden. Here True means “may attend”: put ~ in front of it.",
            implementation=_combined(lambda query, key, length, time: ~((key <= query) & (key < length))),
        ),
        Misconception(
            id="not-even-itself",
            sentence=(
                "A word cannot see itself in your mask, and the first word sees nothing at all. Key ≤ query, with"
                " equality: the diagonal belongs to the past."
            ),
            implementation=_combined(lambda query, key, length, time: (key < query) & (key < length)),
        ),
        Misconception(
            id="the-past-hidden",
            sentence=(
                "Your triangle is the upper one: words see the future and not the past. Row = query, column = key."
            ),
            implementation=_combined(lambda query, key, length, time: (key >= query) & (key < length)),
        ),
        Misconception(
            id="one-word-too-many",
            sentence=(
                "Every sentence is one word too long: the first padding position can be seen. Positions count from 0,"
                " so a sentence of length 3 has positions 0, 1, 2."
            ),
            implementation=_combined(lambda query, key, length, time: (key <= query) & (key <= length)),
        ),
        Misconception(
            id="padding-of-queries",
            sentence=(
                "In your mask, queries at padding (rows) see nothing. What matters is who is looked at, the keys"
                " (columns): rows at padding are computed in vain and read by nobody, so they stay as they are."
            ),
            implementation=_combined(lambda query, key, length, time: (key <= query) & (query < length)),
        ),
        Misconception(
            id="or-in-place-of-and",
            sentence=(
                "A key may be seen only if it is in the past AND is a word; your mask says OR. Combine the two with &."
            ),
            implementation=_combined(lambda query, key, length, time: (key <= query) | (key < length)),
        ),
        Misconception(
            id="zero-and-minus-infinity",
            sentence=(
                "This is the kind of mask that is added to scores, 0 and −∞. Asked for is a boolean one: True = may"
                " attend."
            ),
            implementation=_additive,
        ),
    ),
    closed=(REFERENCE_ITSELF,),
)
