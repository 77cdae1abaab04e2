"""Question 2: attention whose queries come from one text and whose keys and values come from another.

The scores are asked for as well: PyTorch's own attention returns the output, in some forms the weights, but
never these.
"""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.laws.attention import output_follows_over_heads
from autograder.exercise.specification import Case, case
from solutions.translation.checks.common import CLOSED, attention_weights, padded

Weights = dict[str, Tensor]


def _everything(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def _open(draw: Draw) -> list[Case]:
    batch, m, n, d_head = draw.sizes(4)
    d = 2 * d_head
    x, memory = draw.normal(batch, m, d), draw.normal(batch, n, d)
    return [
        case("everything may be seen", x, memory, attention_weights(draw, d), 2, _everything(batch, 1, 1, n)),
        case("three heads", *_pair(draw, 2, 3, 4, 6), attention_weights(draw, 6), 3, _everything(2, 1, 1, 4)),
    ]


def _pair(draw: Draw, batch: int, m: int, n: int, d: int) -> tuple[Tensor, Tensor]:
    return draw.normal(batch, m, d), draw.normal(batch, n, d)


def _hidden(draw: Draw) -> list[Case]:
    batch, m, n, d_head = draw.sizes(4)
    d = 2 * d_head
    words = (padded(draw, batch, n + 1, 9) > 0)[:, None, None, :]
    each = draw.mask(batch, 1, m, n)
    return [
        case("padding in the source", *_pair(draw, batch, m, n + 1, d), attention_weights(draw, d), 2, words),
        case("another mask for each query", *_pair(draw, batch, m, n, d), attention_weights(draw, d), 2, each),
        case(EQUAL, *_pair(draw, 4, 4, 4, 4), attention_weights(draw, 4), 4, draw.mask(4, 1, 4, 4)),
    ]


def _contributed(memory: Tensor, weights: Weights, n_heads: int) -> Tensor:
    """What each word of the memory contributes through each head: (batch, head, n, d)."""
    value = (memory @ weights["value"]).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return (value @ weights["output"].unflatten(0, (n_heads, -1))).double()


def _given_weights(draw: Draw) -> list[Case]:
    """Two calls that differ in what asks."""
    batch, m, n, d_head = draw.sizes(4)
    d = 2 * d_head
    x, memory = _pair(draw, batch, m, n, d)
    weights, mask = attention_weights(draw, d), draw.mask(batch, 1, m, n)
    calls = ((x, memory, weights, 2, mask), (draw.normal(batch, m, d), memory, weights, 2, mask))
    return [Case(label="two texts that ask", calls=calls, known=(_contributed(memory, weights, 2),) * 2)]


def _to_itself(draw: Draw) -> list[Case]:
    batch, m, d_head = draw.sizes(3)
    d, reads = 2 * d_head, padded(draw, batch, m + 1, 9)
    x = draw.normal(batch, m + 1, d)
    both = (reads > 0)[:, None, None, :] & _everything(m + 1, m + 1).tril()
    return [case("a text to itself, both masks", x, x.clone(), attention_weights(draw, d), 2, both)]


def _edges(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    x, memory = _pair(draw, 1, n, n + 2, 4)
    return [
        case("queries whose scores are 0", 0 * x, memory, attention_weights(draw, 4), 2, draw.mask(1, 1, n, n + 2)),
        case("one query", *_pair(draw, 2, 1, n, 4), attention_weights(draw, 4), 2, _everything(2, 1, 1, n)),
        case("one key", *_pair(draw, 2, n, 1, 4), attention_weights(draw, 4), 2, _everything(2, 1, 1, 1)),
        case("one head", *_pair(draw, 1, n, n + 1, d), attention_weights(draw, d), 1, _everything(1, 1, 1, n + 1)),
        case("square", *_pair(draw, 1, d, d, d), attention_weights(draw, d), 1, draw.mask(1, 1, d, d)),
    ]


def _large(draw: Draw) -> list[Case]:
    x, memory = _pair(draw, 2, 3, 4, 6)
    words = (padded(draw, 2, 4, 9) > 0)[:, None, None, :]
    return [case("scores of a hundred and more", 100 * x, memory, attention_weights(draw, 6), 2, words)]


ATTEND = question(
    "translation.attention",
    minutes=25,
    difficulty="hard",
    returns=("output", "shares", "scores"),
    properties=[
        shapes(0.25, _open),
        values("scores and weights if everything may be seen", 1.25, _open, "scores", "shares"),
        values("scores and weights with a mask", 1, _hidden, "scores", "shares"),
        holds("the output, given your weights", 1.25, _given_weights, output_follows_over_heads),
        values("a text to itself, both masks", 0.5, _to_itself),
        values("one query, one key, one head, square", 0.5, _edges),
        values("very large scores", 0.25, _large, "scores", "shares"),
    ],
    closed=CLOSED,
    mistakes="""
keys-from-who-asks: Your keys come from `x`. The text that answers has the keys: compare x @ query with memory @ key.
- split(memory @ weights["key"]) → split(x @ weights["key"])

keys-and-values-from-who-asks: Your keys and values both come from `x`, so this is self-attention: the decoder would
never see the source. They come from `memory`.
* memory @ → x @

queries-from-memory: Your queries come from `memory` and your keys and values from `x`: the source asks the target. It
is the other way round.
- x @ weights["query"] → other @ weights["query"]
* memory @ → x @
- other @ → memory @

values-from-who-asks: Your values come from `x`. What is passed on is what the source contains, so they come from
`memory`.
- split(memory @ weights["value"]) → split(x @ weights["value"])

mask-ignored: You do not use the mask.
- scores.masked_fill(~mask, -math.inf) → scores

mask-upside-down: You hide what may be seen and show what is hidden. True means that a query may attend.
- ~mask, -math.inf), dim=-1) → mask, -math.inf), dim=-1).nan_to_num()
or
- ~mask, → mask,

hidden-scores-zero: You set hidden scores to 0, which is an ordinary score: exp(0) = 1. Only −∞ removes them.
- -math.inf → 0.0

zeros-hidden: You take every score of 0 for one that is hidden. A score can be 0 by itself, and then its word counts.
Hide by the mask, not by value.
- ~mask, → ~mask | (scores == 0),

hidden-after-the-softmax: You removed hidden words after the softmax, so the other weights no longer sum to 1. Mask
the scores, before it.
- torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1) → torch.softmax(scores, dim=-1) * mask

not-scaled: The division by the root of a head's width is missing.
-  / math.sqrt(q.shape[-1]) →

root-forgotten: You divided by the width of a head. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]

scaled-by-all-heads: You divided by the root of d. The dot products of one head have only d / n_heads terms.
- math.sqrt(q.shape[-1]) → math.sqrt(x.shape[-1])

softmax-over-queries: Your softmax runs over the queries. Each query's weights sum to 1, over the keys: the last axis.
- dim=-1) → dim=-2).nan_to_num()
or
- dim=-1) → dim=-2)

split-without-swapping: Your heads are cut out of memory in one reshape, so a head mixes several words. Cut the last
axis in two, then swap it with time.
- projected.unflatten(-1, (n_heads, -1)).transpose(1, 2)
+ projected.reshape(len(projected), n_heads, projected.shape[1], -1)

split-the-other-way: Your heads take every n-th column. Head 0 gets the *first* columns: cut the last axis into (head,
width), in this order.
- projected.unflatten(-1, (n_heads, -1)).transpose(1, 2) → projected.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)

joined-without-swapping: You join the heads without swapping back, so a word gets pieces of other words. Swap head and
time first, then flatten.
- (shares @ v).transpose(1, 2).flatten(2) → (shares @ v).reshape(x.shape)

output-forgotten: You return the joined heads as they are. `output` mixes them.
-  @ weights["output"], → ,

overflow: exp overflows: e⁹⁰ is more than a float32 holds. Subtract the largest score of each row first, or use
torch.softmax, which does so.
- shares = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
+ shares = scores.exp() * mask
+ shares = shares / shares.sum(-1, keepdim=True)

mean-over-heads: You return the mean of the weights over the heads. Return them for each head.
- @ weights["output"], shares → @ weights["output"], shares.mean(1, keepdim=True).expand_as(shares)
""",
)
