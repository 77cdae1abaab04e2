"""Question 4: several heads, as one function of the matrices."""

from typing import Any

from torch import Tensor

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.laws.attention import (
    alone_as_in_a_batch,
    mask_renormalises,
    output_follows_over_heads,
    zero_where_nothing_is_allowed,
)
from autograder.exercise.specification import Case, case
from solutions.attention.checks.common import mask_with_an_empty_row

MASK = 6


def _weights(draw: Draw, d_in: int, d_model: int, d_out: int) -> tuple[Tensor, ...]:
    shapes = [(d_in, d_model)] * 3 + [(d_model, d_out)]
    return tuple(draw.normal(*shape) / shape[0] ** 0.5 for shape in shapes)


def _square(draw: Draw, n_heads: int, batch: int = 2) -> tuple[Any, ...]:
    """Arguments in which every matrix is square; time and d_head differ from each other and from the heads."""
    time = draw.integer(4, max(4, draw.largest))
    d_model = n_heads * (3 if n_heads == 2 else 2)
    return draw.normal(batch, time, d_model), *_weights(draw, d_model, d_model, d_model), n_heads


def _one_head(draw: Draw) -> list[Case]:
    time, d = draw.sizes(2)
    return [
        case("one head", draw.normal(2, time, d), *_weights(draw, d, d, d), 1),
        case("one head, one word", draw.normal(1, 1, d), *_weights(draw, d, d, d), 1),
    ]


def _several_heads(draw: Draw) -> list[Case]:
    time, d_head, n_heads = draw.sizes(3)
    d = n_heads * d_head
    return [
        case("two heads", *_square(draw, 2)),
        case("three heads", *_square(draw, 3, batch=1)),
        case("x narrower than d_model", draw.normal(2, time, d - 1), *_weights(draw, d - 1, d, 3), n_heads),
    ]


def _masked(draw: Draw) -> list[Case]:
    cases = []
    for label, leading in (("one mask for all heads", (2, 1)), ("one mask for all sentences and heads", ())):
        arguments = _square(draw, 2)
        time = arguments[0].shape[1]
        cases.append(Case(label=label, calls=(arguments, (*arguments, draw.mask(*leading, time, time)))))
    return cases


def _empty_rows(draw: Draw) -> list[Case]:
    x, *rest = _square(draw, 2)
    return [case("a word with no key allowed", x, *rest, mask_with_an_empty_row(draw, 2, 1, x.shape[1], x.shape[1]))]


def _outputs(draw: Draw) -> list[Case]:
    arguments = _square(draw, 2)
    time = arguments[0].shape[1]
    other = draw.normal(*arguments[0].shape)
    return [
        _with_contributions("two heads", arguments, (other, *arguments[1:])),
        _with_contributions("two heads and a mask", (*arguments, draw.mask(2, 1, time, time))),
        _with_contributions("three heads", _square(draw, 3)),
    ]


def _with_contributions(label: str, *calls: tuple[Any, ...]) -> Case:
    """A case that knows what each key of each head adds to the output: (batch, head, key, d_out)."""
    known = []
    for x, _, _, W_v, W_o, n_heads, *_ in calls:
        values = (x.double() @ W_v.double()).unflatten(-1, (n_heads, -1)).transpose(1, 2)
        known.append(values @ W_o.double().unflatten(0, (n_heads, -1)))
    return Case(label=label, calls=calls, known=tuple(known))


def _alone_and_together(draw: Draw) -> list[Case]:
    x, *rest = _square(draw, 2, batch=3)
    return [Case(label="a sentence alone and in a batch", calls=((x, *rest), (x[1:2], *rest)))]


MULTI_HEAD_ATTENTION = question(
    "attention.multi_head_attention",
    minutes=35,
    difficulty="hard",
    returns=("output", "weights"),
    properties=[
        shapes(0.5, _several_heads),
        values("with one head it is plain attention", 1, _one_head),
        values("every head has its own weights", 2, _several_heads, "weights"),
        holds("heads are joined and mixed", 1, _outputs, output_follows_over_heads),
        holds("the mask holds for every head", 0.5, _masked, mask_renormalises(MASK), about=["weights"]),
        holds(
            "a word with no key allowed gets weights of zero",
            0.5,
            _empty_rows,
            zero_where_nothing_is_allowed(MASK, output_too=False),
            about=["weights"],
        ),
        holds("a sentence gives the same alone as in a batch", 0.5, _alone_and_together, alone_as_in_a_batch(1)),
    ],
    numpy=True,
    mistakes="""
reshaped-without-transpose: Your heads mix words: you reshaped (batch, time, d_model) directly to (batch, head, time,
d_head), so a head gets whole words instead of a part of every word. Reshape to (batch, time, head, d_head), then
transpose.
- y.reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3) → y.reshape(batch, n_heads, time, -1)

heads-dealt-out: Your heads take every n-th dimension: you split d_model as (d_head, head). Head 0 is the first d_head
dimensions, head 1 the next: split it as (head, d_head).
- y.reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3) → y.reshape(batch, time, -1, n_heads).transpose(0, 3, 1, 2)

one-head-repeated: All your heads are the same: each uses the first d_head dimensions. Head i has its own part.
- y.reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3)
+ y.reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3)[:, [0] * n_heads]

no-heads: You compute one head over all of d_model and return it n_heads times. Split queries, keys and values into
heads first; each head then has its own softmax.
- n_heads, -1 → 1, -1
- @ W_o, weights → @ W_o, weights.repeat(n_heads, axis=1)

joined-without-transpose: The weights are right, but you joined the heads wrongly: you reshaped (batch, head, time,
d_head) directly to (batch, time, d_model). Transpose head and time first.
- mixed.transpose(0, 2, 1, 3).reshape → mixed.reshape

joined-interleaved: The weights are right, but you joined the heads in the wrong order: their dimensions alternate.
First all of head 0, then all of head 1.
- mixed.transpose(0, 2, 1, 3) → mixed.transpose(0, 2, 3, 1)

heads-summed: You summed the heads. Concatenate them; W_o mixes them.
- mixed.transpose(0, 2, 1, 3).reshape(batch, time, -1) → np.tile(mixed.sum(1), n_heads)

no-output-projection: You did not use W_o: you return the concatenated heads. Without W_o the heads would never exchange
anything.
- joined @ W_o → joined

scaled-by-d-model: You divided by √d_model. Each head's dot product has only d_head = d_model / n_heads terms: divide by
√d_head.
- cut(x @ W_q) → cut(x @ W_q) / math.sqrt(n_heads)

not-scaled: You left out the division by √d_head: every head's scores are plain dot products.
- cut(x @ W_q) → cut(x @ W_q) * math.sqrt(W_q.shape[1] // n_heads)

matrices-transposed: You transposed the matrices: you computed x Wᵀ. nn.Linear stores its weight as (out, in); here W is
(in, out), and you need x W.
^ W_q, W_k, W_v = W_q.T, W_k.T, W_v.T

mask-ignored: The mask changes nothing in your result. Every head needs it: do you pass it on?
- , mask) → )

mask-inverted: You read the mask the wrong way round: True means “may attend”.
^ mask = None if mask is None else ~mask
or
after: nan-where-nothing-is-allowed
- np.where(mask → np.where(~mask
or
after: uniform-where-nothing-is-allowed
- np.where(mask → np.where(~mask

nan-where-nothing-is-allowed: A query with no key allowed gives NaN: all its exponentials are 0, and the softmax divides
0 by 0. One NaN can spoil a whole training run. Return zeros for such a query.
- mixed, weights = scaled_dot_product_attention(cut(x @ W_q), cut(x @ W_k), cut(x @ W_v), mask)
+ scores = cut(x @ W_q) @ np.swapaxes(cut(x @ W_k), -1, -2) / math.sqrt(W_q.shape[1] // n_heads)
+ scores = scores if mask is None else np.where(mask, scores, -math.inf)
+ e = np.exp(scores - scores.max(axis=-1, keepdims=True))
+ weights = e / e.sum(axis=-1, keepdims=True)
+ mixed = weights @ cut(x @ W_v)

uniform-where-nothing-is-allowed: A query with no key allowed attends to all keys equally. That happens with a large
negative number such as −1e9 instead of −∞: where all scores are equal, the softmax is uniform. Return zeros.
after: nan-where-nothing-is-allowed
- -math.inf → -1e9

softmax-over-queries: You took the softmax over the queries. Each row of the weights belongs to one query and should sum
to 1.
after: nan-where-nothing-is-allowed
- e / e.sum(axis=-1, keepdims=True) → np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
* axis=-1 → axis=-2

softmax-over-heads: You took the softmax over the heads. Every head has its own softmax over the keys: the last axis.
after: nan-where-nothing-is-allowed
- e / e.sum(axis=-1, keepdims=True) → np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
* axis=-1 → axis=1

weights-averaged: You averaged the weights over the heads, as torch.nn.MultiheadAttention does by default. Return those
of every head: (batch, head, time, time).
- @ W_o, weights → @ W_o, weights.mean(1)
or
- @ W_o, weights → @ W_o, 0 * weights + weights.mean(1, keepdims=True)

mask-after-softmax: You applied the mask after the softmax: masked keys have weight 0, but the others no longer sum to
1. Remove masked keys before it.
- , mask) → )
- joined = mixed
+ if mask is not None:
+     weights = weights * mask
+     mixed = weights @ cut(x @ W_v)
+ joined = mixed
""",
)
