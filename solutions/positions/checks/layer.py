"""Questions 4a and 4b: skewing, and one layer that takes positions of any kind."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, inputs_too, judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import inputs_unchanged
from autograder.exercise.specification import Case, case
from solutions.positions.checks.common import CLOSED
from solutions.positions.laws import output_of_the_weights, the_rest_is_read_as_in_the_whole


def _squares(draw: Draw) -> list[Case]:
    time, heads = draw.sizes(2)
    return [
        case("as many queries as keys", draw.normal(time + 1, time + 1)),
        case("with heads", draw.normal(heads, time, time)),
    ]


def _fewer_queries(draw: Draw) -> list[Case]:
    queries, more = draw.sizes(2)
    return [
        case("fewer queries than keys", draw.normal(queries, queries + more)),
        case("batch and heads", draw.normal(2, 3, more, more + 2)),
    ]


def _single(draw: Draw) -> list[Case]:
    keys = draw.size()
    return [
        case("one query", draw.normal(2, 1, keys + 1)),
        case("one key", draw.normal(1, 1)),
        case("three keys, float64", draw.normal(2, 3, 3, dtype=torch.float64)),
    ]


SKEWED = question(
    "positions.skewed",
    minutes=25,
    difficulty="hard",
    returns=("by_key",),
    properties=[
        shapes(0.25, _squares, "the shape is kept"),
        values("as many queries as keys", 1.5, _squares),
        values("fewer queries than keys", 1, _fewer_queries),
        inputs_too(values("one query, one key, float64; x is unchanged", 0.75, _single)),
    ],
    closed=CLOSED,
    mistakes="""
not-moved: You hide what is ahead, but no row has moved. Row i must move to the left, until distance 0 is at its own
key.
- return rows.tril(keys - queries) → return x.tril(keys - queries)

ahead-not-cleared: Every row is where it should be, but ahead of the query other numbers are left, from the next row
of the line or from the zeros of the widening. There should be 0.
- rows.tril(keys - queries) → rows

one-too-many: You drop too few entries at the front, so every row is one column too far to the right. Count the length
of the line before and after.
- line[..., queries:] → F.pad(line, (1, 0))[..., queries:-1]

widened-behind: You put the zeros behind the rows instead of before them, so that rows drift to the wrong side.
- F.pad(x, (1, 0)) → F.pad(x, (0, 1))

nearest-first: You took the first column for distance 0. The farthest distance comes first.
- F.pad(x, (1, 0)) → F.pad(x.flip(-1), (1, 0))

diagonal-of-a-square: With fewer queries than keys you clear too much: the first query is not at position 0, but at
keys − queries.
- rows.tril(keys - queries) → rows.tril()

moved-to-the-right: Your rows move to the right. They have to move to the left: distance 0, the last column, belongs
to the query's own key.
+ queries, keys = x.shape[-2:]
+ moved = [x[..., i, :].roll(queries - 1 - i, -1) for i in range(queries)]
+ return torch.stack(moved, -2).tril(keys - queries)

mirrored-rows: Row 0 has not moved, and the last one has moved most. It is the other way round: the last query has all
distances, and its row stays.
+ queries, keys = x.shape[-2:]
+ moved = [x[..., i, :].roll(-i, -1) for i in range(queries)]
+ return torch.stack(moved, -2).tril(keys - queries)
""",
)


# --- one layer --------------------------------------------------------------------------------------------

Given = tuple[Tensor | None, ...]


def _qkv(draw: Draw, heads: int, queries: int, keys: int, d: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """For two texts. Values are wider than queries and keys."""
    return draw.normal(2, heads, queries, d), draw.normal(2, heads, keys, d), draw.normal(2, heads, keys, d + 1)


def _sizes(draw: Draw) -> tuple[int, int, int]:
    """(heads, queries, keys)."""
    heads, queries = draw.sizes(2)
    return heads, queries + 1, queries + 3


def _frequencies(d: int = 4) -> Tensor:
    return 0.8 * 20.0 ** (-torch.arange(d // 2) / (d // 2))


def _plain(draw: Draw) -> list[Case]:
    heads, queries, keys = _sizes(draw)
    return [
        case("no positions", *_qkv(draw, heads, keys, keys)),
        case("no positions, after a cache", *_qkv(draw, heads, queries, keys)),
    ]


def _two_queries(draw: Draw) -> list[Case]:
    heads, queries, keys = _sizes(draw)
    q, k, v = _qkv(draw, heads, queries, keys)
    bias = draw.normal(heads, queries, keys)
    given = (_frequencies(), bias, None)
    return [Case(label="other queries", calls=((q, k, v, *given), (draw.normal(*q.shape), k, v, *given)))]


def _rotated(draw: Draw) -> list[Case]:
    heads, queries, keys = _sizes(draw)
    return [
        case("frequencies", *_qkv(draw, heads, keys, keys), _frequencies(), None, None),
        case("frequencies, after a cache", *_qkv(draw, heads, queries, keys), _frequencies(), None, None),
    ]


def _biased(draw: Draw) -> list[Case]:
    heads, queries, keys = _sizes(draw)
    return [case("a bias", *_qkv(draw, heads, queries, keys), None, 2 * draw.normal(heads, queries, keys), None)]


def _with_vectors(draw: Draw) -> list[Case]:
    heads, queries, keys = _sizes(draw)
    return [
        case("a vector for each distance", *_qkv(draw, heads, keys, keys), None, None, draw.normal(heads, keys, 4)),
        case("more vectors than keys", *_qkv(draw, heads, queries, keys), None, None, draw.normal(heads, keys + 2, 4)),
        case("fewer vectors than keys", *_qkv(draw, heads, queries, keys), None, None, draw.normal(heads, 3, 4)),
    ]


def _in_parts(draw: Draw) -> list[Case]:
    heads, _, keys = _sizes(draw)
    cases = []
    for label in ("frequencies", "vectors"):
        q, k, v = _qkv(draw, heads, keys, keys)
        other, rest = draw.normal(*q.shape), q[:, :, -2:].contiguous()
        given: Given = (_frequencies(), None, None)
        if label == "vectors":
            given = (None, None, draw.normal(heads, 3, 4))
        calls = tuple((each, k, v, *given) for each in (q, rest, other))
        cases.append(Case(label=f"{label}, the whole and the rest", calls=calls))
    return cases


def _everything(draw: Draw) -> list[Case]:
    heads, queries, keys = _sizes(draw)
    q, k, v = _qkv(draw, heads, queries, keys)
    return [
        case("all three", q, k, v, _frequencies(), draw.normal(heads, queries, keys), draw.normal(heads, 4, 4)),
        case("one token", *_qkv(draw, 1, 1, 1), _frequencies(), None, draw.normal(1, 2, 4)),
        case("one query, one vector", *_qkv(draw, heads, 1, keys), None, None, draw.normal(heads, 1, 4)),
    ]


ATTEND = question(
    "positions.attend",
    minutes=40,
    difficulty="hard",
    returns=("output", "weights"),
    properties=[
        shapes(0.25, _plain),
        values("plain causal attention", 1.25, _plain, "weights"),
        holds("the output, given your weights", 0.75, _two_queries, output_of_the_weights),
        values("rotated", 1, _rotated, "weights"),
        values("with a bias", 0.75, _biased, "weights"),
        values("with vectors of distances", 1.25, _with_vectors, "weights"),
        holds("a text in two parts", 0.75, _in_parts, the_rest_is_read_as_in_the_whole),
        values("all at once, one token, one query", 0.75, _everything),
        judged("inputs are unchanged", 0.25, _two_queries, inputs_unchanged),
    ],
    closed=CLOSED,
    mistakes="""
ahead-not-hidden: Queries attend to keys ahead of them. Hide those with −∞ before the softmax.
- scores.masked_fill(ahead, -math.inf) → scores

mask-of-a-square: With fewer queries than keys your mask is that of a text from its start: query 0 sees only key 0. The
queries are the last of the keys, so query 0 also sees all that was read before.
- .triu(first + 1) → .triu(1)

hidden-after-the-softmax: You removed keys ahead after the softmax, so the other weights no longer sum to 1. Hide them
before it.
- weights = torch.softmax(scores.masked_fill(ahead, -math.inf), dim=-1)
+ weights = torch.softmax(scores, dim=-1).masked_fill(ahead, 0.0)

not-even-itself: A query cannot attend to itself. The diagonal is allowed: only keys *ahead* are hidden.
- .triu(first + 1) → .triu(first)
or
- .triu(first + 1) → .triu(first)
- ahead, -math.inf → ahead, -1e9

not-scaled: The division by √d is missing.
- scores = scores / math.sqrt(d) → scores = scores * 1.0

bias-scaled: You divided the bias by √d as well. It is added after the division.
- scores = scores / math.sqrt(d)
- if bias is not None:
-     scores = scores + bias
+ if bias is not None:
+     scores = scores + bias
+ scores = scores / math.sqrt(d)

vectors-not-scaled: You divided only q · k by √d. The products of queries and vectors have as many terms: divide the
sum.
- scores = sought @ k.mT → scores = sought @ k.mT / math.sqrt(d)
- scores = scores / math.sqrt(d) →

queries-from-the-start: You rotate the queries as if the first were at position 0. The queries are the last of the
keys, so the first is at position keys − queries.
- rotary(q, first, frequencies, "half") → rotary(q, 0, frequencies, "half")

only-queries-rotated: You rotate the queries and not the keys. Only if both are rotated does the score depend on their
distance.
- sought, k = rotary(q, first, frequencies, "half"), rotary(k, 0, frequencies, "half")
+ sought = rotary(q, first, frequencies, "half")

neighbours-as-pairs: You rotate neighbours as pairs. Here the layout is "half".
* "half" → "interleaved"

values-rotated: You rotate the values too. Then the output depends on where a text begins. Only queries and keys are
rotated.
- return weights @ v, weights
+ if frequencies is not None:
+     width = v.shape[-1] // 2 * 2
+     v = torch.cat([rotary(v[..., :width], 0, frequencies[: width // 2], "half"), v[..., width:]], -1)
+ return weights @ v, weights

vectors-meet-the-rotated: The vectors of distances met the rotated queries. They meet the queries as they came in.
- skewed(q @ → skewed(sought @

nearest-vector-first: You took the first vector for distance 0. The table begins with the farthest distance.
- vectors[:, farthest - distance] → vectors[:, distance]

far-keys-without-vector: Keys farther than r get no vector at all. They use the vector of r, the first of the table.
- scores = scores + skewed(q @ vectors[:, farthest - distance].mT)
+ beyond = torch.arange(keys - 1, -1, -1) > farthest
+ scores = scores + skewed((q @ vectors[:, farthest - distance].mT).masked_fill(beyond, 0.0))

vectors-not-skewed: The products of queries and vectors are ordered by distance, and you add them to scores ordered by
key. Move them to their keys with `skewed` first.
- skewed(q @ vectors[:, farthest - distance].mT) → q @ vectors[:, farthest - distance].mT
""",
)
