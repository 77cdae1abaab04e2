"""Question 2b: queries, keys and values, and the division by √d that keeps the softmax from saturating."""

from torch import Tensor

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.laws.attention import mask_renormalises, weighted_sum_of, zero_where_nothing_is_allowed
from autograder.exercise.specification import Case, case
from solutions.attention.checks.common import mask_with_an_empty_row

VALUES, MASK = 2, 3


def _qkv(draw: Draw, *leading: int) -> tuple[Tensor, Tensor, Tensor]:
    query, key, d = draw.sizes(3)
    return draw.normal(*leading, query, d), draw.normal(*leading, key, d), draw.normal(*leading, key, d + 1)


def _one_sentence(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [
        case("one sentence", *_qkv(draw)),
        case("as many queries as keys", *(draw.normal(n, d) for _ in range(3))),
        case("a single query and a single key", draw.normal(1, d), draw.normal(1, d), draw.normal(1, n)),
    ]


def _leading(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [
        case("a batch", *_qkv(draw, 2)),
        case("a batch with heads, float64", *(x.double() for x in _qkv(draw, 2, 3))),
        case("a batch of slices of larger tensors", *(draw.strided(2, n, d) for _ in range(3))),
    ]


def _sums(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 2)
    other = draw.normal(*q.shape)
    return [
        Case(label="a batch", calls=((q, k, v), (other, k, v))),
        case("a batch with a mask", q, k, v, draw.mask(2, q.shape[1], k.shape[1])),
    ]


def _masked(draw: Draw) -> list[Case]:
    cases = []
    for label, leading in (("one sentence", ()), ("one mask for a whole batch", (2,))):
        q, k, v = _qkv(draw, *leading)
        cases.append(Case(label=label, calls=((q, k, v), (q, k, v, draw.mask(q.shape[-2], k.shape[-2])))))
    return cases


def _empty_rows(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 2)
    return [case("a query with no key allowed", q, k, v, mask_with_an_empty_row(draw, 2, q.shape[-2], k.shape[-2]))]


SCALED_DOT_PRODUCT_ATTENTION = question(
    "attention.scaled_dot_product_attention",
    minutes=15,
    difficulty="easy",
    returns=("output", "weights"),
    properties=[
        shapes(0.25, _one_sentence),
        values("the weights are right for one sentence", 1.75, _one_sentence, "weights"),
        holds("the output is the weighted sum of the values", 0.5, _sums, weighted_sum_of(VALUES)),
        holds("the mask is obeyed", 0.5, _masked, mask_renormalises(MASK), about=["weights"]),
        holds("a query with no key allowed gets zeros", 0.5, _empty_rows, zero_where_nothing_is_allowed(MASK)),
        values("any number of leading axes", 0.5, _leading),
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
