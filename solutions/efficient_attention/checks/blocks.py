"""Questions 2a and 2b: a softmax in chunks, and attention in blocks."""

import math

import torch
from torch import Tensor

from autograder.exercise.declare import frugal, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.efficient_attention.checks.common import CLOSED, heads

State = tuple[Tensor, Tensor, Tensor]


def _allowed(draw: Draw, queries: int, keys: int) -> Tensor:
    """Every query sees the first key at least, and not the last one."""
    mask = draw.mask(queries, max(2, keys))[:, :keys]
    mask[:, 0], mask[:, -1] = True, keys == 1
    return mask


def _before(draw: Draw, q: Tensor, d_v: int, scale: float = 1.0) -> State:
    """The state after a chunk of three keys that everybody saw."""
    k, v = draw.normal(q.shape[0], 3, q.shape[2], dtype=q.dtype), draw.normal(q.shape[0], 3, d_v, dtype=q.dtype)
    return ABSORB.reference(None, q, scale * k, v, torch.ones(q.shape[1], 3, dtype=torch.bool))


def _first(draw: Draw) -> list[Case]:
    count, queries, keys, d, d_v = draw.sizes(5)
    q, k, v = heads(draw, count, queries, keys, d, d_v)
    return [case("the first chunk", None, q, k, v, _allowed(draw, queries, keys))]


def _second(draw: Draw) -> list[Case]:
    count, queries, keys, d, d_v = draw.sizes(5)
    q, k, v = heads(draw, count, queries, keys, d, d_v)
    mask = _allowed(draw, queries, keys)
    larger = case("a second chunk with larger scores", _before(draw, q, d_v, 0.3), q, 3 * k, v, mask)
    return [larger, case("a second chunk with smaller scores", _before(draw, q, d_v, 3.0), q, 0.3 * k, v, mask)]


def _blind(draw: Draw) -> list[Case]:
    """Queries that see nothing: in this chunk, in the previous ones, in all of them."""
    count, queries, keys, d, d_v = draw.sizes(5)
    queries += 2
    q, k, v = heads(draw, count, queries, keys, d, d_v)
    some, none = _allowed(draw, queries, keys), torch.zeros(queries, keys, dtype=torch.bool)
    some[0] = False
    late = some.clone()
    late[:2] = False
    nothing = ABSORB.reference(None, q, k, v, none)
    return [
        case("a query that sees nothing", None, q, k, v, some),
        case("nobody sees anything", None, q, k, v, none),
        case("a query that has seen nothing before", ABSORB.reference(None, q, k, v, late), q, k.flip(1), v, some),
        case("nobody has seen anything before", nothing, q, k, v, some),
        case("nobody sees anything in the second chunk", _before(draw, q, d_v), q, k, v, none),
        case("scores that are 0", None, 0 * q, k, v, some),
    ]


def _large(draw: Draw) -> list[Case]:
    q, k, v = heads(draw, 2, 3, 4, 5, 2)
    return [
        case("scores of hundreds", None, 90 * q, 5 * k, v, torch.ones(3, 4, dtype=torch.bool)),
        case("all scores far below zero", None, 90 * q.abs(), -5 * k.abs(), v, torch.ones(3, 4, dtype=torch.bool)),
        case("a second chunk of large ones", _before(draw, 90 * q, 2), 90 * q, 5 * k, v, _allowed(draw, 3, 4)),
    ]


def _odd(draw: Draw) -> list[Case]:
    q, k, v = heads(draw, 3, 3, 3, 3, 3)
    wide = [x.double() for x in heads(draw, 1, 2, 3, 4, 2)]
    one = heads(draw, 2, 1, 1, 3, 2)
    return [
        case(EQUAL, _before(draw, q, 3), q, k, v, torch.ones(3, 3, dtype=torch.bool).tril()),
        case("float64", _before(draw, wide[0], 2), *wide, _allowed(draw, 2, 3)),
        case("one query, one key", _before(draw, one[0], 2), *one, torch.ones(1, 1, dtype=torch.bool)),
    ]


ABSORB = question(
    "efficient_attention.absorb",
    minutes=30,
    difficulty="hard",
    returns=("maximum", "total", "mixed"),
    properties=[
        shapes(0.25, _first),
        values("the first chunk", 0.75, _first),
        values("the maximum after a second chunk", 0.5, _second, "maximum"),
        values("the total after a second chunk", 0.75, _second, "total"),
        values("mixed after a second chunk", 0.75, _second, "mixed"),
        values("queries that see nothing", 0.5, _blind),
        values("very large scores", 0.25, _large),
        values("float64, one query, one key", 0.25, _odd),
    ],
    closed=CLOSED,
    mistakes="""
zeros-hidden: You take every score of 0 for one that is hidden. A score can be 0 by itself, and then its key counts.
Hide by the mask, not by value.
- scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)
+ scores = q @ k.mT / math.sqrt(q.shape[-1])
+ scores = scores.masked_fill(~mask | (scores == 0), -math.inf)

not-rescaled: You add the sums of the new chunk to the old ones as they are. The old ones are relative to the old
maximum: if the maximum rises, they are too large.
- total * kept + weights.sum(-1), mixed * kept[..., None] + weights @ v
+ total + weights.sum(-1), mixed + weights @ v

mixed-not-rescaled: Your total is rescaled when the maximum rises, but `mixed` is not. It needs the same factor.
- mixed * kept[..., None] → mixed

total-not-rescaled: Your `mixed` is rescaled when the maximum rises, but the total is not. It needs the same factor.
- total * kept → total

upside-down: Your factor is upside down. If the maximum rises, what was summed before has to become *smaller*.
- torch.exp(maximum - base) → torch.exp(base - torch.where(maximum.isinf(), base, maximum)) * (~maximum.isinf())

maximum-of-the-chunk: Your maximum is that of the new chunk. It should be that of all chunks so far.
- torch.maximum(maximum, scores.amax(-1)) → torch.where(scores.amax(-1).isinf(), maximum, scores.amax(-1))

not-relative: Your sums are those of the plain exponentials. They should be relative to the maximum, which keeps them
from overflowing.
- kept = torch.exp(maximum - base) → kept = torch.ones_like(total)
- weights = torch.exp(scores - base[..., None]) → weights = torch.exp(scores)

nan-for-the-blind: A query that has seen nothing gets NaN: its maximum is −∞, and −∞ − (−∞) is not a number. Subtract
something else there.
- torch.where(new.isinf(), 0.0, new) → new

state-ignored: You ignore the state that you are given. It holds everything about the earlier chunks.
- maximum, total, mixed = state
+ nothing = torch.zeros_like(scores[..., 0])
+ maximum, total, mixed = nothing - math.inf, nothing, nothing[..., None] * v[:, :1]

already-divided: Your `mixed` is divided by the total already. It stays a plain sum until the last chunk has been read.
- return new, total * kept + weights.sum(-1), mixed * kept[..., None] + weights @ v
+ all_of_it = total * kept + weights.sum(-1)
+ return new, all_of_it, (mixed * kept[..., None] + weights @ v) / all_of_it.clamp(min=0.5)[..., None]

not-scaled: The division by √d is missing.
-  / math.sqrt(q.shape[-1]) →

scaled-by-d: You divided by d. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]

mask-ignored: You do not use the mask.
- .masked_fill(~mask, -math.inf) →

masked-score-zero: You set the scores of hidden keys to 0, which is an ordinary score. Only −∞ removes them.
- -math.inf) → 0.0)

maximum-over-queries: Your maximum is taken over the queries. Each query has its own, over the keys.
- scores.amax(-1) → scores.amax(-2).amax(-1, keepdim=True).expand(scores.shape[:2])

begins-at-zero: Your maximum begins at 0, so it is wrong wherever all scores are negative. Before the first key it is
−∞.
- state = nothing - math.inf, → state = nothing,
""",
)


# --- block by block ---------------------------------------------------------------------------------------


def _window(time: int, back: int, forth: int) -> Tensor:
    far = torch.arange(time) - torch.arange(time)[:, None]
    return (far >= -back) & (far <= forth)


def _masked(draw: Draw) -> list[Case]:
    """Masks in which every query sees something, and some pairs of blocks nothing."""
    count, d, d_v = draw.sizes(3)
    few, many = 3 + draw.largest, 7 + draw.largest
    causal, both = torch.ones(few, few, dtype=torch.bool).tril(), _window(many, 2, 2)
    both[0], both[:, 0] = True, True
    fewer = torch.cat([_window(8, 8, 1)[::2], torch.zeros(4, 3, dtype=torch.bool)], 1)
    return [
        case("a causal mask", *heads(draw, count, few, few, d, d_v), causal, 3),
        case("a window and a global token", *heads(draw, count, many, many, d, d_v), both, 2),
        case("fewer queries than keys", *heads(draw, count, 4, 11, d, d_v), fewer, 2),
        case(EQUAL, *heads(draw, 4, 4, 4, 4, 4), torch.ones(4, 4, dtype=torch.bool).tril(1), 2),
    ]


def _long(draw: Draw) -> list[Case]:
    count, d, d_v = draw.sizes(3)
    return [case("a long text with a narrow window", *heads(draw, count, 40, 40, d, d_v), _window(40, 2, 1), 4)]


def _unseen(draw: Draw) -> list[Case]:
    """Blocks that nobody sees hold infinity and NaN."""
    count, d, d_v = draw.sizes(3)
    q, k, v = heads(draw, count, 6, 10, d, d_v)
    mask = torch.cat([_window(6, 2, 1), torch.zeros(6, 4, dtype=torch.bool)], 1)
    mask[:, 2:4] = False
    mask[3:, 0] = True
    k[:, 6:], v[:, 6:], v[:, 2:4] = math.inf, math.nan, math.inf
    return [case("blocks that nobody sees", q, k, v, mask, 2)]


def _unseeing(draw: Draw) -> list[Case]:
    count, d, d_v = draw.sizes(3)
    first, mask = _window(9, 1, 0), _window(9, 2, 1)
    mask[3:6] = False
    first[4] = False
    return [
        case("a block of queries that sees nothing", *heads(draw, count, 9, 9, d, d_v), mask, 3),
        case("one query that sees nothing", *heads(draw, count, 9, 9, d, d_v), first, 2),
        case("nobody sees anything", *heads(draw, 1, 3, 4, d, d_v), torch.zeros(3, 4, dtype=torch.bool), 2),
    ]


def _sizes(draw: Draw) -> list[Case]:
    d, d_v = draw.sizes(2)
    band = _window(6, 2, 0)
    wide = [x.double() for x in heads(draw, 1, 6, 6, d, d_v)]
    return [
        case("blocks of one token", *heads(draw, 2, 6, 6, d, d_v), band, 1),
        case("one block for all", *heads(draw, 2, 6, 6, d, d_v), band, 9),
        case("a last block of one token", *heads(draw, 2, 6, 6, d, d_v), band, 5),
        case("float64", *wide, band, 4),
    ]


BLOCK_ATTENTION = question(
    "efficient_attention.block_attention",
    minutes=30,
    difficulty="hard",
    returns=("output", "computed"),
    properties=[
        shapes(0.25, _masked),
        values("the output", 0.25, _masked, "output"),
        values("the number of scores", 0.5, _masked, "computed"),
        frugal("a long text, and no other scores are computed", 1.25, _long, "output"),
        frugal("blocks that nobody may see are skipped", 0.75, _unseen, "output"),
        values("queries that see nothing", 0.5, _unseeing, "output"),
        frugal("small and large blocks, float64, and nothing else", 0.5, _sizes, "output"),
    ],
    closed=CLOSED,
    counted=True,
    mistakes="""
nothing-skipped: You compute all pairs of blocks. Those in which the mask allows nothing should not be touched: that is
what saves.
- if part.any(): → if True:

only-reported: Your number is right, but you compute the scores of all pairs of blocks. Skip those in which the mask
allows nothing: only that saves work.
- if part.any():
+ if True:
- computed += part.numel() → computed += part.numel() * bool(part.any())
looks like: nothing-skipped

allowed-pairs-counted: You count the pairs that the mask allows. In a block that is needed *all* scores are computed,
and some of them are thrown away.
- computed += part.numel() → computed += int(part.sum())

blocks-counted: You count blocks. Count their scores: a block has as many as it has pairs of tokens.
- computed += part.numel() → computed += 1

full-blocks-counted: You count each block as `block` times `block` scores. The last ones may be shorter.
- computed += part.numel() → computed += block * block

counted-for-every-head: You count the scores of all heads. Count them per head.
- computed += part.numel() → computed += part.numel() * q.shape[0]

all-pairs-counted: Your number is that of all pairs of tokens. Blocks without an allowed pair are not computed.
- return output, computed → return output, mask.numel()

mask-within-blocks-ignored: You skip the right blocks, but in the others every query sees every key. Mask their scores
as well.
- v[:, columns], part) → v[:, columns], torch.ones_like(part))

not-divided: You did not divide by the total in the end.
-  / total.clamp(min=0.5)[..., None] →

divided-per-block: You apply a softmax to each block and add up the results. There is one softmax for all keys of a
query: divide once, in the end.
- output = q.new_zeros(*q.shape[:2], v.shape[2])
+ output = q.new_zeros(*q.shape[:2], v.shape[2])
+ state = None
- state = absorb(state, q[:, rows], k[:, columns], v[:, columns], part)
+ _, total, mixed = absorb(None, q[:, rows], k[:, columns], v[:, columns], part)
+             output[:, rows] += mixed / total.clamp(min=0.5)[..., None]

state-not-restarted: You keep the state from one block of queries to the next. Each block of queries begins with None.
- rows, state = slice(top, top + block), None
+ rows = slice(top, top + block)
+     state = state if top and state[0].shape[1] == q[:, rows].shape[1] else None
- computed = 0
+ computed, state = 0, None

nan-for-the-blind: A query that sees nothing gets NaN, because its total is 0. It should get zeros.
- if state is not None:
+ if state is None:
+         output[:, rows] = math.nan
+     else:
- total.clamp(min=0.5) → total

only-full-blocks: You leave out the last block if it is shorter than the others.
- range(0, q.shape[1], block) → range(0, q.shape[1] - block + 1, block)
- range(0, k.shape[1], block) → range(0, k.shape[1] - block + 1, block)

diagonal-blocks-only: Each block of queries attends to the block of keys at the same position only. Go through all
blocks of keys.
- if part.any(): → if part.any() and top == left:
""",
)
