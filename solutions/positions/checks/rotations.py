"""Questions 3a and 3b: rotary positions in two layouts, with a cache, and slowed down."""

import torch

from autograder.exercise.declare import holds, judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import inputs_unchanged
from autograder.exercise.laws.self_attention import scores_depend_on_the_distance
from autograder.exercise.specification import Case, case
from solutions.positions.checks.common import CLOSED, waves
from solutions.positions.laws import the_rest_is_rotated_as_in_the_whole

LAYOUTS = ("half", "interleaved")


def _in(layout: str, draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    return [
        case(f"{layout}, after a cache", draw.normal(time + 1, 2 * half), draw.integer(2, 6), waves(half), layout),
        case(f"{layout}, batch and heads", draw.normal(2, 3, time, 2 * half + 2), 1, waves(half + 1), layout),
    ]


def _halves(draw: Draw) -> list[Case]:
    return _in("half", draw)


def _neighbours(draw: Draw) -> list[Case]:
    return _in("interleaved", draw)


def _with_a_cache(draw: Draw) -> list[Case]:
    """All rows of a text are alike, so what they become depends only on their positions."""
    time, half = draw.sizes(2)
    cases = []
    for layout in LAYOUTS:
        x, first = draw.normal(2, 1, 2 * half).repeat(1, time + 2, 1), draw.integer(0, 4)
        rest = x[:, 2:].contiguous()
        cases.append(
            Case(
                label=f"{layout}, the whole and the rest",
                calls=((x, first, waves(half), layout), (rest, first + 2, waves(half), layout)),
            )
        )
    return cases


def _shifted(draw: Draw) -> list[Case]:
    """The same query and the same key at every position, so their scores may depend only on the distance."""
    _, half = draw.sizes(2)
    time, first = draw.largest + 3, draw.integer(1, 5)
    cases = []
    for layout in LAYOUTS:
        given = [draw.normal(1, 2 * half).expand(time, -1).contiguous() for _ in range(2)]
        calls = tuple((x, first, waves(half), layout) for x in given)
        cases.append(Case(label=f"{layout}, one query and one key at all positions", calls=calls))
    return cases


def _odd(draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    wide = draw.normal(time, 2 * half, dtype=torch.float64)
    return [
        case("one position, far into a text", draw.normal(1, 4), 200, waves(2), "half"),
        case("two dimensions", draw.normal(time, 2), 1, waves(1), "interleaved"),
        case("float64", wide, 0, waves(half).double(), "interleaved"),
    ]


ROTARY = question(
    "positions.rotary",
    minutes=30,
    difficulty="hard",
    returns=("rotated",),
    properties=[
        holds("the rest of a text after a cache", 0.75, _with_a_cache, the_rest_is_rotated_as_in_the_whole),
        holds("scores depend only on the distance", 0.75, _shifted, scores_depend_on_the_distance),
        values("the values, half", 1.25, _halves),
        values("the values, interleaved", 1.25, _neighbours),
        values("one position, two dimensions, float64", 0.5, _odd),
        judged("x is unchanged", 0.5, _with_a_cache, inputs_unchanged),
    ],
    closed=CLOSED,
    tolerance=1e-3,
    mistakes="""
first-ignored: Row 0 is always at position 0 for you. It is at position `first`: that many tokens were read before.
- first + torch.arange(x.shape[-2]) → torch.arange(x.shape[-2])

all-rows-at-first: You rotate all rows by the same angle, that of position `first`. Row t is at position first + t.
- first + torch.arange(x.shape[-2]) → first + 0 * torch.arange(x.shape[-2])

layouts-swapped: You swapped the two layouts: "half" pairs coordinate i with i + d/2, "interleaved" pairs neighbours.
* layout == "half" → layout != "half"

always-halves: You always pair the two halves. With "interleaved", neighbours are a pair.
* layout == "half" → True

always-neighbours: You always pair neighbours. With "half", coordinate i is paired with i + d/2.
* layout == "half" → False

angles-as-halves: With "interleaved" you pair the right coordinates, but repeat the angles as for halves. The two
coordinates of a pair are neighbours here, so they must have the same angle: `repeat_interleave`, not `cat` or `repeat`.
- new_a, new_b = a * cos - b * sin, a * sin + b * cos
+ wide = torch.cat([angle, angle], dim=-1)
+ of_a, of_b = (angle, angle) if layout == "half" else (wide[:, 0::2], wide[:, 1::2])
+ new_a, new_b = a * of_a.cos() - b * of_a.sin(), a * of_b.sin() + b * of_b.cos()

put-together-as-halves: With "interleaved" you pair the right coordinates, but then put the results together as
halves. Each must return to its own place.
- return torch.stack([new_a, new_b], dim=-1).flatten(-2) → return torch.cat([new_a, new_b], dim=-1)

rotated-backwards: You rotate in the wrong direction: (1, 0), rotated by a quarter turn, is (0, 1).
- angle.sin() → -angle.sin()

minus-forgotten: The minus is missing. A rotation takes (0, 1) by a quarter turn to (−1, 0); without the minus it
changes the lengths of vectors.
- a * cos - b * sin → a * cos + b * sin

new-a-for-b: You computed the second coordinate from the new first one: once a is overwritten, its old values are gone.
- new_a, new_b = a * cos - b * sin, a * sin + b * cos
+ new_a = a * cos - b * sin
+ new_b = new_a * sin + b * cos

one-frequency-for-all: You use the first frequency for all pairs. Pair i has frequency i.
- position[:, None] * frequencies → position[:, None] * frequencies[:1]

heads-as-positions: You take the first axis of x for time. With a batch and heads the position is the last axis but one.
- position = first + torch.arange(x.shape[-2])
- angle = position[:, None] * frequencies
+ position = first + torch.arange(x.shape[0])
+ angle = position.reshape(-1, *(1,) * (x.ndim - 1)) * frequencies

changes-its-input: The result is right, but x has changed: slices and chunks are views, and an assignment to them
writes into the caller's tensor.
- new_a, new_b = a * cos - b * sin, a * sin + b * cos
+ new_a, new_b = a * cos - b * sin, b.mul_(cos) + a * sin
""",
)


# --- slower -----------------------------------------------------------------------------------------------


def _linear(draw: Draw) -> list[Case]:
    half, factor = draw.sizes(2)
    return [case("linear", 2 * half, 10_000.0, float(factor), "linear")]


def _ntk(draw: Draw) -> list[Case]:
    half, factor = draw.sizes(2)
    return [
        case("ntk", 2 * half, 10_000.0, float(factor), "ntk"),
        case("ntk, wider, base 100", 2 * half + 4, 100.0, factor + 0.5, "ntk"),
    ]


def _odd_factors(draw: Draw) -> list[Case]:
    half, factor = draw.sizes(2)
    return [
        case("linear, base 100", 2 * half, 100.0, factor + 0.5, "linear"),
        case("ntk, as long as in training", 2 * half, 500.0, 1.0, "ntk"),
        case("ntk, two dimensions", 2, 10_000.0, 4.0, "ntk"),
    ]


SLOWER = question(
    "positions.slower",
    minutes=15,
    difficulty="medium",
    returns=("frequencies",),
    properties=[
        values("linear", 0.5, _linear, tolerance=1e-5),
        values("ntk", 1.25, _ntk, tolerance=1e-5),
        values("a factor of 1, two dimensions, other bases", 0.75, _odd_factors, tolerance=1e-5),
    ],
    closed=CLOSED,
    tolerance=1e-5,
    mistakes="""
faster: You make the pairs faster. Longer texts need slower ones: divide the frequencies by the factor.
- base**exponent / factor → base**exponent * factor

base-times-factor: You multiplied the base by the factor. Then the slowest pair is not slowed down by the whole factor,
because its exponent is not −1 but −(d − 2)/d.
- factor ** (d / (d - 2)) → factor

power-upside-down: Your power of the factor is upside down, (d − 2)/d. Solve again: the slowest frequency is base to the
power of −(d − 2)/d.
- d / (d - 2) → (d - 2) / d

slowest-is-not-d-over-two: You took i = d/2 for the slowest pair, or counted pairs for dimensions. The pairs are
counted from 0, so the last one is d/2 − 1, and its exponent −(d − 2)/d.
- d / (d - 2) → d / (d - 1)

base-divided: You made the base smaller, and with it all waves shorter. Slower pairs need a larger base.
- base * factor ** → base / factor **

ntk-slows-all: With "ntk" you slow down all pairs. The fastest must keep its frequency exactly.
- if d > 2:
-     base = base * factor ** (d / (d - 2))
- return base**exponent
+ return base**exponent / factor

half-the-exponent: Your frequencies have the exponent −i/d. It should be −2i/d, where i is the number of the pair.
- -torch.arange(0, d, 2, dtype=torch.float64) → -torch.arange(d // 2, dtype=torch.float64)

methods-swapped: You swapped the two methods.
- if method == "linear": → if method != "linear":
""",
)
