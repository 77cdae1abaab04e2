"""Questions 1a to 1c: sinusoids, a rotation, and a bias for every distance."""

import torch
from torch import Tensor

import nlmcore.positions as reference
from autograder.draw import Draw
from autograder.judges import law, same_shapes, same_values
from autograder.laws.self_attention import lengths_are_kept, scores_depend_on_the_distance
from autograder.specification import Case, Exercise, Misconception, Property, case

TABLE, ROTATED, BIAS = ("table",), ("rotated",), ("bias",)
REFERENCE_ITSELF = ("nlmcore.positions",)


def _angles(length: int, d: int, base: float = 10_000.0, first: int = 0, step: int = 2) -> Tensor:
    """position / base^(step · i / d), (length, d/2)."""
    position = torch.arange(first, first + length, dtype=torch.float64)[:, None]
    return position / base ** (step * torch.arange(d // 2) / d)


def _table(angles: Tensor) -> Tensor:
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def _own_wavelengths(length: int, d: int) -> Tensor:
    column = torch.arange(d)
    angles = torch.arange(length, dtype=torch.float64)[:, None] / 10_000 ** (column / d)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())


def _usual(draw: Draw) -> list[Case]:
    length, half = draw.sizes(2)
    return [case("several positions", length + 3, 2 * half)]


def _odd(draw: Draw) -> list[Case]:
    return [case("one position", 1, 4), case("two numbers", draw.largest + 2, 2), case("a long text", 60, 6)]


SINUSOIDS = Exercise(
    name="self_attention.sinusoids",
    title="Sines and cosines",
    signature="sinusoids(length, d)",
    arguments=("length", "d"),
    returns=TABLE,
    minutes=20,
    difficulty="medium",
    reference=lambda length, d: reference.sinusoidal(length, d),
    properties=(
        Property(name="one row per position", points=0.25, cases=_usual, judge=same_shapes(TABLE)),
        Property(name="the numbers", points=2.75, cases=_usual, judge=same_values(TABLE)),
        Property(name="short, narrow, long", points=1, cases=_odd, judge=same_values(TABLE)),
    ),
    misconceptions=(
        Misconception(
            id="in-two-blocks",
            sentence=(
                "Your sines stand in the first half and your cosines in the second. In this table they take turns:"
                " sine in column 2i, cosine in column 2i + 1. (Both ways are in use; a model must keep to one.)"
            ),
            implementation=lambda length, d: torch.cat([_angles(length, d).sin(), _angles(length, d).cos()], -1),
        ),
        Misconception(
            id="counted-from-one",
            sentence="Your first position is 1. It is 0: its sines are 0 and its cosines 1.",
            implementation=lambda length, d: _table(_angles(length, d, first=1)),
        ),
        Misconception(
            id="half-the-exponent",
            sentence=(
                "Your exponent is i/d with i the number of the *pair*. It is 2i/d: the number of the column. As it is,"
                " the slow half of the waves is missing."
            ),
            implementation=lambda length, d: _table(_angles(length, d, step=1)),
        ),
        Misconception(
            id="sine-and-cosine-exchanged",
            sentence="Sine and cosine have changed places: the sine has the even columns.",
            implementation=lambda length, d: _table(_angles(length, d)).unflatten(1, (-1, 2)).flip(-1).flatten(1),
        ),
        Misconception(
            id="each-column-its-own",
            sentence=(
                "Your exponent grows with every column. A sine and the cosine beside it share one wavelength: together"
                " they are the hand of one clock."
            ),
            implementation=_own_wavelengths,
        ),
    ),
    closed=REFERENCE_ITSELF,
    tolerance=1e-3,
)


# --- rotary -----------------------------------------------------------------------------------------------


def _rotate(x: Tensor, base: float) -> Tensor:
    positions = torch.arange(len(x))
    return reference.rotary(x[None, None], positions, base=base, layout="half")[0, 0]


def _turned(x: Tensor, base: float, sign: int = 1, first: int = 0, step: int = 2) -> Tensor:
    angle = _angles(len(x), x.shape[1], base, first, step) * sign
    a, b = x.double().chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _neighbours(x: Tensor, base: float) -> Tensor:
    angle = _angles(len(x), x.shape[1], base)
    a, b = x.double()[:, 0::2], x.double()[:, 1::2]
    return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(1)


def _no_minus(x: Tensor, base: float) -> Tensor:
    angle = _angles(len(x), x.shape[1], base)
    a, b = x.double().chunk(2, -1)
    return torch.cat([a * angle.cos() + b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _vectors(draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    return [case("base 10,000", draw.normal(time + 2, 2 * half), 10_000.0)]


def _bases(draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    return [
        case("base 100", draw.normal(time + 1, 2 * half), 100.0),
        case("one position", draw.normal(1, 4), 10_000.0),
        case("two numbers, float64", draw.normal(time, 2, dtype=torch.float64), 50.0),
    ]


def _shifted(draw: Draw) -> list[Case]:
    """The same query and the same key at every position: their scores may depend on the distance alone."""
    _, half = draw.sizes(2)
    time = draw.largest + 3
    query, key = draw.normal(1, 2 * half), draw.normal(1, 2 * half)
    calls = tuple((x.expand(time, -1).contiguous(), 10_000.0) for x in (query, key))
    return [Case(label="one query and one key at all positions", calls=calls)]


ROTATE = Exercise(
    name="self_attention.rotate",
    title="Turned by position",
    signature="rotate(x, base)",
    arguments=("x", "base"),
    returns=ROTATED,
    minutes=30,
    difficulty="hard",
    reference=_rotate,
    properties=(
        Property(name="lengths are kept", points=0.5, cases=_vectors, judge=law(lengths_are_kept)),
        Property(
            name="scores depend on the distance alone",
            points=1.5,
            cases=_shifted,
            judge=law(scores_depend_on_the_distance),
        ),
        Property(name="the numbers", points=2, cases=_vectors, judge=same_values(ROTATED)),
        Property(name="other bases, one position", points=1, cases=_bases, judge=same_values(ROTATED)),
    ),
    misconceptions=(
        Misconception(
            id="neighbours-as-pairs",
            sentence=(
                "Your pairs are neighbours, 2i and 2i + 1. That is the other layout. Here number i is paired with"
                " number i + d/2, as in SmolLM2; with the wrong one its weights read nonsense."
            ),
            implementation=_neighbours,
        ),
        Misconception(
            id="turned-backwards",
            sentence="You turn the other way round: the sine has the minus in the *first* half, −b sin.",
            implementation=lambda x, base: _turned(x, base, sign=-1),
        ),
        Misconception(
            id="minus-forgotten",
            sentence=(
                "The minus is missing: a cos + b sin and a sin + b cos. That is no rotation, and the vectors change"
                " their lengths."
            ),
            implementation=_no_minus,
        ),
        Misconception(
            id="counted-from-one",
            sentence="Your first position is 1: the first vector should stay as it is.",
            implementation=lambda x, base: _turned(x, base, first=1),
        ),
        Misconception(
            id="half-the-exponent",
            sentence="Your exponent is i/d. It is 2i/d, with i the number of the pair: the last ones turn slowly.",
            implementation=lambda x, base: _turned(x, base, step=1),
        ),
        Misconception(
            id="one-angle-for-all",
            sentence=(
                "All pairs turn by the same angle. Pair i turns by position / base^(2i/d): the first one fast, the"
                " last one slowly, like the hands of a clock."
            ),
            implementation=lambda x, base: _turned(x, 1.0),
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- a bias for every distance ----------------------------------------------------------------------------


def _relative(table: Tensor, time: int) -> Tensor:
    reach = (table.shape[1] - 1) // 2
    position = torch.arange(time)
    distance = (position[None, :] - position[:, None]).clamp(-reach, reach)
    return table[:, distance + reach]


def _biases(draw: Draw) -> list[Case]:
    heads, reach = draw.sizes(2)
    return [case("a text within reach", draw.normal(heads, 2 * reach + 1), reach + 1)]


def _far(draw: Draw) -> list[Case]:
    heads, reach = draw.sizes(2)
    return [
        case("a text longer than the reach", draw.normal(heads, 2 * reach + 1), reach + 4),
        case("one position", draw.normal(heads, 5), 1),
    ]


def _by_distance(table: Tensor, distance: Tensor) -> Tensor:
    reach = (table.shape[1] - 1) // 2
    return table[:, distance.clamp(-reach, reach) + reach]


def _steps(time: int) -> Tensor:
    position = torch.arange(time)
    return position[None, :] - position[:, None]


def _wrapped(table: Tensor, time: int) -> Tensor:
    reach = (table.shape[1] - 1) // 2
    return table[:, (_steps(time) + reach) % table.shape[1]]


RELATIVE_BIAS = Exercise(
    name="self_attention.relative_bias",
    title="A bias for every distance",
    signature="relative_bias(table, time)",
    arguments=("table", "time"),
    returns=BIAS,
    minutes=20,
    difficulty="medium",
    reference=_relative,
    properties=(
        Property(name="one number per head, query and key", points=0.25, cases=_biases, judge=same_shapes(BIAS)),
        Property(name="within reach", points=1.75, cases=_biases, judge=same_values(BIAS)),
        Property(name="beyond the reach, and one position", points=1, cases=_far, judge=same_values(BIAS)),
    ),
    misconceptions=(
        Misconception(
            id="direction-reversed",
            sentence=(
                "Before and after have changed places. The distance is key − query: a key *before* the query has a"
                " negative one, on the left of the table."
            ),
            implementation=lambda table, time: _by_distance(table, -_steps(time)),
        ),
        Misconception(
            id="distance-without-sign",
            sentence=(
                "You use |key − query|: what comes before and what comes after get the same bias. The table has a"
                " column for each."
            ),
            implementation=lambda table, time: _by_distance(table, _steps(time).abs()),
        ),
        Misconception(
            id="around-the-end",
            sentence=(
                "Beyond the reach you come in again on the other side of the table. All distances beyond it share its"
                " outermost column: `clamp`."
            ),
            implementation=_wrapped,
        ),
        Misconception(
            id="off-by-one",
            sentence="Your columns are off by one: distance 0 is the middle of the table, column (columns − 1) / 2.",
            implementation=lambda table, time: _by_distance(table, _steps(time) + 1),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
