"""Questions 3a and 3b: Linformer, and linear attention with a state."""

from typing import Any

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.efficient_attention.checks.common import CLOSED, positive


def _texts(
    draw: Draw, batch: int, time: int, d: int, d_v: int, mixed: int, longest: int, lengths: list[int]
) -> tuple[Any, ...]:
    q, k, v = draw.normal(batch, time, d), draw.normal(batch, time, d), draw.normal(batch, time, d_v)
    return q, k, v, draw.normal(mixed, longest), draw.normal(mixed, longest), torch.tensor(lengths)


def _as_long(draw: Draw) -> list[Case]:
    batch, time, d, d_v, mixed = draw.sizes(5)
    return [case("texts as long as E", *_texts(draw, batch, time, d, d_v, mixed, time, [time] * batch))]


def _shorter(draw: Draw) -> list[Case]:
    batch, time, d, d_v, mixed = draw.sizes(5)
    return [case("a shorter batch", *_texts(draw, batch, time, d, d_v, mixed, time + 3, [time] * batch))]


def _padded(draw: Draw) -> list[Case]:
    """Known nothing: the outputs at real tokens are the first rows, and they depend on what padding contributes."""
    _, time, d, d_v, mixed = draw.sizes(5)
    time += 3
    texts = _texts(draw, 3, time, d, d_v, mixed, time + 2, [2, time, time - 1])
    large = [torch.cat([x[:, :2], 5 * x[:, 2:]], 1) for x in texts[:3]]
    loose = _texts(draw, 2, time, d, d_v, mixed, time, [1, time - 2])
    return [
        case("texts of different lengths", *large, *texts[3:]),
        case("more padding than the longest text needs", *loose),
    ]


def _odd(draw: Draw) -> list[Case]:
    d, mixed = draw.sizes(2)
    wide = _texts(draw, 2, 3, d, 2, mixed, 4, [3, 2])
    return [
        case("one token", *_texts(draw, 2, 1, d, 3, mixed, 4, [1, 1])),
        case("one mixed key", *_texts(draw, 2, 5, d, 3, 1, 5, [5, 3])),
        case(f"square matrices, {EQUAL}", *_texts(draw, 4, 4, 4, 4, 4, 4, [4, 3, 2, 1])),
        case("float64", *(x.double() for x in wide[:5]), wide[5]),
    ]


LINFORMER = question(
    "efficient_attention.linformer",
    minutes=15,
    difficulty="medium",
    returns=("output",),
    properties=[
        shapes(0.25, _as_long),
        values("texts as long as E", 0.75, _as_long),
        values("a shorter batch", 0.5, _shorter),
        values("padding", 0.75, _padded),
        values("one token, one mixed key, float64", 0.25, _odd),
    ],
    closed=CLOSED,
    mistakes="""
padding-mixed: Padding gets into your mixed keys or values. It holds arbitrary numbers: set its keys *and* values to 0
before you mix.
- k.masked_fill(~real, 0.0) → k
- v.masked_fill(~real, 0.0) → v
or
- k.masked_fill(~real, 0.0) → k
or
- v.masked_fill(~real, 0.0) → v

padding-answers: The outputs at padding are not zero.
- (weights @ mixed_values).masked_fill(~real, 0.0) → weights @ mixed_values

padding-cut-off: You cut off padding that no text needs, so your output has fewer positions than `q`. It is as long as
the batch, and zero at padding.
^ q, k, v = (x[:, : int(lengths.max())] for x in (q, k, v))

one-matrix-for-both: You mix the values with `E`. They have a matrix of their own, `F`.
- F[:, :longest] → E[:, :longest]

matrices-swapped: You mix the keys with `F` and the values with `E`. It is the other way round.
- mixed_keys = E[ → mixed_keys = F[
- mixed_values = F[ → mixed_values = E[

last-columns: You use the last columns of `E` and `F`. The first column belongs to the first position.
- E[:, :longest] → E[:, -longest:]
- F[:, :longest] → F[:, -longest:]

not-scaled: The division by √d is missing.
-  / math.sqrt(q.shape[-1]) →

scaled-by-the-mixed: You divided by the root of the number of mixed keys. The dot products have d terms, as always.
- math.sqrt(q.shape[-1]) → math.sqrt(E.shape[0])

softmax-over-queries: Your softmax runs over the queries. Each query's weights sum to 1, over the mixed keys.
- dim=-1) → dim=-2)

softmax-of-the-matrix: You applied a softmax to the rows of `E` and `F`. They are learned as they are, and may be
negative.
- E[:, :longest] @ → torch.softmax(E[:, :longest], -1) @
- F[:, :longest] @ → torch.softmax(F[:, :longest], -1) @

mean-for-sum: You divided the mixtures by the number of tokens. They are weighted sums, nothing else.
- E[:, :longest] @ k.masked_fill(~real, 0.0) → E[:, :longest] @ k.masked_fill(~real, 0.0) / longest
- F[:, :longest] @ v.masked_fill(~real, 0.0) → F[:, :longest] @ v.masked_fill(~real, 0.0) / longest
""",
)


# --- linear attention -------------------------------------------------------------------------------------

Heads = tuple[Tensor, Tensor, Tensor]


def _features(draw: Draw, count: int, time: int, d: int, d_v: int) -> Heads:
    return positive(draw, count, time, d), positive(draw, count, time, d), draw.normal(count, time, d_v)


def _begin(draw: Draw) -> list[Case]:
    return [case("a new text", *_features(draw, *draw.sizes(4)), None)]


def _go_on(draw: Draw) -> list[Case]:
    count, time, d, d_v = draw.sizes(4)
    state = {"matrix": draw.normal(count, d, d_v), "total": 3 * positive(draw, count, d)}
    return [case("a text that continues", *_features(draw, count, time, d, d_v), state)]


def _others(draw: Draw) -> list[Case]:
    count, d, d_v = draw.sizes(3)
    wide = [x.double() for x in _features(draw, 1, 3, d, d_v)]
    state = {"matrix": draw.normal(1, d, d_v, dtype=torch.float64), "total": positive(draw, 1, d, dtype=torch.float64)}
    square = {"matrix": draw.normal(3, 3, 3), "total": positive(draw, 3, 3)}
    return [
        case("one token", *_features(draw, count, 1, d, d_v), None),
        case(f"square matrices, {EQUAL}", *_features(draw, 3, 3, 3, 3), square),
        case("float64", *wide, None),
        case("float64 with a state", *wide, state),
        case("a longer text", *_features(draw, 1, 20, d, d_v), None),
    ]


LINEAR_ATTENTION = question(
    "efficient_attention.linear_attention",
    minutes=25,
    difficulty="medium",
    returns=("output", "state"),
    properties=[
        shapes(0.25, _begin),
        values("the outputs of a new text", 1, _begin, "output"),
        values("its state", 0.75, _begin, "state"),
        values("the outputs of a text that continues", 0.75, _go_on, "output"),
        values("its state, and the old one unchanged", 0.5, _go_on, "state"),
        values("one token, square matrices, float64", 0.25, _others),
    ],
    closed=CLOSED,
    mistakes="""
not-divided: Your outputs are not divided by the sum of the weights.
-  / (q * total).sum(-1, keepdim=True) →

future-seen: Every token reads the whole text. A token reads itself and the earlier ones only, so both sums grow from
token to token.
- output = summed / (q * total).sum(-1, keepdim=True)
+ output = torch.einsum("htd,hde->hte", q, matrix[:, -1]) / torch.einsum("htd,hd->ht", q, total[:, -1])[..., None]

not-even-itself: A token reads the earlier ones, but not itself. First its own key and value enter the sums.
- output = summed / (q * total).sum(-1, keepdim=True)
+ own = (q * k).sum(-1, keepdim=True)
+ below = (q * total).sum(-1, keepdim=True) - own
+ output = torch.where(below > 1e-4, (summed - own * v) / below.clamp(min=1e-4), torch.zeros_like(v))

state-ignored: You ignore the state, so a text that continues is read as a new one.
- if state is not None: → if False:

total-restarts: Your denominator restarts with each call, and the matrix does not. Both parts of the state belong to
the past.
- total = total + state["total"][:, None] → pass

matrix-restarts: Your matrix restarts with each call, and the denominator does not. Both parts of the state belong to
the past.
- matrix = matrix + state["matrix"][:, None] → pass

new-part-only: Your outputs are right, but the state that you return contains the new tokens only. The next call needs
the old ones as well.
- return output, {"matrix": matrix[:, -1], "total": total[:, -1]}
+ return output, {"matrix": torch.einsum("htd,hte->hde", k, v), "total": k.sum(1)}

softmax-for-features: You applied a softmax. Linear attention has no exponential: the weights are the plain dot
products, divided by their sum.
- output = summed / (q * total).sum(-1, keepdim=True)
+ scores = (q @ k.mT).masked_fill(~torch.ones(q.shape[1], q.shape[1]).tril().bool(), -math.inf)
+ output = torch.softmax(scores, -1) @ v

divided-by-the-number: You divide by the number of tokens. Divide by the sum of the weights, which are the dot products
of the query with all keys read so far.
- (q * total).sum(-1, keepdim=True) → torch.arange(1, q.shape[1] + 1)[None, :, None]

mapped-again: You sent queries and keys through a feature map of your own. They have been through one already.
- matrix = torch.einsum("htd,hte->htde", k, v).cumsum(1)
+ q, k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
+ matrix = torch.einsum("htd,hte->htde", k, v).cumsum(1)

before-the-last: Your state lacks the last token. It is the state *after* it.
- {"matrix": matrix[:, -1], "total": total[:, -1]}
+ {"matrix": matrix[:, -1] - k[:, -1, :, None] * v[:, -1, None], "total": total[:, -1] - k[:, -1]}

summed-over-heads: You add up over the heads. Each head has its own sums.
- summed = torch.einsum("htd,htde->hte", q, matrix)
+ matrix, total = matrix.sum(0).expand_as(matrix), total.sum(0).expand_as(total)
+ summed = torch.einsum("htd,htde->hte", q, matrix)
""",
)
