"""Question 2: from scores to weights to a context, with a mask. The softmax is written from exp and sum."""

import torch
from torch import Tensor

import nlmcore.attention as reference
from autograder.checks.attention.common import REFERENCE_ITSELF, mask_with_an_empty_row
from autograder.checks.attention.weighted_sum_mistakes import MISCONCEPTIONS
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.attention import (
    inputs_left_alone,
    mask_renormalises,
    weighted_sum_of,
    zero_where_nothing_is_allowed,
)
from autograder.exercise.specification import Case, Exercise, Property, case

RETURNS = ("context", "weights")
VALUES, MASK = 1, 2


def _plain(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    batch = draw.integer(2, 3)
    return [
        case("one sentence", draw.normal(query, key), draw.normal(key, d)),
        case("a batch", draw.normal(batch, query, key), draw.normal(batch, key, d), None),
        case("a batch with heads", draw.normal(batch, 2, query, key), draw.normal(batch, 2, key, d)),
        case("one key only", draw.normal(query, 1), draw.normal(1, d)),
        case("float64", draw.normal(query, key, dtype=torch.float64), draw.normal(key, d, dtype=torch.float64)),
    ]


def _sums(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    return [
        _twice(draw, "one sentence", (query, key), draw.normal(key, d)),
        case("a batch with a mask", draw.normal(2, query, key), draw.normal(2, key, d), draw.mask(2, query, key)),
        _twice(draw, "values that are a slice of a larger tensor", (query, key), draw.strided(key, d)),
    ]


def _twice(draw: Draw, label: str, shape: tuple[int, int], values: Tensor) -> Case:
    """The same values, with two tables of scores: the weights should be others, too."""
    return Case(label=label, calls=((draw.normal(*shape), values), (draw.normal(*shape), values)))


def _masked(draw: Draw) -> list[Case]:
    query, key, d = draw.sizes(3)
    cases = []
    for label, shape, mask in (
        ("a mask for one sentence", (query, key), draw.mask(query, key)),
        ("a mask of its own for every sentence", (2, query, key), draw.mask(2, query, key)),
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
    steps = torch.arange(query, dtype=torch.float32)[:, None]
    return [
        case("scores around 200", scores + 200, values),
        case("scores around −200", scores - 200, values),
        case("rows of very different size", scores + 150 * steps, values),
        case("a masked key with a very large score", scores.masked_fill(~mask, 500.0), values, mask),
    ]


ATTEND = Exercise(
    name="attention.attend",
    title="From scores to a context",
    signature="attend(scores, values, mask=None)",
    arguments=("scores", "values", "mask"),
    returns=RETURNS,
    minutes=30,
    difficulty="medium",
    reference=lambda scores, values, mask=None: reference.attend(scores, values, mask),
    properties=(
        Property(name="the shapes are right", points=0.5, cases=_plain, judge=same_shapes(RETURNS)),
        Property(
            name="the weights are a softmax over the keys",
            points=2,
            cases=_plain,
            judge=same_values(RETURNS, [1]),
            outputs=(1,),
        ),
        Property(
            name="the context is the weighted sum of the values",
            points=1,
            cases=_sums,
            judge=law(weighted_sum_of(VALUES)),
        ),
        Property(
            name="a masked key weighs nothing, the rest sum to 1",
            points=1,
            cases=_masked,
            judge=law(mask_renormalises(MASK)),
            outputs=(1,),
        ),
        Property(
            name="a query with no key allowed gets zeros",
            points=0.5,
            cases=_empty_rows,
            judge=law(zero_where_nothing_is_allowed(MASK)),
        ),
        Property(name="very large and very small scores", points=0.5, cases=_large, judge=same_values(RETURNS)),
        Property(name="the inputs are left as they were", points=0.5, cases=_sums, judge=inputs_left_alone),
    ),
    misconceptions=MISCONCEPTIONS,
    closed=(
        REFERENCE_ITSELF,
        "torch.softmax",
        "torch.log_softmax",
        "torch.Tensor.softmax",
        "torch.Tensor.log_softmax",
        "torch.nn.functional.softmax",
        "torch.nn.functional.log_softmax",
        "torch.nn.functional.softmin",
        "torch.special.softmax",
        "torch.special.log_softmax",
        "torch.nn.Softmax",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
)
