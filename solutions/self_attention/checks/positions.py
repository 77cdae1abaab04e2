"""Questions 1a, 1b and 1c: sinusoids, rotations, a bias for every distance."""

import torch

from autograder.exercise.declare import holds, judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import inputs_unchanged
from autograder.exercise.laws.self_attention import lengths_are_kept, scores_depend_on_the_distance
from autograder.exercise.specification import Case, case
from solutions.self_attention.checks.common import CLOSED


def _usual(draw: Draw) -> list[Case]:
    length, half = draw.sizes(2)
    return [case("several positions", length + 3, 2 * half), case("one more pair", length + 2, 2 * half + 2)]


def _odd(draw: Draw) -> list[Case]:
    return [case("one position", 1, 4), case("two columns", draw.largest + 2, 2), case("a long text", 60, 6)]


SINUSOIDS = question(
    "self_attention.sinusoids",
    minutes=20,
    difficulty="medium",
    returns=("table",),
    properties=[
        shapes(0.25, _usual, "one row per position"),
        values("the values", 2.75, _usual),
        values("short, narrow, long", 1, _odd),
    ],
    closed=CLOSED,
    tolerance=1e-3,
    mistakes="""
in-two-blocks: Your sines fill the first half and your cosines the second. In this table they alternate: sine in column
2i, cosine in column 2i + 1. (Both layouts are in use; a model must keep to one.)
- table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
+ table[:, : d // 2], table[:, d // 2 :] = angle.sin(), angle.cos()

counted-from-one: Your first position is 1. It should be 0: its sines are 0 and its cosines 1.
- torch.arange(length)[:, None] → torch.arange(1, length + 1)[:, None]

half-the-exponent: Your exponent is i/d, where i is the number of the *pair*. It should be 2i/d, the number of the
column. Without the 2 the slow half of the waves is missing.
- torch.arange(0, d, 2) → torch.arange(d // 2)

twice-the-exponent: Your exponent is twice the column, over d. But i numbers the *pairs*, and 2i is the column already:
arange(0, d, 2) contains the 2.
- torch.arange(0, d, 2) → 2 * torch.arange(0, d, 2)

sine-and-cosine-exchanged: You swapped sine and cosine: the sine belongs in the even columns.
- angle.sin(), angle.cos() → angle.cos(), angle.sin()

each-column-its-own: Your exponent grows with every column. A sine and the cosine next to it share one wavelength:
together they are the hand of one clock.
+ column = torch.arange(d)
+ angle = torch.arange(length)[:, None] / 10_000 ** (column / d)
+ return torch.where(column % 2 == 0, angle.sin(), angle.cos())
""",
)


# --- rotations --------------------------------------------------------------------------------------------


def _vectors(draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    return [case("base 10,000", draw.normal(time + 2, 2 * half), 10_000.0)]


def _bases(draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    return [
        case("base 500", draw.normal(time + 1, 2 * half), 500.0),
        case("base 20, the same sizes", draw.normal(time + 1, 2 * half), 20.0),
        case("one position", draw.normal(1, 4), 10_000.0),
        case("two columns, float64", draw.normal(time, 2, dtype=torch.float64), 50.0),
    ]


def _shifted(draw: Draw) -> list[Case]:
    """The same query and the same key at every position, so their scores may depend only on the distance."""
    _, half = draw.sizes(2)
    time = draw.largest + 3
    query, key = draw.normal(1, 2 * half), draw.normal(1, 2 * half)
    calls = tuple((x.expand(time, -1).contiguous(), 10_000.0) for x in (query, key))
    return [Case(label="one query and one key at all positions", calls=calls)]


ROTATE = question(
    "self_attention.rotate",
    minutes=30,
    difficulty="hard",
    returns=("rotated",),
    properties=[
        holds("lengths are preserved", 0.5, _shifted, lengths_are_kept, about=["rotated"]),
        holds("scores depend only on the distance", 1.5, _shifted, scores_depend_on_the_distance, about=["rotated"]),
        values("the values", 1.5, _vectors, "rotated"),
        values("other bases, one position", 1, _bases, "rotated"),
        judged("x is unchanged", 0.5, _shifted, inputs_unchanged),
    ],
    closed=CLOSED,
    mistakes="""
neighbours-as-pairs: Your pairs are neighbours, 2i and 2i + 1. That is the other layout. Here column i is paired with
column i + d/2, as in SmolLM2, whose weights make no sense with the wrong one.
- x.chunk(2, dim=-1) → x[:, 0::2], x[:, 1::2]
- torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(1)

turned-backwards: You rotate in the wrong direction: the minus goes with the sine in the *first* half, −b sin.
- angle.sin() → -angle.sin()

minus-forgotten: The minus is missing: you return a cos + b sin and a sin + b cos. That is not a rotation: it changes
the lengths of the vectors.
- a * cos - b * sin → a * cos + b * sin

counted-from-one: Your first position is 1. It should be 0, so that the first vector is unchanged.
- torch.arange(time) → torch.arange(1, time + 1)

half-the-exponent: Your exponent is i/d. It should be 2i/d, where i is the number of the pair: the last pairs rotate
slowly.
- torch.arange(0, d, 2) → torch.arange(d // 2)

one-angle-for-all: You rotate all pairs by the same angle. Pair i rotates by position / base^(2i/d): the first fast, the
last slowly, like the hands of a clock.
- base ** (torch.arange(0, d, 2) / d) → torch.ones(d // 2)

new-a-for-b: You computed the second half from the new first half: once a is overwritten, its old values are gone.
Compute both from the old a and b.
- return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ a = a * cos - b * sin
+ return torch.cat([a, a * sin + b * cos], dim=-1)

base-ignored: You always use base 10,000. The base is an argument: SmolLM2's is 100,000.
- base ** → 10_000.0 **

changes-its-input: The result is right, but x has changed: chunk and slices are views, and an assignment to x[...]
writes into the caller's tensor. Join the halves with torch.cat, or work on x.clone().
- torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ x.copy_(torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1))
""",
)


# --- biases -----------------------------------------------------------------------------------------------


def _biases(draw: Draw) -> list[Case]:
    heads, reach = draw.sizes(2)
    return [case("a text within the maximum distance", draw.normal(heads, 2 * reach + 1), reach + 1)]


def _far(draw: Draw) -> list[Case]:
    heads, reach = draw.sizes(2)
    return [
        case("a text longer than the maximum distance", draw.normal(heads, 2 * reach + 1), reach + 4),
        case("one position", draw.normal(heads, 5), 1),
        case("one head", draw.normal(1, 2 * reach + 1), reach + 2),
    ]


RELATIVE_BIAS = question(
    "self_attention.relative_bias",
    minutes=20,
    difficulty="medium",
    returns=("bias",),
    properties=[
        shapes(0.25, _biases, "one value per head, query and key"),
        values("up to the maximum distance", 1.75, _biases),
        values("larger distances, and one position", 1, _far),
    ],
    closed=CLOSED,
    mistakes="""
direction-reversed: You swapped before and after. The distance is key − query, so a key *before* the query has a
negative distance, on the left of the table.
- position[None, :] - position[:, None] → position[:, None] - position[None, :]

distance-without-sign: You use |key − query|, so a key before the query and one after it get the same bias. The table
has a column for each.
- position[None, :] - position[:, None] → (position[None, :] - position[:, None]).abs()

around-the-end: Beyond the maximum distance you wrap around to the other side of the table. All larger distances share
the outermost column: use `clamp`.
- distance.clamp(-reach, reach) + reach → (distance + reach) % table.shape[1]

nothing-beyond-the-reach: Beyond the maximum distance your bias is 0. All larger distances share the outermost column:
`clamp` the distance.
- table[:, distance.clamp(-reach, reach) + reach]
+ table[:, distance.clamp(-reach, reach) + reach].masked_fill(distance.abs() > reach, 0.0)

off-by-one: Your columns are off by one: distance 0 is the middle of the table, column (columns − 1) / 2.
- distance.clamp( → (distance + 1).clamp(
""",
)
