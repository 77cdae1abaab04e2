"""Question 2a: from scores to weights to a context, with a mask. The softmax is written from exp and sum, in NumPy,
which has none."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, inputs_too, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.laws.attention import (
    mask_renormalises,
    weighted_sum_of,
    zero_where_nothing_is_allowed,
)
from autograder.exercise.specification import Both, Case, case
from solutions.attention.checks.common import mask_with_an_empty_row

VALUES, MASK = 1, 2


def _plain(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    batch = draw.integer(2, 3)
    return [
        case("one sentence", draw.normal(query, key), draw.normal(key, d)),
        case("a batch", draw.normal(batch, query, key), draw.normal(batch, key, d), None),
        case("a batch with heads", draw.normal(batch, 2, query, key), draw.normal(batch, 2, key, d)),
        case("one key only", draw.normal(query, 1), draw.normal(1, d)),
        case("as many queries as keys", draw.normal(key, key), draw.normal(key, d)),
        case("as many sentences and queries as keys", draw.normal(key, key, key), draw.normal(key, key, key)),
        case("float64", draw.normal(query, key, dtype=torch.float64), draw.normal(key, d, dtype=torch.float64)),
    ]


def _sums(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)

    def twice(label: str, values: Tensor) -> Case:
        """The same values, with two tables of scores: the weights should differ as well."""
        return Case(label=label, calls=((draw.normal(query, key), values), (draw.normal(query, key), values)))

    return [
        twice("one sentence", draw.normal(key, d)),
        case("a batch with a mask", draw.normal(2, query, key), draw.normal(2, key, d), draw.mask(2, query, key)),
        twice("values that are a slice of a larger tensor", draw.strided(key, d)),
        case("as many queries as keys", draw.normal(key, key), draw.normal(key, d)),
    ]


def _masked(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    cases = []
    for label, shape, mask in (
        ("a mask for one sentence", (query, key), draw.mask(query, key)),
        ("a separate mask for every sentence", (2, query, key), draw.mask(2, query, key)),
        ("one mask for a whole batch", (2, query, key), draw.mask(query, key)),
        ("one row of the mask for all queries (padding)", (2, query, key), draw.mask(2, 1, key)),
        ("a mask that allows everything", (query, key), torch.ones(query, key, dtype=torch.bool)),
    ):
        scores, values = draw.normal(*shape), draw.normal(*shape[:-2], key, d)
        cases.append(Case(label=label, calls=((scores, values), (scores, values, mask))))
    return cases


def _empty_rows(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    scores, values = draw.normal(2, query, key), draw.normal(2, key, d)
    return [case("a query with no key allowed", scores, values, mask_with_an_empty_row(draw, 2, query, key))]


def _large(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    scores, values = draw.normal(query, key), draw.normal(key, d)
    mask = draw.mask(query, key)
    far = torch.arange(query, dtype=torch.float32)[:, None] % 2  # 1,200 would leave a float32 too few digits
    return [
        case("scores around 200", scores + 200, values),
        case("scores around −200", scores - 200, values),
        case("rows of very different size", scores + 150 * far, values),
        case("a masked key with a very large score", scores.masked_fill(~mask, 500.0), values, mask),
        case("scores around −200, and a mask", scores - 200, values, mask),
    ]


ATTEND = question(
    "attention.attend",
    minutes=30,
    difficulty="medium",
    returns=("context", "weights"),
    properties=[
        inputs_too(shapes(0.5, Both((_plain, _masked)), "right shapes, and inputs unchanged")),
        values("the weights are a softmax over the keys", 2.5, _plain, "weights"),
        holds("the context is the weighted sum of the values", 1, _sums, weighted_sum_of(VALUES)),
        holds("a masked key weighs nothing, the rest sum to 1", 1, _masked, mask_renormalises(MASK), about=["weights"]),
        holds("a query with no key allowed gets zeros", 0.5, _empty_rows, zero_where_nothing_is_allowed(MASK)),
        values("very large and very small scores", 0.5, _large),
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

one-maximum-for-all: You subtract one maximum from all rows. In a row far below it, every exp is 0, and so is the sum.
Each row needs its own maximum: max(axis=-1, keepdims=True).
^ overall = scores.max()
- scores - largest → scores - overall
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
