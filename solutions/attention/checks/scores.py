"""Questions 1a to 1c: one query against n keys. The dot product, a bilinear form, a small network."""

import torch

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.attention.checks.common import CLOSED

DIFFERENT_WIDTHS = "also where query and keys differ in width"


def _dot_inputs(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [case("a query and several keys", draw.normal(d), draw.normal(n, d))]


def _dot_edges(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [
        case("one key only", draw.normal(d), draw.normal(1, d)),
        case("as many keys as dimensions", draw.normal(d), draw.normal(d, d)),
        case("float64", draw.normal(d, dtype=torch.float64), draw.normal(n, d, dtype=torch.float64)),
        case("keys that are a slice of a larger tensor", draw.normal(d), draw.strided(n, d)),
    ]


DOT_SCORE = question(
    "attention.dot_score",
    minutes=5,
    difficulty="easy",
    returns=("scores",),
    properties=[
        shapes(0.2, _dot_inputs, "one score per key"),
        values("the scores are right", 1, _dot_inputs),
        values("one key, float64, slices", 0.8, _dot_edges),
    ],
    closed=CLOSED,
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


def _square(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [case("query and keys of equal width", draw.normal(d), draw.normal(n, d), draw.normal(d, d))]


def _wide(draw: Draw) -> list[Case]:
    n, q, k = draw.sizes(3)
    return [
        case("query and keys of different widths", draw.normal(q), draw.normal(n, k), draw.normal(q, k)),
        case("one key only", draw.normal(q), draw.normal(1, k), draw.normal(q, k)),
    ]


BILINEAR_SCORE = question(
    "attention.bilinear_score",
    minutes=10,
    difficulty="easy",
    returns=("scores",),
    properties=[
        shapes(0.2, _square, "one score per key"),
        values("the scores are right", 1, _square),
        values(DIFFERENT_WIDTHS, 0.8, _wide),
    ],
    closed=CLOSED,
    mistakes="""
w-transposed: You used W the wrong way round: kᵀ W q equals qᵀ Wᵀ k. Its rows belong to the query: W has shape (d_query,
d_key), so q W has the width of a key.
- dot_score(query @ W, keys) → keys @ W @ query

w-forgotten: You did not use W: this is the plain dot product. With W in between, the model can learn which dimensions
of the query should meet which dimensions of the keys.
- query @ W → query

w-on-both-sides: You applied W to the query and to the keys. Apply it once, between them: qᵀ W k.
- W, keys → W, keys @ W

already-softmax: You returned weights, not scores: they are positive and sum to 1. The softmax comes in question 2.
- dot_score(query @ W, keys) → torch.softmax(dot_score(query @ W, keys), dim=-1)
""",
)


def _additive(draw: Draw, n: int, d_query: int, d_key: int, d_score: int, label: str) -> Case:
    weights = (draw.normal(d_score, d_query), draw.normal(d_score, d_key), draw.normal(d_score))
    return case(label, draw.normal(d_query), draw.normal(n, d_key), *weights)


def _additive_square(draw: Draw) -> list[Case]:
    n, d, d_score = draw.sizes(3)
    return [_additive(draw, n, d, d, d_score, "query and keys of equal width")]


def _additive_wide(draw: Draw) -> list[Case]:
    n, d_query, d_key = draw.sizes(3)
    return [
        _additive(draw, n, d_query, d_key, d_query + 1, "query and keys of different widths"),
        _additive(draw, 1, d_query, d_key, 1, "one key, and a single hidden unit"),
    ]


ADDITIVE_SCORE = question(
    "attention.additive_score",
    minutes=15,
    difficulty="medium",
    returns=("scores",),
    properties=[
        shapes(0.25, _additive_square, "one score per key"),
        values("the scores are right", 2, _additive_square),
        values(DIFFERENT_WIDTHS, 0.75, _additive_wide),
    ],
    closed=CLOSED,
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
""",
)
