"""Questions 1a and 1b: one query against n keys. The dot product and a bilinear form."""

import torch

import nlmcore.attention as reference
from autograder.checks.attention.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

SCORES = ("scores",)


# --- 1a: dot ----------------------------------------------------------------------------------------------


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


DOT_SCORE = Exercise(
    name="attention.dot_score",
    title="The dot product as a score",
    signature="dot_score(query, keys)",
    arguments=("query", "keys"),
    returns=SCORES,
    minutes=5,
    difficulty="easy",
    reference=lambda query, keys: reference.dot_score(query, keys),
    properties=(
        Property(name="one score per key", points=0.2, cases=_dot_inputs, judge=same_shapes(SCORES)),
        Property(name="the scores are right", points=1, cases=_dot_inputs, judge=same_values(SCORES)),
        Property(name="also for one key, float64, slices", points=0.8, cases=_dot_edges, judge=same_values(SCORES)),
    ),
    misconceptions=(
        Misconception(
            id="not-summed",
            sentence=(
                "You multiplied the numbers pairwise and did not add them up. A dot product is one number per key:"
                " sum over the last axis."
            ),
            implementation=lambda query, keys: query * keys,
        ),
        Misconception(
            id="summed-over-keys",
            sentence=(
                "You added up over the keys, so you have one number per dimension. There should be one score per key:"
                " sum over the dimensions of a vector, the last axis."
            ),
            implementation=lambda query, keys: (query * keys).sum(dim=0),
        ),
        Misconception(
            id="scaled-too-early",
            sentence="Your scores are divided by √d. That comes in question 2b; the plain dot product is not scaled.",
            implementation=lambda query, keys: keys @ query / query.shape[-1] ** 0.5,
        ),
        Misconception(
            id="cosine",
            sentence="This is the cosine: the lengths are divided out. In a dot product, longer vectors score higher.",
            implementation=lambda query, keys: torch.cosine_similarity(query, keys, dim=-1),
        ),
        Misconception(
            id="already-softmax",
            sentence="These are weights, not scores: they are positive and sum to 1. The softmax comes in question 2.",
            implementation=lambda query, keys: torch.softmax(keys @ query, dim=-1),
        ),
    ),
    closed=(REFERENCE_ITSELF,),
)


# --- 1b: bilinear -----------------------------------------------------------------------------------------


def _square(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [case("query and keys of one width", draw.normal(d), draw.normal(n, d), draw.normal(d, d))]


def _wide(draw: Draw) -> list[Case]:
    n, d_query, d_key = draw.sizes(3)
    return [
        case(
            "query and keys of different widths",
            draw.normal(d_query),
            draw.normal(n, d_key),
            draw.normal(d_query, d_key),
        ),
        case("one key only", draw.normal(d_query), draw.normal(1, d_key), draw.normal(d_query, d_key)),
    ]


DIFFERENT_WIDTHS = "also where query and keys differ in width"

BILINEAR_SCORE = Exercise(
    name="attention.bilinear_score",
    title="A matrix in between",
    signature="bilinear_score(query, keys, W)",
    arguments=("query", "keys", "W"),
    returns=SCORES,
    minutes=10,
    difficulty="easy",
    reference=lambda query, keys, W: reference.bilinear_score(query, keys, W),
    properties=(
        Property(name="one score per key", points=0.2, cases=_square, judge=same_shapes(SCORES)),
        Property(name="the scores are right", points=1, cases=_square, judge=same_values(SCORES)),
        Property(name=DIFFERENT_WIDTHS, points=0.8, cases=_wide, judge=same_values(SCORES)),
    ),
    misconceptions=(
        Misconception(
            id="w-transposed",
            sentence=(
                "W stands the wrong way round: you computed kᵀ W q, which is qᵀ Wᵀ k. Its rows belong to the query: W"
                " has shape (d_query, d_key), so q W has the width of a key."
            ),
            implementation=lambda query, keys, W: keys @ W @ query,
        ),
        Misconception(
            id="w-forgotten",
            sentence=(
                "W does not take part: this is the plain dot product. With W in between, the model can learn which"
                " dimensions of the query should meet which dimensions of the keys."
            ),
            implementation=lambda query, keys, W: keys @ query,
        ),
        Misconception(
            id="w-on-both-sides",
            sentence="W is applied to the query and to the keys. It stands between them once: qᵀ W k.",
            implementation=lambda query, keys, W: (keys @ W) @ (query @ W),
        ),
        Misconception(
            id="already-softmax",
            sentence="These are weights, not scores: they are positive and sum to 1. The softmax comes in question 2.",
            implementation=lambda query, keys, W: torch.softmax(keys @ (query @ W), dim=-1),
        ),
    ),
    closed=(REFERENCE_ITSELF, "torch.nn.functional.bilinear", "torch.nn.Bilinear"),
)
