"""Question 3: one mask that hides the future and the padding."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.laws.attention import boolean_mask, last_row_is_known
from autograder.exercise.specification import Case, case
from solutions.attention.checks.common import CLOSED


def _lengths(draw: Draw, batch: int, time: int) -> Tensor:
    """One sentence fills the time, one does not; lengths are at least 1."""
    lengths = draw.integers(1, time, batch)
    lengths[0], lengths[1] = time, draw.integer(1, time - 1)
    return lengths


def _padded(draw: Draw) -> list[Case]:
    batch, time = draw.sizes(2)
    lengths = _lengths(draw, batch, time + 1)
    words = torch.arange(time + 1) < lengths[:, None]
    return [Case(label="sentences of different lengths", calls=((lengths, time + 1),), known=(words,))]


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
        case("more padding than the longest sentence needs", _lengths(draw, batch, time), time + 2),
    ]


DECODER_MASK = question(
    "attention.decoder_mask",
    minutes=15,
    difficulty="medium",
    returns=("mask",),
    properties=[
        judged("boolean, of shape (batch, 1, time, time)", 0.5, _padded, boolean_mask),
        values("no query sees the future", 1, _full),
        holds("no query sees padding", 1, _padded, last_row_is_known),
        values("both together, edges included", 0.5, _edges),
    ],
    closed=CLOSED,
    mistakes="""
padding-forgotten: Your mask hides the future but not the padding: it does not use the lengths.
- past[None, None, :, :] & word[:, None, None, :] → past.repeat(len(lengths), 1, 1, 1)

future-forgotten: Your mask hides padding, but every word can see the words after it. A decoder that sees the next word
has nothing left to predict.
- past[None, None, :, :] & word[:, None, None, :] → word[:, None, None, :].repeat(1, 1, time, 1)

inverted: This is the mask of what is forbidden. Here True means “may attend”: put ~ in front of it.
- past[None, None, :, :] & word[:, None, None, :] → ~(past[None, None, :, :] & word[:, None, None, :])

not-even-itself: In your mask a word cannot see itself, and the first word sees nothing at all. Use key ≤ query, with
equality: the diagonal belongs to the past.
- <= → <

the-past-hidden: Your triangle is the upper one: words see the future but not the past. Rows are queries, columns are
keys.
- <= → >=

one-word-too-many: Your mask makes every sentence one word too long: the first padding position is visible. Positions
count from 0, so a sentence of length 3 has positions 0, 1, 2.
- < lengths → <= lengths

padding-of-queries: In your mask, queries at padding (rows) see nothing. What has to be hidden is keys at padding
(columns); the results of rows at padding are never used, so leave them as they are.
- word[:, None, None, :] → word[:, None, :, None]

or-in-place-of-and: A key may be seen only if it is in the past AND is a word; your mask says OR. Combine the two with
&.
- & word → | word

zero-and-minus-infinity: This is the kind of mask that is added to scores, with 0 and −∞. Return a boolean one: True =
may attend.
- past[None, None, :, :] & word[:, None, None, :]
+ torch.where(past[None, None, :, :] & word[:, None, None, :], 0.0, -math.inf)
""",
)
