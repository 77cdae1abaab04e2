"""Assignment "attention": three scores, the weighted sum, a mask, and heads.

The functions differ in form from `nlmcore.attention`: one query at a time, a softmax from its parts, one mask for two
purposes, and heads as a function of five arguments.
"""

import functools
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, holds, inputs_too, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.laws.attention import (
    alone_as_in_a_batch,
    boolean_mask,
    last_row_is_known,
    mask_renormalises,
    output_follows_over_heads,
    weighted_sum_of,
    zero_where_nothing_is_allowed,
)
from autograder.question.sized import MAIN, ODD, at, several, these
from autograder.question.special import (
    at_points,
    columns,
    concluded,
    experiment,
    formula,
    over_seeds,
    predicted,
    wrong_line,
)
from autograder.question.specification import Both, Case, case

# Attention, and rooms with an attention of their own.
CLOSED = ("nlmcore.attention", "nlmcore.convolutional", "nlmcore.fast", "transformers")
ask = functools.partial(question, closed=CLOSED)

# --- 1. one query against n keys: the dot product, a bilinear form, a small network ----------------------------


def dot(draw: Draw, n: int, d: int) -> tuple[Tensor, ...]:
    return draw.normal(d), draw.normal(n, d)


DOT_SCORE = ask(
    "attention.dot_score",
    returns=("scores",),
    inputs=dot,
    main=at("a query and several keys"),
    odd=[at("one key only", n=1)],
    properties=[
        shapes(0.2, name="one score per key"),
        values("the scores are right", 1),
        values("one key, float64, slices", 0.8, ODD),
    ],
    mistakes="""
not-summed: You multiplied the entries pairwise and did not add them up. A dot product is one number per key: sum over
the last axis.
- keys @ query → query * keys
summed-over-keys: You summed over the keys, so you have one number per dimension. There should be one score per key: sum
over the dimensions of a vector, the last axis.
- keys @ query → (query * keys).sum(dim=0)
scaled-too-early: You divided the scores by √d. That comes in question 2b; the plain dot product is not scaled.
- keys @ query → keys @ query / query.shape[-1] ** 0.5
cosine: You computed the cosine, which divides by the lengths of the vectors. In a dot product, longer vectors score
higher.
- keys @ query → torch.cosine_similarity(query, keys, dim=-1)
already-softmax: You returned weights, not scores: they are positive and sum to 1. The softmax comes in question 2.
- keys @ query → torch.softmax(keys @ query, dim=-1)
""",
)


def bilinear(draw: Draw, n: int, d_query: int, d_key: int) -> tuple[Tensor, ...]:
    return draw.normal(d_query), draw.normal(n, d_key), draw.normal(d_query, d_key)


BILINEAR_SCORE = ask(
    "attention.bilinear_score",
    returns=("scores",),
    inputs=lambda draw, n, d: bilinear(draw, n, d, d),
    main=at("query and keys of equal width"),
    odd=[at("query and keys of different widths", bilinear), at("one key only", bilinear, n=1)],
    properties=[
        shapes(0.2, name="one score per key"),
        values("the scores are right", 1),
        values("also where query and keys differ in width", 0.8, ODD),
    ],
    mistakes="""
w-transposed: You used W the wrong way round: kᵀ W q equals qᵀ Wᵀ k. Its rows belong to the query: W has shape (d_query,
d_key), so q W has the width of a key.
- dot_score(query @ W, keys) → keys @ W @ query
w-forgotten: You did not use W: this is the plain dot product. With W in between, the model can learn which dimensions
of the query should meet which dimensions of the keys.
- query @ W → query
w-on-both-sides: You applied W to the query and to the keys. Apply it once, between them: qᵀ W k.
- W, keys → W, keys @ W
scaled-too-early: You divided the scores by a root. That comes in question 2b; this score is not scaled.
- dot_score(query @ W, keys) → dot_score(query @ W, keys) / keys.shape[-1] ** 0.5
or
- dot_score(query @ W, keys) → dot_score(query @ W, keys) / query.shape[-1] ** 0.5
already-softmax: You returned weights, not scores: they are positive and sum to 1. The softmax comes in question 2.
- dot_score(query @ W, keys) → torch.softmax(dot_score(query @ W, keys), dim=-1)
""",
)


def additive(draw: Draw, n: int, d_query: int, d_key: int, d_score: int) -> tuple[Tensor, ...]:
    matrices = draw.normal(d_score, d_query), draw.normal(d_score, d_key)
    return draw.normal(d_query), draw.normal(n, d_key), *matrices, draw.normal(d_score)


ADDITIVE_SCORE = ask(
    "attention.additive_score",
    returns=("scores",),
    inputs=lambda draw, n, d, d_score: additive(draw, n, d, d, d_score),
    main=at("query and keys of equal width"),
    odd=[
        at("query and keys of different widths", additive),
        at("one key, and a single hidden unit", additive, n=1, d_score=1),
    ],
    properties=[
        shapes(0.25, name="one score per key"),
        values("the scores are right", 2),
        values("also where query and keys differ in width", 0.75, ODD),
    ],
    mistakes="""
tanh-forgotten: You left out the tanh. Without it the score is a sum of two linear functions: the query adds the same
number to every score, the softmax cancels it, and every query attends alike.
- torch.tanh(W_query @ query + keys @ W_key.T) → W_query @ query + keys @ W_key.T
tanh-outside: You applied the tanh to the whole score. Apply it to the hidden layer, before v: v · tanh(…). Outside, it
squeezes every score between −1 and 1.
- torch.tanh(W_query @ query + keys @ W_key.T) → W_query @ query + keys @ W_key.T
- hidden @ v → torch.tanh(hidden @ v)
tanh-on-each-part: You applied the tanh to the query's term and to the keys' term and then added them. Add first: inside
the tanh the two interact; otherwise the query adds the same number to every key's score.
- W_query @ query + keys @ W_key.T → W_query @ query) + torch.tanh(keys @ W_key.T
v-forgotten: You summed the hidden units without v. v is learned: it says how much each hidden unit counts.
- hidden @ v → hidden.sum(-1)
v-inside-the-tanh: You multiplied by v inside the tanh. The hidden layer is tanh(W_query q + W_key k); v weights its
units afterwards, outside.
- W_query @ query + keys @ W_key.T → v * (W_query @ query + keys @ W_key.T)
- hidden @ v → hidden.sum(-1)
query-forgotten: You did not use the query: your scores depend only on the keys, so every query would attend alike.
- W_query @ query + keys → keys
matrices-swapped: You swapped W_query and W_key: you apply W_query to the keys and W_key to the query.
^ W_query, W_key = W_key, W_query
keys-not-transposed: You multiplied the keys by W_key as it is. A key is a *row* of `keys`, so W_key k for all keys at
once is `keys @ W_key.T`.
- keys @ W_key.T → keys @ W_key
product-in-place-of-sum: You multiplied the query's term by the keys' term. This score is called additive: add them
before the tanh.
- W_query @ query + keys @ W_key.T → (W_query @ query) * (keys @ W_key.T)
already-softmax: You returned weights, not scores: they are positive and sum to 1. The softmax comes in question 2.
- hidden @ v → torch.softmax(hidden @ v, dim=-1)
sigmoid: You applied a sigmoid to the hidden layer. Use a tanh, which lies between −1 and 1.
- torch.tanh → torch.sigmoid
relu: You applied a ReLU to the hidden layer. Use a tanh, which lies between −1 and 1.
- torch.tanh → torch.relu
""",
)

# --- 2. from scores to weights to a context, with a mask; queries, keys and values; one vector -----------------

Leading = tuple[int, ...]


def mask_with_an_empty_row(draw: Draw, *shape: int) -> Tensor:
    """A mask like `Draw.mask` in which one query, and not every query, has no key allowed."""
    mask = draw.mask(*shape)
    mask[..., draw.integer(0, shape[-2] - 1), :] = False
    return mask


def scores(draw: Draw, query: int, key: int, d: int, leading: Leading = (), mask: Any = ()) -> tuple:
    """mask: None, or whether there is one."""
    given = draw.normal(*leading, query, key), draw.normal(*leading, key, d)
    return *given, *([draw.mask(*leading, query, key)] if mask else [mask] if mask is None else [])


def twice(draw: Draw, query: int, key: int, d: int, strided: bool = False) -> Case:
    """The same values, with two tables of scores: the weights should differ as well."""
    values = draw.strided(key, d) if strided else draw.normal(key, d)
    return several(*((draw.normal(query, key), values) for _ in range(2)))


def masked(draw: Draw, query: int, key: int, d: int, leading: Leading = (), shape: str = "one") -> Case:
    mask = draw.mask(*{"one": (query, key), "own": (*leading, query, key), "row": (*leading, 1, key)}[shape])
    given = draw.normal(*leading, query, key), draw.normal(*leading, key, d)
    return several(given, (*given, mask))


def nothing_hidden(draw: Draw, query: int, key: int, d: int) -> Case:
    given = draw.normal(query, key), draw.normal(key, d)
    return several(given, (*given, torch.ones(query, key, dtype=torch.bool)))


def empty_row(draw: Draw, query: int, key: int, d: int) -> tuple[Tensor, ...]:
    given = draw.normal(2, query, key), draw.normal(2, key, d)
    return *given, mask_with_an_empty_row(draw, 2, query, key)


def very_large(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    scores, values, mask = draw.normal(query, key), draw.normal(key, d), draw.mask(query, key)
    only = torch.arange(key) == torch.arange(query)[:, None] % key  # of several, −20,000 would leave too few digits
    far = torch.arange(query, dtype=torch.float32)[:, None] % 2  # 1,200 would leave a float32 too few digits
    return [
        case("scores around 200", scores + 200, values),
        case("scores around −200", scores - 200, values),
        case("rows of very different size", scores + 150 * far, values),
        case("a masked key with a very large score", scores.masked_fill(~mask, 500.0), values, mask),
        case("scores around −200, and a mask", scores - 200, values, mask),
        case("a single allowed key, with a score of −20,000", scores - 20_000 * only, values, only),
    ]


SUMS = these(
    at("one sentence", twice),
    at("a batch with a mask", leading=(2,), mask=True),
    at("values that are a slice of a larger tensor", twice, strided=True),
    at("as many queries as keys", query=3, key=3),
)
MASKED = these(
    at("a mask for one sentence", masked),
    at("a separate mask for every sentence", masked, leading=(2,), shape="own"),
    at("one mask for a whole batch", masked, leading=(2,)),
    at("one row of the mask for all queries (padding)", masked, leading=(2,), shape="row"),
    at("a mask that allows everything", nothing_hidden),
)
EMPTY = at("a query with no key allowed", empty_row)
ATTEND = question(
    "attention.attend",
    returns=("context", "weights"),
    inputs=scores,
    main=these(
        at("one sentence"),
        at("a batch", leading=(3,), mask=None),
        at("a batch with heads", leading=(3, 2)),
        at("one key only", key=1),
        at("as many sentences and queries as keys", query=3, key=3, d=3, leading=(3,)),
        at("float64", double=True),
    ),
    properties=[
        inputs_too(shapes(0.5, Both((MAIN, MASKED)), "right shapes, and inputs unchanged")),
        values("the weights are a softmax over the keys", 2.5, "weights"),
        holds("the context is the weighted sum of the values", 1, SUMS, weighted_sum_of(1)),
        holds("a masked key weighs nothing, the rest sum to 1", 1, MASKED, mask_renormalises(2), about=["weights"]),
        holds("a query with no key allowed gets zeros", 0.5, EMPTY, zero_where_nothing_is_allowed(2)),
        values("very large and very small scores", 0.5, very_large),
    ],
    numpy=True,
    mistakes="""
softmax-over-queries: You took the softmax over the queries: each column of your weights sums to 1. Each query
distributes its attention over the keys, so each row should sum to 1: use the last axis, axis=-1.
* axis=-1 → axis=-2
or
- largest = np.where(largest == -math.inf, 0.0, largest)  # a row without a key →
- e.sum(axis=-1 → e.sum(axis=-2
- np.where(total == 0, 1.0, total) → total
mask-after-softmax: You applied the mask after the softmax: masked keys have weight 0, but the others no longer sum to
1. Remove masked keys before you divide by the sum.
- scores = np.where(mask, scores, -math.inf) → pass
- return weights
+ weights = weights if mask is None else weights * mask
+ return weights
mask-inverted: You read the mask the wrong way round. Here True means “may attend”; you attend exactly where it is
False.
- np.where(mask → np.where(~mask
or
- np.where(mask → np.where(~mask
- largest = np.where(largest == -math.inf, 0.0, largest)  # a row without a key →
or
- mask, scores, -math.inf → ~mask, scores, -1e9
masked-score-zero: You set the masked scores to 0. That is an ordinary score: exp(0) = 1, so the key keeps some weight.
Only −∞ (or a weight set to 0 before the division) removes it.
- scores, -math.inf → scores, 0.0
mask-ignored: The mask changes nothing in your result: masked keys are attended like the others.
- scores = np.where(mask, scores, -math.inf) → pass
nan-where-nothing-is-allowed: A query with no key allowed gives NaN: all its exponentials are 0, and the softmax divides
0 by 0. One NaN can spoil a whole training run. Return zeros for such a query.
- largest = np.where(largest == -math.inf, 0.0, largest)  # a row without a key →
uniform-where-nothing-is-allowed: A query with no key allowed attends to all keys equally. That happens with a large
negative number such as −1e9 instead of −∞: where all scores are equal, the softmax is uniform. Return zeros.
- scores, -math.inf → scores, -1e9
only-a-large-negative-number: Masked keys get a large negative score, and an allowed score lower than that loses to it.
Only −∞ is lower than every score.
- scores, -math.inf → scores, -1e4
- return weights
+ weights = weights if mask is None else weights * np.broadcast_to(mask, weights.shape).any(-1, keepdims=True)
+ return weights
overflow: exp overflows: e⁹⁰ is more than a float32 can hold, and infinity divided by infinity is NaN. Subtract the
largest score of each row first; numerator and denominator shrink alike, so the softmax does not change.
- scores - largest → scores
or
+ e = np.exp(scores) if mask is None else np.exp(scores) * mask
+ weights = e / e.sum(-1, keepdims=True)
+ return weights @ values, weights
or
- scores - largest → scores
- np.where(total == 0, 1.0, total) → total
or
+ e = np.exp(scores) if mask is None else np.exp(scores) * mask
+ weights = np.nan_to_num(e / e.sum(-1, keepdims=True))
+ return weights @ values, weights
or
- scores - largest → scores
- e / np.where(total == 0, 1.0, total) → np.nan_to_num(e / total)
or
+ e = np.exp(scores) if mask is None else np.exp(scores) * mask
+ total = e.sum(-1, keepdims=True)
+ weights = e / np.where(total == 0, 1.0, total)
+ return weights @ values, weights
scores-clipped: You clipped the scores. Then large ones become equal, and the softmax no longer tells them apart.
Subtract the largest of each row instead.
- scores - largest → np.clip(scores, -50, 50) - np.clip(largest, -50, 50)
scaled-too-early: You divided the scores by a root. That comes in question 2b; the softmax takes the scores as they are.
- np.exp(scores - largest) → np.exp((scores - largest) / scores.shape[-1] ** 0.5)
or
- np.exp(scores - largest) → np.exp((scores - largest) / values.shape[-1] ** 0.5)
two-for-e: You raised 2 to the power of the scores. The softmax uses powers of e: `np.exp`.
- np.exp(scores - largest) → np.exp2(scores - largest)
epsilon-in-the-sum: You added a number to the sum, so the weights no longer sum to 1. Replace the sum only where it is
0.
- np.where(total == 0, 1.0, total) → (total + 1e-3)
one-maximum-for-all: You subtract one maximum from all rows. In a row far below it, every exp is 0, and so is the sum.
Each row needs its own maximum: max(axis=-1, keepdims=True).
^ overall = scores.max()
- scores - largest → scores - overall
or
- scores - largest → scores - scores.max()
or
- scores, -math.inf → scores, -1e9
- scores - largest → scores - scores.max()
- np.where(total == 0, 1.0, total) → total
maximum-over-masked-keys: Your maximum includes the masked keys. If a masked score is by far the largest, the
exponentials of the allowed ones vanish. Take the maximum after masking.
^ largest_of_all = scores.max(axis=-1, keepdims=True)
- scores - largest → scores - largest_of_all
changes-its-input: The result is right, but you changed the scores that you were given: an assignment to scores[...],
`scores -= …` and `out=scores` write into the caller's array. `np.where` makes a new one.
- scores = np.where(mask, scores, -math.inf) → np.copyto(scores, -math.inf, where=~mask)
one-sum-for-all: You divided by the sum over all queries, so the whole table sums to 1. Each row has a sum of its own:
sum(axis=-1, keepdims=True).
- e.sum(axis=-1, keepdims=True) → e.sum((-2, -1), keepdims=True)
or
- e.sum(axis=-1, keepdims=True) → e.sum()
plain-mean: Your context is the plain mean of the values: it does not use the weights. It should be Σⱼ αⱼ vⱼ.
- weights @ values → values.mean(-2, keepdims=True) + 0 * (weights @ values)
scores-as-weights: You summed the values with the scores as weights, not with the weights that you computed from them.
^ given = scores
- weights @ values → given @ values
divided-without-exp: You divided the scores by their sum and left out exp. Scores may be negative or sum to nearly 0;
exp makes them positive first.
+ kept = scores if mask is None else scores * mask
+ weights = kept / kept.sum(-1, keepdims=True)
+ return weights @ values, weights
results-swapped: You returned the two results in the wrong order: return (context, weights).
- weights @ values, weights → weights, weights @ values
""",
)


def qkv(draw: Draw, query: int, key: int, d: int, leading: Leading = (), mask: bool = False) -> tuple[Tensor, ...]:
    given = (draw.normal(*leading, *size) for size in ((query, d), (key, d), (key, d + 1)))
    return *given, *([draw.mask(*leading, query, key)] if mask else [])


def other_queries(draw: Draw, query: int, key: int, d: int) -> Case:
    q, k, v = qkv(draw, query, key, d, (2,))
    return several((q, k, v), (draw.normal(*q.shape), k, v))


def masked_qkv(draw: Draw, query: int, key: int, d: int, leading: Leading = ()) -> Case:
    given = qkv(draw, query, key, d, leading)
    return several(given, (*given, draw.mask(query, key)))


def empty_row_qkv(draw: Draw, query: int, key: int, d: int) -> tuple[Tensor, ...]:
    return *qkv(draw, query, key, d, (2,)), mask_with_an_empty_row(draw, 2, query, key)


BATCHES = these(at("a batch", leading=(2,)), at("a batch with heads, float64", leading=(2, 3), double=True))
QKV_SUMS = these(at("a batch", other_queries), at("a batch with a mask", leading=(2,), mask=True))
QKV_MASKED = these(at("one sentence", masked_qkv), at("one mask for a whole batch", masked_qkv, leading=(2,)))
QKV_EMPTY = at("a query with no key allowed", empty_row_qkv)
SCALED_DOT_PRODUCT_ATTENTION = question(
    "attention.scaled_dot_product_attention",
    returns=("output", "weights"),
    inputs=qkv,
    main=these(at("one sentence"), at("a single query and a single key", query=1, key=1)),
    properties=[
        shapes(0.25),
        values("the weights are right for one sentence", 1.75, "weights"),
        holds("the output is the weighted sum of the values", 0.5, QKV_SUMS, weighted_sum_of(2)),
        holds("the mask is obeyed", 0.5, QKV_MASKED, mask_renormalises(3), about=["weights"]),
        holds("a query with no key allowed gets zeros", 0.5, QKV_EMPTY, zero_where_nothing_is_allowed(3)),
        values("any number of leading axes", 0.5, BATCHES),
    ],
    numpy=True,
    mistakes="""
not-scaled: You left out the division by √d: these are the weights of the plain dot products. With wide vectors nearly
all weight falls on a single key, and the gradient vanishes.
- / math.sqrt(q.shape[-1]) →
divided-by-d: You divided by d instead of √d. The dot product of d independent terms has standard deviation √d.
- math.sqrt(q.shape[-1]) → q.shape[-1]
multiplied-by-root-d: You multiplied by √d instead of dividing by it.
- / math → * math
root-of-value-width: You divided by the root of the values' width. d is the width of queries and keys: the number of
products in each score.
- q.shape[-1] → v.shape[-1]
root-of-key-count: You divided by the root of the number of keys. d is the width of a query, its last axis.
- q.shape[-1] → k.shape[-2]
root-of-query-count: You divided by the root of the number of queries. d is the width of a query, its last axis.
- q.shape[-1] → q.shape[-2]
or
- q.shape[-1] → q.shape[0]
scaled-after-softmax: You divided the weights by √d after the softmax, so they no longer sum to 1. Divide the scores
before it.
+ _, weights = attend(q @ np.swapaxes(k, -1, -2), v, mask)
+ weights = weights / math.sqrt(q.shape[-1])
+ return weights @ v, weights
queries-and-keys-swapped: You swapped queries and keys: row i of your scores belongs to key i. Scores are Q Kᵀ: one row
per query.
- q @ np.swapaxes(k, -1, -2) → k @ np.swapaxes(q, -1, -2)
softmax-over-queries: You took the softmax over the queries. Each row of the weights belongs to one query and should sum
to 1.
+ scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
+ scores = scores if mask is None else np.where(mask, scores, -math.inf)
+ e = np.exp(scores - scores.max(axis=-2, keepdims=True))
+ weights = np.nan_to_num(e / e.sum(axis=-2, keepdims=True))
+ return weights @ v, weights
mask-ignored: The mask changes nothing in your result. Do you pass it on to attend?
- , v, mask → , v
mask-inverted: You read the mask the wrong way round: True means “may attend”.
^ mask = None if mask is None else ~mask
or
after: nan-where-nothing-is-allowed
- np.where(mask → np.where(~mask
or
after: uniform-where-nothing-is-allowed
- np.where(mask → np.where(~mask
mask-after-softmax: You applied the mask after the softmax: masked keys have weight 0, but the others no longer sum to
1. Remove masked keys before it.
- return attend(scores, v, mask)
+ _, weights = attend(scores, v)
+ weights = weights if mask is None else weights * mask
+ return weights @ v, weights
mask-added: You added the mask to the scores: True counts as 1, so allowed keys get 1 more, and no key is removed. Write
−∞ where the mask is False.
- scores, v, mask → scores + (0 if mask is None else mask), v
results-swapped: You returned the two results in the wrong order: return (output, weights).
- v, mask) → v, mask)[::-1]
nan-where-nothing-is-allowed: A query with no key allowed gives NaN: all its exponentials are 0, and the softmax divides
0 by 0. One NaN can spoil a whole training run. Return zeros for such a query.
+ scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
+ scores = scores if mask is None else np.where(mask, scores, -math.inf)
+ e = np.exp(scores - scores.max(axis=-1, keepdims=True))
+ weights = e / e.sum(axis=-1, keepdims=True)
+ return weights @ v, weights
uniform-where-nothing-is-allowed: A query with no key allowed attends to all keys equally. That happens with a large
negative number such as −1e9 instead of −∞: where all scores are equal, the softmax is uniform. Return zeros.
after: nan-where-nothing-is-allowed
- -math.inf → -1e9
""",
)

page, fresh = over_seeds()
seeds = Both((page, fresh))
ONE_VECTOR = ask(
    "attention.one_vector",
    returns=("prediction", "errors", "conclusion"),
    properties=[
        predicted(0.5, page, 4),
        columns("the errors of one vector", 2, seeds, "errors", 0, 1, 2, 3),
        values("the errors of attention as well", 1.5, seeds, "errors"),
        concluded(
            2,
            seeds,
            [["lower", 0, 1], ["undecided", 0, 2], ["undecided", 3, 4]],
            [["lower", 0, 1], ["lower", 0, 2], ["undecided", 3, 4]],
            [["lower", 0, 1], ["undecided", 0, 2], ["lower", 4, 3]],
            [["lower", 0, 1], ["lower", 0, 2], ["lower", 4, 3]],
        ),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
* d, seed) → d, seeds[0])
- facts(16, 64, seed) → facts(16, 64, seeds[0])
keys-left-out: You summed the values without their keys. Such a vector contains all places, but not who is where.
Multiply each value by its key before you sum.
- (keys * values).sum → values.sum
asked-without-a-key: You gave the same summary as the answer to every question. Multiply it by the key of the person
that the question is about.
- wrong(keys * summary, → wrong(0 * keys + summary,
summed-over-the-texts: You summed over the texts. Each text has a summary of its own: sum over its facts.
- .sum(1, keepdims=True) → .sum(0, keepdims=True)
product-of-all: You multiplied the facts with each other. Add the products of key and value.
- .sum(1, keepdims=True) → .prod(1, keepdims=True)
plain-mean-for-attention: You pooled the values with equal weights, so every question gets the same answer. The weights
should depend on the query.
- found, _ = scaled_dot_product_attention(keys, keys, values) → found = 0 * values + values.mean(1, keepdims=True)
queries-meet-values: Your attention compares the queries with the values. Compare them with the keys; the values are
what is pooled.
- scaled_dot_product_attention(keys, keys, values) → scaled_dot_product_attention(keys, values, values)
keys-pooled: Your attention pools the keys. A place is in a value.
- scaled_dot_product_attention(keys, keys, values) → scaled_dot_product_attention(keys, keys, keys)
columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 1 → errors = np.sort(errors, axis=0); conclusion = 1
mean-over-seeds: You return one row, the mean over the seeds. Then nobody can see whether the seeds agree: keep a row
for each.
- conclusion = 1 → errors = [np.mean(errors, axis=0)]; conclusion = 1
one-seed-believed: That column 3 has more errors than column 1 is true for some of your seeds, not for all, and the mean
difference is within what chance explains. One seed would have misled you.
- conclusion = 1 → conclusion = 2
attention-believed-better: Columns 4 and 5 do not differ in your own numbers. Attention keeps as many numbers as that
vector. What it changes is that its memory grows with the text.
- conclusion = 1 → conclusion = 3
both-believed: Neither of the two claims holds for your own numbers. Compare columns 1 and 3, and columns 4 and 5, row
by row.
- conclusion = 1 → conclusion = 4
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 4 → prediction = 0
""",
)

# --- 3. one mask that hides the future and the padding ---------------------------------------------------------


def padded(draw: Draw, batch: int, time: int, empty: bool = False, more: int = 0) -> Case:
    """One sentence fills the time, one does not, and one may be empty. known: where words are."""
    lengths = draw.integers(1, time, batch)
    lengths[0], lengths[1] = time, 0 if empty else draw.integer(1, time - 1)
    return several((lengths, time + more), known=(torch.arange(time + more) < lengths[:, None],))


def unpadded(draw: Draw, batch: int, time: int) -> tuple[Tensor, int]:
    return torch.full((batch,), time), time


FULL = these(at("no padding at all", unpadded), at("one word", unpadded, batch=1, time=1))
EDGES = these(
    at("sentences of different lengths"),
    at("an empty sentence in the batch", empty=True),
    at("more padding than the longest sentence needs", more=2),
)
DECODER_MASK = ask(
    "attention.decoder_mask",
    returns=("mask",),
    inputs=padded,
    main=at("sentences of different lengths"),
    properties=[
        judged("boolean, of shape (batch, 1, time, time)", 0.5, MAIN, boolean_mask),
        values("no query sees the future", 1, FULL),
        holds("no query sees padding", 1, MAIN, last_row_is_known),
        values("both together, edges included", 0.5, EDGES),
    ],
    mistakes="""
padding-forgotten: Your mask hides the future but not the padding: it does not use the lengths.
- past[None, None, :, :] & word[:, None, None, :] → past.repeat(len(lengths), 1, 1, 1)
future-forgotten: Your mask hides padding, but every word can see the words after it. A decoder that sees the next word
has nothing left to predict.
- past[None, None, :, :] & word[:, None, None, :] → word[:, None, None, :].repeat(1, 1, time, 1)
inverted: This is the mask of what is forbidden. Here True means “may attend”: put ~ in front of it.
- past[None, None, :, :] & word[:, None, None, :] → ~(past[None, None, :, :] & word[:, None, None, :])
not-even-itself: In your mask a word cannot see itself, and the first word sees nothing at all. Use key ≤ query,
with equality: the diagonal belongs to the past.
- <= → <
one-ahead: In your mask a word sees the next word, which is the one that it has to predict. Use key ≤ query.
- position[:, None]  # (query → position[:, None] + 1  # (query
the-past-hidden: Your triangle is the upper one: words see the future but not the past. Rows are queries, columns are
keys.
- <= → >=
one-word-too-many: Your mask makes every sentence one word too long: the first padding position is visible. Positions
count from 0, so a sentence of length 3 has positions 0, 1, 2.
- < lengths → <= lengths
padding-of-queries: In your mask, queries at padding (rows) see nothing. What has to be hidden is keys at padding
(columns); the results of rows at padding are never used, so leave them as they are.
- word[:, None, None, :] → word[:, None, :, None]
or-in-place-of-and: A key may be seen only if it is in the past AND is a word; your mask says OR. Combine the two with
&.
- & word → | word
zero-and-minus-infinity: This is the kind of mask that is added to scores, with 0 and −∞. Return a boolean one: True =
may attend.
- past[None, None, :, :] & word[:, None, None, :]
+ torch.where(past[None, None, :, :] & word[:, None, None, :], 0.0, -math.inf)
""",
)

# --- 4. several heads, as one function of the matrices ---------------------------------------------------------


def heads(draw: Draw, n_heads: int, batch: int = 2) -> tuple[Any, ...]:
    """Every matrix is square; time and d_head differ from each other and from the heads."""
    time, d = draw.integer(4, max(4, draw.largest)), n_heads * (3 if n_heads == 2 else 2)
    return of_widths(draw, batch, time, d, d, d, n_heads)


def of_widths(draw: Draw, batch: int, time: int, d_in: int, d_model: int, d_out: int, n_heads: int) -> tuple[Any, ...]:
    matrices = (draw.normal(*shape) / shape[0] ** 0.5 for shape in [(d_in, d_model)] * 3 + [(d_model, d_out)])
    return draw.normal(batch, time, d_in), *matrices, n_heads


def one_head(draw: Draw, time: int, d: int, batch: int = 2) -> tuple[Any, ...]:
    return of_widths(draw, batch, time, d, d, d, 1)


def narrow(draw: Draw, time: int, d_head: int, n_heads: int) -> tuple[Any, ...]:
    return of_widths(draw, 2, time, n_heads * d_head - 1, n_heads * d_head, 3, n_heads)


def masked_heads(draw: Draw, leading: Leading = ()) -> Case:
    given = heads(draw, 2)
    return several(given, (*given, draw.mask(*leading, given[0].shape[1], given[0].shape[1])))


def empty_row_heads(draw: Draw) -> tuple[Any, ...]:
    x, *given = heads(draw, 2)
    return x, *given, mask_with_an_empty_row(draw, 2, 1, x.shape[1], x.shape[1])


def contributing(draw: Draw, n_heads: int, mask: bool = False) -> Case:
    """Known: what each key of each head adds to the output, (batch, head, key, d_out)."""
    given, known = heads(draw, n_heads), []
    time = given[0].shape[1]
    other = (*given, draw.mask(2, 1, time, time)) if mask else (draw.normal(*given[0].shape), *given[1:])
    calls = [other] if mask else [given, other]
    for x, _, _, W_v, W_o, *_ in calls:
        values = (x.double() @ W_v.double()).unflatten(-1, (n_heads, -1)).transpose(1, 2)
        known.append(values @ W_o.double().unflatten(0, (n_heads, -1)))
    return several(*calls, known=tuple(known))


def alone_and_together(draw: Draw) -> Case:
    x, *given = heads(draw, 2, 3)
    return several((x, *given), (x[1:2], *given))


SEVERAL = these(at("two heads", n_heads=2), at("three heads", n_heads=3, batch=1), at("a narrower x", narrow))
ONE_HEAD = these(at("one head", one_head), at("one head, one word", one_head, batch=1, time=1))
OUTPUTS = these(
    at("two heads", contributing, n_heads=2),
    at("two heads and a mask", contributing, n_heads=2, mask=True),
    at("three heads", contributing, n_heads=3),
)
HEADS_MASKED = these(
    at("one mask for all heads", masked_heads, leading=(2, 1)), at("one mask for all sentences and heads", masked_heads)
)
HEADS_EMPTY = at("a word with no key allowed", empty_row_heads)
TOGETHER = at("a sentence alone and in a batch", alone_and_together)
zero_weights = zero_where_nothing_is_allowed(6, output_too=False)
MULTI_HEAD_ATTENTION = question(
    "attention.multi_head_attention",
    returns=("output", "weights"),
    inputs=heads,
    main=SEVERAL,
    properties=[
        shapes(0.5),
        values("with one head it is plain attention", 1, ONE_HEAD),
        values("every head has its own weights", 2, "weights"),
        holds("heads are joined and mixed", 1, OUTPUTS, output_follows_over_heads),
        holds("the mask holds for every head", 0.5, HEADS_MASKED, mask_renormalises(6), about=["weights"]),
        holds("a word with no key allowed gets weights of zero", 0.5, HEADS_EMPTY, zero_weights, about=["weights"]),
        holds("a sentence gives the same alone as in a batch", 0.5, TOGETHER, alone_as_in_a_batch(1)),
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
- (batch, time, n_heads, -1).transpose(0, 2, 1, 3) → (batch, time, n_heads, -1).transpose(0, 2, 1, 3)[:, [0] * n_heads]
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
keys-for-values: You mixed the keys. The weights come from queries and keys, and they mix the values, x W_v.
- cut(x @ W_v) → cut(x @ W_k)
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

# --- 5 to 7. the variance of a dot product, a colleague's count of keys, and width ----------------------------

points = at_points(d=(2, 300), a=(0.2, 3.0), b=(0.2, 3.0), m=(-2.0, 2.0))
SCORE_SPREAD = ask(
    "attention.score_spread",
    returns=("variance", "divisor"),
    properties=[
        formula("the variance", 1.25, points, "variance"),
        formula("the divisor", 0.75, points, "divisor"),
    ],
    mistakes="""
mean-forgotten: You left out the mean of the keys. The mean of k² is the variance plus the squared mean, b + m².
* (b + m**2) → b
mean-not-squared: The mean of k² is b + m², with the mean squared: it has the same unit as a variance.
* m**2 → m
mean-of-both: You also gave the queries the mean m. They have mean 0, so the mean of q² is a.
* a * (b + m**2) → (a + m**2) * (b + m**2)
means-add-up: You added (d m)². But the dot product has mean 0, because the queries have mean 0. The m² is part of the
mean square of each entry of a key.
* d * a * (b + m**2) → (d * a * b + (d * m) ** 2)
mean-once: You added m² once, to the whole sum. It is part of the mean square of *each* entry of a key.
* d * a * (b + m**2) → (d * a * b + m**2)
spreads-added: You added the two variances of a product. For independent factors of which one has mean 0, the mean of
the square is the product of the two mean squares.
* a * (b + m**2) → (a + b + m**2)
one-entry: That is the variance of one product of entries. The dot product is a sum of d of them, and variances add.
* d * a → a
terms-added-as-deviations: You added standard deviations. Those of independent terms do not add, their squares do: the
variance grows with d, not with d².
* d * a → d**2 * a
divided-by-the-variance: Your divisor is the variance itself. Dividing by c divides the variance by c², so divide by the
root, the standard deviation.
- math.sqrt(d * a * (b + m**2)) → d * a * (b + m**2)
divided-by-the-root-of-the-width: Your divisor is √d, as in 2b. That is right for entries of variance 1 and mean 0 only.
- math.sqrt(d * a * (b + m**2)) → math.sqrt(d)
""",
)


def weights(draw: Draw, lengths: list[int], time: int) -> tuple[Tensor, Tensor]:
    """Weights of self-attention in which half of the keys are out of reach."""
    scores = draw.normal(len(lengths), time, time).masked_fill(~draw.mask(len(lengths), time, time), -torch.inf)
    return torch.softmax(3 * scores, dim=-1), torch.tensor(lengths)


def even(draw: Draw, batch: int, time: int) -> tuple[Tensor, Tensor]:
    return weights(draw, [time + 1] * batch, time + 1)


def ragged(draw: Draw, time: int, more: int = 0) -> tuple[Tensor, Tensor]:
    first = [draw.integer(1, time + 1), time + 2] if not more else [time + 1]
    return weights(draw, [*first, draw.integer(1, time)], time + 2)


KEYS_LOOKED_AT = ask(
    "attention.keys_looked_at",
    returns=("number",),
    inputs=even,
    properties=[
        values("texts of equal length", 1),
        values("texts of different lengths", 1, at("three texts", ragged), at("more padding", ragged, more=1)),
    ],
    planted="- .sum(-1) → .sum(-2)",
    mistakes="""
exponential-of-the-mean: You took the mean of the entropies first and the exponential once. That is a different mean:
the number of keys belongs to each query.
- number = entropy.exp() → number = entropy
- total / real.sum() → (total / real.sum()).exp()
entropy-returned: You return the mean entropy itself. The number of keys is e to the entropy.
- entropy.exp() → entropy
sum-over-everything: You summed over queries and keys. Each query has an entropy of its own: sum over the keys.
- .sum(-1) → .sum((-2, -1)).unsqueeze(1) / weights.shape[1]
padding-counted: You now count the padded queries. Keep the lines with `real`, which leave them out.
- return total / real.sum() → return number.mean()
mean-of-the-texts: You took the mean within each text first, and then over the texts. Take it over all real queries of
the batch.
- return total / real.sum() → return ((number * real).sum(1) / real.sum(1)).mean()
minus-lost: The minus sign is lost: the logarithm of a weight is negative, and an entropy never is.
- -(weights → (weights
bits: Your logarithm has base 2, and your exponential base e. Either base is fine if both agree.
- .log() → .log2()
""",
)

WRONG_LINE = wrong_line(
    "attention.wrong_line",
    KEYS_LOOKED_AT,
    points=1,
    mistakes="""
clamp-suspected: Line {clamp} is right: a weight of 0 adds 0 to the entropy, and the limit only avoids 0 times −∞.
exponential-suspected: Line {entropy.exp()} is right: a query that spreads its weight evenly over n keys has the entropy
ln n.
mask-suspected: Line {torch.arange} is right: it is True for the queries before the end of their text.
total-suspected: Line {(number * real)} is right: the padded queries add 0.
divisor-suspected: Line {total / real.sum()} is right: it divides by the number of real queries.
""",
)

page, fresh = over_seeds(count=3)
HARDENING = experiment(
    "attention.hardening",
    table="largest",
    points=(0.5, 3.5, 2),
    claims=["0 < 2, 1 ~ 3", "0 < 2, 1 < 3", "0 < 2, 3 < 1", "0 ~ 2, 1 ~ 3"],
    page=page,
    fresh=fresh,
    rows="the largest weights of every seed",
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- sample(d, seed) → sample(d, seeds[0])
largest-of-all: You took the largest weight of the whole table. Take the largest of each query, then the mean over the
queries.
* .max(-1).mean() → .max()
columns-for-rows: You took the largest weight that each *key* gets. A row belongs to a query, and its weights sum to 1.
* .max(-1).mean() → .max(-2).mean()
both-divided: Your plain scores are divided as well. For the first of the two numbers, pass the dot products to `attend`
as they are.
- attend(q @ k.T, v) → attend(q @ k.T / math.sqrt(d), v)
mean-over-seeds: You return one row, the mean over the seeds. Then nobody can see whether the seeds agree: keep a row
for each.
- conclusion = 1 → largest = [np.mean(largest, axis=0)]; conclusion = 1
columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 1 → largest = np.sort(largest, axis=0); conclusion = 1
first-seed-believed: With the division your own numbers do not decide it: at width 128 the largest weight is larger for
some seeds and smaller for others.
- conclusion = 1 → conclusion = 2
second-seed-believed: With the division your own numbers do not say that the largest weight is smaller at width 128. It
is for some seeds; one seed would have misled you.
- conclusion = 1 → conclusion = 3
against-the-numbers: Without the division your own numbers decide it: for every seed the largest weight is larger at
width 128.
- conclusion = 1 → conclusion = 4
""",
)

EXERCISES = exercises_in(__name__)
