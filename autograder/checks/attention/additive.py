"""Question 1c: a small network scores a query against n keys."""

import torch
from torch import Tensor

import nlmcore.attention as reference
from autograder.checks.attention.common import REFERENCE_ITSELF
from autograder.checks.attention.scores import DIFFERENT_WIDTHS, SCORES
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case


def _additive(draw: Draw, n: int, d_query: int, d_key: int, d_score: int, label: str) -> Case:
    weights = (draw.normal(d_score, d_query), draw.normal(d_score, d_key), draw.normal(d_score))
    return case(label, draw.normal(d_query), draw.normal(n, d_key), *weights)


def _additive_square(draw: Draw) -> list[Case]:
    n, d, d_score = draw.sizes(3)
    return [_additive(draw, n, d, d, d_score, "query and keys of one width")]


def _additive_wide(draw: Draw) -> list[Case]:
    n, d_query, d_key = draw.sizes(3)
    return [
        _additive(draw, n, d_query, d_key, d_query + 1, "query and keys of different widths"),
        _additive(draw, 1, d_query, d_key, 1, "one key, and a single hidden unit"),
    ]


def _softmaxed(query: Tensor, keys: Tensor, W_query: Tensor, W_key: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(torch.tanh(query @ W_query.T + keys @ W_key.T) @ v, dim=-1)


def _v_inside(query: Tensor, keys: Tensor, W_query: Tensor, W_key: Tensor, v: Tensor) -> Tensor:
    return torch.tanh(v * (query @ W_query.T + keys @ W_key.T)).sum(-1)


def _tanh_outside(query: Tensor, keys: Tensor, W_query: Tensor, W_key: Tensor, v: Tensor) -> Tensor:
    return torch.tanh((query @ W_query.T + keys @ W_key.T) @ v)


def _tanh_twice(query: Tensor, keys: Tensor, W_query: Tensor, W_key: Tensor, v: Tensor) -> Tensor:
    return (torch.tanh(query @ W_query.T) + torch.tanh(keys @ W_key.T)) @ v


ADDITIVE_SCORE = Exercise(
    name="attention.additive_score",
    title="A small network as a score",
    signature="additive_score(query, keys, W_query, W_key, v)",
    arguments=("query", "keys", "W_query", "W_key", "v"),
    returns=SCORES,
    minutes=15,
    difficulty="medium",
    reference=lambda query, keys, W_query, W_key, v: reference.additive_score(query, keys, W_query, W_key, v),
    properties=(
        Property(name="one score per key", points=0.25, cases=_additive_square, judge=same_shapes(SCORES)),
        Property(name="the scores are right", points=2, cases=_additive_square, judge=same_values(SCORES)),
        Property(name=DIFFERENT_WIDTHS, points=0.75, cases=_additive_wide, judge=same_values(SCORES)),
    ),
    misconceptions=(
        Misconception(
            id="tanh-forgotten",
            sentence=(
                "The tanh is missing. Without it the score is a sum of two linear functions: the query then adds the"
                " same number to every score, the softmax cancels it, and every query attends alike."
            ),
            implementation=lambda query, keys, W_query, W_key, v: (query @ W_query.T + keys @ W_key.T) @ v,
        ),
        Misconception(
            id="tanh-outside",
            sentence=(
                "The tanh is around the whole score. It belongs on the hidden layer, before v: v · tanh(…). Outside,"
                " it squeezes every score between −1 and 1."
            ),
            implementation=_tanh_outside,
        ),
        Misconception(
            id="tanh-on-each-part",
            sentence=(
                "You took the tanh of the query's part and of the keys' part, and then added. Add first: the two must"
                " meet inside the tanh, or a key's score does not depend on the query."
            ),
            implementation=_tanh_twice,
        ),
        Misconception(
            id="v-forgotten",
            sentence="You added up the hidden units without v. v is learned: it says how much each hidden unit counts.",
            implementation=lambda query, keys, W_query, W_key, v: torch.tanh(query @ W_query.T + keys @ W_key.T).sum(
                -1
            ),
        ),
        Misconception(
            id="v-inside-the-tanh",
            sentence=(
                "v has got into the tanh. The hidden layer is tanh(W_query q + W_key k); v weighs its units afterwards,"
                " outside."
            ),
            implementation=_v_inside,
        ),
        Misconception(
            id="query-forgotten",
            sentence=(
                "The query does not take part: your scores depend on the keys alone, so every query would attend alike."
            ),
            implementation=lambda query, keys, W_query, W_key, v: torch.tanh(keys @ W_key.T) @ v,
        ),
        Misconception(
            id="matrices-swapped",
            sentence="W_query and W_key have changed places: W_query is applied to the keys, and W_key to the query.",
            implementation=lambda query, keys, W_query, W_key, v: torch.tanh(query @ W_key.T + keys @ W_query.T) @ v,
        ),
        Misconception(
            id="product-in-place-of-sum",
            sentence=(
                "The query's part and the keys' part are multiplied. This score is called additive: add them before"
                " the tanh."
            ),
            implementation=lambda query, keys, W_query, W_key, v: (
                torch.tanh((query @ W_query.T) * (keys @ W_key.T)) @ v
            ),
        ),
        Misconception(
            id="already-softmax",
            sentence="These are weights, not scores: they are positive and sum to 1. The softmax comes in question 2.",
            implementation=_softmaxed,
        ),
        Misconception(
            id="sigmoid",
            sentence="These are the numbers of a sigmoid. The hidden layer has a tanh, which lies between −1 and 1.",
            implementation=lambda query, keys, W_query, W_key, v: torch.sigmoid(query @ W_query.T + keys @ W_key.T) @ v,
        ),
    ),
    closed=(REFERENCE_ITSELF,),
)
