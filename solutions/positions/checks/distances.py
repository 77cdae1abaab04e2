"""Questions 2a and 2b: T5's buckets, ALiBi."""

import math

import torch
from torch import Tensor

from autograder.exercise.declare import any_order, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.positions.checks.common import CLOSED


def _safe(distance: int, n: int, max_distance: int) -> bool:
    """Whether rounding cannot decide the bucket: a boundary between far buckets is not at this distance."""
    near = n // 2
    if not near < distance < max_distance:
        return True
    share = math.log(distance / near) / math.log(max_distance / near) * (n - near)
    return abs(share - round(share)) > 1e-3


def _far(draw: Draw, n: int, max_distance: int) -> Tensor:
    """Some distances that are far: the first of them, the maximum, others in between and beyond."""
    near = n // 2
    some = [draw.integer(near + 1, max_distance - 1) for _ in range(6)] + [max_distance + draw.integer(0, 2 * n)]
    return torch.tensor([near, max_distance - 1, *(d for d in some if _safe(d, n, max_distance)), max_distance])


def _sizes(draw: Draw) -> tuple[int, int]:
    """(buckets for one direction, the distance of the last)."""
    n = 2 * draw.integer(3, 6)
    return n, draw.integer(3 * n, 5 * n)


def _near_keys(draw: Draw) -> list[Case]:
    n, max_distance = _sizes(draw)
    return [case("near keys, causal", -torch.arange(n // 2), n, max_distance, False)]


def _far_keys(draw: Draw) -> list[Case]:
    cases = []
    for label in ("far keys, causal", "other far keys, causal"):
        n, max_distance = _sizes(draw)
        cases.append(case(label, -_far(draw, n, max_distance), n, max_distance, False))
    return cases


def _both_ways(draw: Draw) -> list[Case]:
    n, max_distance = _sizes(draw)
    far, near = _far(draw, n, max_distance), torch.arange(1, n // 2)
    return [
        case("near keys, both directions", torch.cat([-near, near * 0, near]), 2 * n, max_distance, True),
        case("far keys, both directions", torch.cat([far, -far]), 2 * n, max_distance, True),
    ]


def _odd(draw: Draw) -> list[Case]:
    queries, keys = draw.sizes(2)
    n, max_distance = _sizes(draw)
    position = torch.arange(keys + queries)
    return [
        case("an odd number of buckets", -torch.arange(n // 2 + 1), n + 1, max_distance, False),
        case("an odd number of buckets, far keys", -_far(draw, n + 1, max_distance), n + 1, max_distance, False),
        case("a table of queries and keys", position - position[-queries:, None], n, max_distance, False),
        case(EQUAL, position - position[:, None], n, max_distance, False),
        case("very far keys", torch.tensor([-100_000, 100_000]), 2 * n, max_distance, True),
        case("one offset", torch.tensor([-2]), 2 * n, max_distance, True),
    ]


BUCKETS = question(
    "positions.buckets",
    minutes=30,
    difficulty="hard",
    returns=("bucket",),
    properties=[
        values("near distances have their own", 0.5, _near_keys),
        values("far ones widen", 2, _far_keys),
        values("both directions", 1.5, _both_ways),
        values("odd numbers, tables, very far", 1, _odd),
    ],
    closed=CLOSED,
    mistakes="""
direction-reversed: You swapped ahead and behind. The offset is key − query: keys *behind* the query have negative
offsets.
- n = n_buckets // 2 if both else n_buckets
+ offset = -offset
+ n = n_buckets // 2 if both else n_buckets

ahead-like-behind: In a causal model your keys ahead get the bucket of the same distance behind. They all belong into
bucket 0.
- offset.abs() if both else (-offset).clamp(min=0) → offset.abs()

halved-though-causal: You halve the buckets although the model is causal. There, all of them are for keys behind.
- n_buckets // 2 if both else n_buckets → n_buckets // 2

far-ones-equally-wide: Your far buckets all have the same width. They should widen: equal parts on a *logarithmic*
scale.
- torch.log(distance.clamp(min=near) / near) / math.log(max_distance / near)
+ (distance.clamp(min=near) - near) / (max_distance - near)

logarithms-from-one: Your logarithmic scale starts at distance 1, so far distances do not begin in the first far
bucket. It starts at the first distance that is not near.
- torch.log(distance.clamp(min=near) / near) / math.log(max_distance / near)
+ torch.log(distance.clamp(min=1).double()) / math.log(max_distance)

rounded-to-nearest: You round to the nearest bucket. A bucket reaches from its own boundary to the next one: round down.
- (share * (n - near)).long() → (share * (n - near)).round().long()

rounded-up: You round up. A distance belongs to the bucket whose boundary it has passed: round down.
- (share * (n - near)).long() → (share * (n - near)).ceil().long()

beyond-the-table: From max_distance onwards your buckets run on beyond the last one: there is no such row in the
table. Limit them to the last bucket.
- far = far.clamp(max=n - 1) →

all-near: All your buckets are for one distance each, and everything else shares the last. Only half of them are near;
the others should widen.
- near = n // 2 → near = n - 1

itself-among-those-ahead: Offset 0 lands among the keys ahead. The first half of the buckets is for offsets up to 0.
- (offset > 0) → (offset >= 0)

keys-ahead-first: Your first half is for keys ahead and the second for keys behind. It should be the other way round.
- n * (offset > 0) → n * (offset < 0)
""",
)


# --- ALiBi ------------------------------------------------------------------------------------------------


def _powers(draw: Draw) -> list[Case]:
    keys = draw.size()
    return [case("4 heads", 4, 1, keys), case("8 heads", 8, 1, keys)]


def _others(draw: Draw) -> list[Case]:
    return [case(f"{n} heads", n, 1, 2) for n in (draw.integer(5, 7), 3, draw.integer(9, 15))]


def _biases(draw: Draw) -> list[Case]:
    time = draw.size()
    return [case("two heads", 2, time + 1, time + 1), case("four heads", 4, time, time)]


def _after_a_cache(draw: Draw) -> list[Case]:
    queries, more = draw.sizes(2)
    return [
        case("fewer queries than keys", 2, queries, queries + more),
        case("one query, one head", 1, 1, more + 1),
        case("one key", 2, 1, 1),
    ]


ALIBI = question(
    "positions.alibi",
    minutes=20,
    difficulty="medium",
    returns=("slopes", "bias"),
    properties=[
        values("slopes for powers of two", 0.75, _powers, "slopes"),
        any_order("slopes for other numbers of heads", 0.75, _others, "slopes"),
        values("their order", 0.5, _others, "slopes"),
        values("the bias", 1.25, _biases, "bias"),
        values("fewer queries than keys, one head", 0.75, _after_a_cache, "bias"),
    ],
    closed=CLOSED,
    mistakes="""
one-formula-for-all: For numbers of heads that are not powers of two you use the same formula. The authors take the
slopes for the next lower power, and then every second one for twice that power.
- power = 2 ** (n_heads.bit_length() - 1) → power = n_heads

next-higher-power: You take the sequence for the next *higher* power of two and cut it off. First come all slopes for
the next lower power.
- power = 2 ** (n_heads.bit_length() - 1) → power = 2 ** (n_heads - 1).bit_length()

the-other-half: Of the sequence for twice the power you take the second, the fourth, …: these slopes are there already.
Take the first, the third, …
- [::2] → [1::2]

without-skipping: Of the sequence for twice the power you take the slopes in a row. Take every second one.
- [::2] →

sorted-by-size: Your slopes are sorted. The heads of a trained model expect them in the authors' order: first those for
the lower power, then the others.
- slopes = torch.tensor((sequence(power) + sequence(2 * power)[::2])[:n_heads])
+ slopes = torch.tensor((sequence(power) + sequence(2 * power)[::2])[:n_heads]).sort(descending=True).values

starts-at-one: Your first slope is 1. Count h from 1: the first slope is the ratio of the sequence, 2^(−8/n).
- [2 ** (-8 * h / n) for h in range(1, n + 1)] → [2 ** (-8 * h / n) for h in range(n)]

rewards-distance: Your bias grows with the distance, so far keys are preferred. It is a penalty: minus slope times
distance.
- bias = -slopes → bias = slopes

ahead-not-hidden: Keys ahead of their query are not hidden. They get −∞, and the causal mask is in the bias.
- bias.masked_fill(back < 0, -math.inf) → bias
or
- bias.masked_fill(back < 0, -math.inf) → -slopes[:, None, None] * back.abs()
or
- bias.masked_fill(back < 0, -math.inf) → bias.masked_fill(back < 0, 0.0)

behind-hidden: You have hidden the keys *behind* the query instead of those ahead.
- bias.masked_fill(back < 0, -math.inf) → (-slopes[:, None, None] * back.abs()).masked_fill(back > 0, -math.inf)

queries-from-the-start: Your first query is always at position 0. The queries are the last of the keys: query 0 is at
position keys − queries.
- position[keys - queries :, None] → position[:queries, None]
""",
)
