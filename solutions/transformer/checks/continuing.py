"""Questions 3a, 3b and 3c: rotations that start anywhere, fewer queries than keys, attention with a cache.

3b asks for the scores as well: PyTorch's own attention returns the output, in some forms the weights, but never
these.
"""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import inputs_unchanged
from autograder.exercise.kinds import EQUAL
from autograder.exercise.laws.self_attention import output_of_shared_values
from autograder.exercise.specification import Case, case
from solutions.transformer.checks.common import CLOSED, attention_weights, sizes_of
from solutions.transformer.laws import lengths_are_kept, whole_equals_chunks

# --- rotations --------------------------------------------------------------------------------------------


def _from_the_start(draw: Draw) -> list[Case]:
    batch, heads, time, half = draw.sizes(4)
    return [case("from position 0", draw.normal(batch, heads, time + 1, 2 * half), 0, 100.0)]


def _later(draw: Draw) -> list[Case]:
    batch, heads, time, half = draw.sizes(4)
    x = draw.normal(batch, heads, time, 2 * half)
    return [case("from a later position", x, 3 + draw.size(), 100.0)]


def _bases(draw: Draw) -> list[Case]:
    _, heads, time, half = draw.sizes(4)
    return [
        case("base 100,000, far into the text", draw.normal(1, heads, time, 2 * half), 900, 100_000.0),
        case("one token", draw.normal(2, heads, 1, 4), 4, 10_000.0),
        case("two columns, float64", draw.normal(1, 1, time, 2, dtype=torch.float64), 2, 50.0),
    ]


def _alike(draw: Draw) -> list[Case]:
    _, heads, time, half = draw.sizes(4)
    x = draw.normal(1, heads, 1, 2 * half).expand(2, heads, time + 1, 2 * half).contiguous()
    return [case("one vector at several positions", x, 2, 100.0)]


ROTATE = question(
    "transformer.rotate",
    minutes=15,
    difficulty="medium",
    returns=("rotated",),
    properties=[
        shapes(0.1, _from_the_start),
        holds("lengths are preserved", 0.45, _alike, lengths_are_kept),
        values("from position 0", 1, _from_the_start),
        values("from a later position", 0.75, _later),
        values("other bases, one token, float64", 0.5, _bases),
        judged("x is unchanged", 0.2, _alike, inputs_unchanged),
    ],
    closed=CLOSED,
    mistakes="""
first-ignored: Your positions always start at 0. Row 0 is at position `first`, which is the number of tokens that were
read before.
- torch.arange(first, first + time) → torch.arange(time)

counted-from-one: Your positions are one too large: row 0 is at position `first`.
- torch.arange(first, first + time) → torch.arange(first + 1, first + 1 + time)

neighbours-as-pairs: Your pairs are neighbours, 2i and 2i + 1. That is llama.cpp's layout. Here coordinate i is paired
with coordinate i + d_head/2.
- x.chunk(2, dim=-1) → x[..., 0::2], x[..., 1::2]
- torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

rotated-clockwise: You rotate in the wrong direction: (1, 0) at position 1 should become (cos 1, sin 1), up and to the
right.
- angle.sin() → -angle.sin()

minus-forgotten: The minus is missing: a cos + b sin and a sin + b cos are not a rotation, since they change the length.
- a * cos - b * sin → a * cos + b * sin

half-the-exponent: Your exponent is i/d. It should be 2i/d, where i is the number of the pair, so that the last pairs
rotate slowly.
- torch.arange(0, d, 2) → torch.arange(d // 2)

one-angle-for-all: You rotate all pairs by the same angle. Pair i rotates by position / base^(2i/d).
- base ** (torch.arange(0, d, 2) / d) → torch.ones(d // 2)

positions-along-heads: Your positions count the heads. They count the tokens, axis 2 of x, and all heads rotate alike.
- time, d = x.shape[-2:] → d, time = x.shape[-1], x.shape[1]
- cos, sin = angle.cos(), angle.sin() → cos, sin = angle.cos()[:, None], angle.sin()[:, None]

base-ignored: You always use base 10,000. The base is an argument.
- base ** → 10_000.0 **

new-a-for-b: You computed the second half from the *new* first half. Compute both from the old a and b.
- return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ a = a * cos - b * sin
+ return torch.cat([a, a * sin + b * cos], dim=-1)

changes-its-input: The result is right, but x has changed: chunk and slices are views of the caller's tensor. Join new
halves with torch.cat.
- torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ x.copy_(torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1))
""",
)


# --- attention --------------------------------------------------------------------------------------------


def _qkv(draw: Draw, sets: int, group: int, past: int, time: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    batch, half = draw.sizes(2)
    time = draw.largest if time is None else time
    q = draw.normal(batch, sets * group, time, 2 * half)
    return q, draw.normal(batch, sets, past + time, 2 * half), draw.normal(batch, sets, past + time, 2 * half)


def _whole(draw: Draw) -> list[Case]:
    equal = tuple(draw.normal(3, 3, 3, 3) for _ in range(3))
    return [
        case("six heads share two sets", *_qkv(draw, 2, 3, 0)),
        case("four heads share two sets", *_qkv(draw, 2, 2, 0)),
        case(EQUAL, *equal),
    ]


def _continued(draw: Draw) -> list[Case]:
    return [
        case("a text that continues", *_qkv(draw, 2, 3, 2, 3)),
        case("a long past", *_qkv(draw, 3, 2, draw.largest + 3, 2)),
    ]


def _outputs(draw: Draw) -> list[Case]:
    """Two calls that differ in their queries; known: the values that each head reads."""
    q, k, v = _qkv(draw, 2, 3, 2)
    read = v.repeat_interleave(3, 1)
    return [Case(label="two texts", calls=((q, k, v), (draw.normal(*q.shape), k, v)), known=(read, read))]


def _extremes(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 1, 2, 1, 3)
    return [
        case("queries whose scores are 0", torch.zeros_like(q), k, v),
        case("a single query", *_qkv(draw, 2, 2, 4, 1)),
        case("a text of one token", *_qkv(draw, 2, 2, 0, 1)),
        case("one set for all", *_qkv(draw, 1, 4, 1)),
        case("a set for each", *_qkv(draw, 3, 1, 1)),
    ]


def _large(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 2, 3, 2)
    below = case("all scores far below zero", -400 * q.abs(), k.abs(), v)  # hidden ones must be lower still
    return [case("scores of a hundred and more", 60 * q, k, v), below]


ATTEND = question(
    "transformer.attend",
    minutes=25,
    difficulty="hard",
    returns=("output", "weights", "scores"),
    properties=[
        shapes(0.25, _whole),
        values("scores and weights of a new text", 1, _whole, "weights", "scores"),
        values("scores and weights of a text that continues", 1, _continued, "weights", "scores"),
        holds("the output, given your weights", 0.75, _outputs, output_of_shared_values),
        values("one query, one set, a set for each", 0.5, _extremes),
        values("very large and very small scores", 0.5, _large, "weights", "scores"),
    ],
    closed=CLOSED,
    mistakes="""
mask-not-moved: Your mask begins at the first key: query 0 sees only key 0. But the queries are the *last* tokens of the
text, so query i is at position i + (keys − queries).
- .tril(key - query) → .tril()

one-too-many: Your queries see one token too many, the next one. Query i is at position i + (keys − queries), and sees
keys up to there.
- .tril(key - query) → .tril(key - query + 1)

not-even-itself: A token does not see itself, only what comes before it, and the first one sees nothing. The token's own
key is allowed.
- .tril(key - query) → .tril(key - query - 1)
- torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
+ torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1).nan_to_num()
or
- .tril(key - query) → .tril(key - query - 1)
or
- .tril(key - query) → .tril(key - query - 1)
- -math.inf → -1e9

future-not-hidden: The future is open: a token attends to tokens after it. Mask them before the softmax.
- scores.masked_fill(~visible, -math.inf) → scores

hidden-scores-zero: You set the scores of later tokens to 0, which is an ordinary score: exp(0) = 1. Only −∞ removes
them.
- -math.inf → 0.0

hidden-not-low-enough: You give hidden scores a finite number. Where all allowed scores are below it, the future gets
all the weight. Only −∞ is below every score.
- -math.inf → -100.0

zeros-hidden: You take every score of 0 for one that is hidden. A score can be 0 by itself, and then its token counts.
Mask by position, not by value.
- scores.masked_fill(~visible, -math.inf) → scores.masked_fill(~visible | (scores == 0), -math.inf)

hidden-after-the-softmax: You removed later tokens after the softmax, so the other weights no longer sum to 1. Mask the
scores, before it.
- torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1) → torch.softmax(scores, dim=-1) * visible

heads-take-turns: Your heads take turns: head 0 reads set 0, head 1 set 1, … Neighbouring heads should share a set. Use
`repeat_interleave`, not `repeat`.
- k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
+ k.repeat(1, group, 1, 1), v.repeat(1, group, 1, 1)

first-set-for-all: All your heads read set 0. Head h reads set h // (heads per set).
- k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
+ k[:, :1].expand(-1, q.shape[1], -1, -1), v[:, :1].expand(-1, q.shape[1], -1, -1)

values-take-turns: Your heads read the right keys, but their values take turns. Use the same set for both.
- v.repeat_interleave(group, dim=1) → v.repeat(1, group, 1, 1)

not-scaled: The division by √d_head is missing.
-  / math.sqrt(q.shape[-1]) →

root-forgotten: You divided by d_head. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]

scaled-by-all-heads: You divided by the root of the width of all heads together. The dot products of one head have
d_head terms.
- math.sqrt(q.shape[-1]) → math.sqrt(q.shape[-1] * q.shape[1])

softmax-over-queries: Your softmax runs over the queries. Each query's weights sum to 1, over the keys.
- -math.inf), dim=-1) → -math.inf), dim=-2)

overflow: exp overflows: e⁹⁰ is more than a float32 holds. Subtract the largest score of each row first, or use
torch.softmax, which does so.
- weights = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
+ weights = scores.exp() * visible
+ weights = weights / weights.sum(-1, keepdim=True)
""",
)


# --- with a cache -----------------------------------------------------------------------------------------


def _attention_case(draw: Draw, label: str, past: int | None, heads: int = 6, sets: int = 2) -> Case:
    batch, time, half = draw.sizes(3)
    d_model, d_head = draw.largest + 3, 2 * half
    cache = None if past is None else draw.normal(batch, 2, sets, past, d_head)
    weights = attention_weights(draw, d_model, d_head, heads, sets)
    return case(label, draw.normal(batch, time, d_model), weights, sizes_of(heads, sets), cache)


def _begin(draw: Draw) -> list[Case]:
    return [_attention_case(draw, "a text without a past", None)]


def _go_on(draw: Draw) -> list[Case]:
    return [
        _attention_case(draw, "a text with a past", 3),
        _attention_case(draw, "four heads, two sets, a long past", draw.largest + 3, 4, 2),
    ]


def _square(draw: Draw) -> list[Case]:
    width = 2 * draw.size()
    weights = attention_weights(draw, 2 * width, width, 2, 2)
    past = draw.normal(2, 2, 2, 2, width)
    one = attention_weights(draw, 5, 4, 3, 1)
    return [
        case("square matrices", draw.normal(2, 2, 2 * width), weights, sizes_of(2, 2), past),
        case("one token and one set", draw.normal(1, 1, 5), one, sizes_of(3, 1, 10.0), draw.normal(1, 2, 1, 4, 4)),
        case("a text of one token", draw.normal(2, 1, 5), one, sizes_of(3, 1, 10.0), None),
    ]


def _chunks(draw: Draw) -> list[Case]:
    """Whole; its end, with the right past; its end, with another past."""
    x, weights, sizes, _ = _attention_case(draw, "", None).calls[0]
    x = torch.cat([x, draw.normal(*x.shape)], 1)
    cut = x.shape[1] // 2
    past = ATTENTION.reference(x[:, :cut], weights, sizes)[1]
    end = x[:, cut:].contiguous()
    calls = ((x, weights, sizes, None), (end, weights, sizes, past), (end, weights, sizes, draw.normal(*past.shape)))
    return [Case(label="a text in two pieces", calls=calls)]


ATTENTION = question(
    "transformer.attention",
    minutes=40,
    difficulty="hard",
    returns=("output", "cache"),
    properties=[
        shapes(0.25, _begin),
        values("the output of a text without a past", 1.25, _begin, "output"),
        values("its cache", 1, _begin, "cache"),
        values("the output with a past", 1, _go_on, "output"),
        values("the cache with a past", 0.5, _go_on, "cache"),
        holds("whole equals chunks, and the past matters", 0.5, _chunks, whole_equals_chunks),
        values("one token, square matrices, one set", 0.5, _square),
    ],
    closed=CLOSED,
    mistakes="""
positions-restart: Your positions restart at 0 with each call. The new tokens count from the length of the past.
- 0 if past is None else past.shape[3] → 0

values-rotated: You rotate the values as well. Positions concern queries and keys, because only their scores depend on
the distance; values are what is passed on.
- v = heads(x @ weights["value"], sizes["n_kv_heads"])
+ v = rotate(heads(x @ weights["value"], sizes["n_kv_heads"]), first, sizes["base"])

keys-not-rotated: Your keys are not rotated. The score depends on the distance only if query *and* key are.
- k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
+ k = heads(x @ weights["key"], sizes["n_kv_heads"])

queries-not-rotated: Your queries are not rotated. The score depends on the distance only if query *and* key are.
- q = rotate(heads(x @ weights["query"], sizes["n_heads"]), first, sizes["base"])
+ q = heads(x @ weights["query"], sizes["n_heads"])

nothing-rotated: You rotate neither queries nor keys, so attention does not know the order of the tokens.
after: keys-not-rotated
after: queries-not-rotated

past-rotated-again: You rotate the keys of the past again. The cache holds them rotated; only the new keys need it.
- k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
+ k = heads(x @ weights["key"], sizes["n_kv_heads"])
- mixed, _, _ = attend(q, k, v)
+ k = rotate(k, 0, sizes["base"])
+ mixed, _, _ = attend(q, k, v)

unrotated-in-the-cache: Your cache holds the keys as they were before their rotation. It should hold them as they were
used, so that they need no further work.
- k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
+ k = heads(x @ weights["key"], sizes["n_kv_heads"])
- attend(q, k, v) → attend(q, rotate(k, 0, sizes["base"]), v)

past-behind: You put the past behind the new tokens. The cache is in the order of the text: the past comes first.
- torch.cat([past[:, 0], k], dim=2) → torch.cat([k, past[:, 0]], dim=2)
- torch.cat([past[:, 1], v], dim=2) → torch.cat([v, past[:, 1]], dim=2)

past-ignored: You do not attend to the past. Its keys and values belong in front of the new ones.
- if past is not None: → if False:

keys-and-values-swapped: You swapped keys and values in the cache: index 0 holds the keys.
- past[:, 0], k → past[:, 1], k
- past[:, 1], v → past[:, 0], v
- torch.stack([k, v], dim=1) → torch.stack([v, k], dim=1)

only-the-new-ones: Your cache holds only the new tokens. Return the keys and values of *all* tokens, those of the past
first.
- torch.stack([k, v], dim=1) → torch.stack([k, v], dim=1)[:, :, :, first:]

split-without-swapping: Your heads are cut out of memory in one reshape, so a head mixes several tokens. Cut the last
axis in two, then swap it with time.
- y.unflatten(-1, (n, -1)).transpose(1, 2) → y.reshape(len(y), n, y.shape[1], -1)

split-the-other-way: You split the columns as (d_head, head), so a head gets every n-th column. Head 0 gets the *first*
d_head columns: (head, d_head).
- y.unflatten(-1, (n, -1)).transpose(1, 2) → y.unflatten(-1, (-1, n)).permute(0, 3, 1, 2)

joined-without-swapping: You join the heads without swapping back, so a token gets pieces of other tokens. Swap head and
time first, then flatten.
- mixed.transpose(1, 2).flatten(2) → mixed.reshape(*x.shape[:2], -1)
""",
)
