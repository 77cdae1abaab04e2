"""Mistakes are recognised by their numbers, two at once too, and nobody is accused of what they did not do."""

import dataclasses
import math
from functools import partial

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.question.audit import verdict_on
from autograder.question.judges import same_values
from autograder.question.specification import Misconception, Property, case
from solutions.attention.checks import EXERCISES
from tests.autograder.test_specification import doubling


def named(name, function):
    return {m.id for m in examine(EXERCISES[f"attention.{name}"], function, None).misconceptions}


def test_if_two_mistakes_explain_a_result_equally_well_neither_is_named():
    twin = Misconception(id="twin", sentence="The same numbers.", implementation=lambda x: x**2)
    exercise = doubling(misconceptions=(*doubling().misconceptions, twin))
    assert verdict_on(exercise, lambda x: x * x).misconceptions == ()
    declared = dataclasses.replace(twin, looks_like=("squared",))
    squared = dataclasses.replace(doubling().misconceptions[0], looks_like=("twin",))
    exercise = doubling(misconceptions=(squared, declared))
    assert [m.id for m in verdict_on(exercise, lambda x: x * x).misconceptions] == ["squared"]


def one_dim_right_and_one_wrong(scores, values, mask=None):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-2, keepdims=True)
    return weights @ values, weights


def formula(scores, values, mask=None, *, shift, fill=-math.inf, clean=False, allowed_is=True):
    if mask is not None:
        scores = np.where(mask == allowed_is, scores, fill)
    e = np.exp(scores - shift(scores))
    weights = e / e.sum(-1, keepdims=True)
    weights = np.nan_to_num(weights) if clean else weights
    return weights @ values, weights


no_shift = partial(formula, shift=lambda scores: 0.0)
row_maximum = partial(formula, shift=lambda scores: scores.max(-1, keepdims=True))
one_maximum = partial(formula, shift=np.max)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (one_dim_right_and_one_wrong, {"softmax-over-queries"}),
        (row_maximum, {"nan-where-nothing-is-allowed"}),
        (partial(row_maximum, fill=-1e9), {"uniform-where-nothing-is-allowed"}),
        (no_shift, {"overflow", "nan-where-nothing-is-allowed"}),
        (partial(no_shift, clean=True), {"overflow"}),
        (partial(one_maximum, fill=-1e9), {"one-maximum-for-all", "nan-where-nothing-is-allowed"}),
        (partial(row_maximum, fill=-1e9, allowed_is=False), {"mask-inverted"}),
        (partial(row_maximum, allowed_is=False), {"mask-inverted"}),
        (partial(row_maximum, clean=True), set()),
    ],
)
def test_the_ways_in_which_students_write_a_softmax_are_told_apart(function, expected):
    assert named("attend", function) == expected


def test_a_mistake_that_would_have_spoilt_a_right_answer_is_not_named():
    only_large = Property(
        name="large numbers",
        points=1,
        cases=lambda draw: [case("a large number", torch.full((2,), 30.0))],
        judge=same_values(("y",)),
    )
    exercise = doubling(properties=(*doubling().properties, only_large))
    assert [m.id for m in verdict_on(exercise, lambda x: x**2).misconceptions] == ["squared"]
    assert verdict_on(exercise, lambda x: x**2 if x.max() < 20 else 2 * x).misconceptions == ()


def test_an_exception_alone_is_no_evidence_of_a_mistake():
    def transposes_everything(q, k, v, mask=None):  # raises where swapped queries and keys would raise too
        if q.ndim > 2:
            raise RuntimeError("sizes do not match")
        e = np.exp(q @ k.T / q.shape[-1] ** 0.5)
        weights = e / e.sum(-1, keepdims=True)
        return weights @ v, weights

    assert "queries-and-keys-swapped" not in named("scaled_dot_product_attention", transposes_everything)


def test_a_mistake_that_was_recognised_also_explains_its_exceptions():
    verdict = examine(EXERCISES["attention.bilinear_score"], lambda query, keys, W: keys @ W @ query, None)
    assert [f.misconception.id for f in verdict.findings if not f.holds] == ["w-transposed"] * 2


def test_of_two_mistakes_at_once_each_is_named_where_the_other_does_not_show():
    def two(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
        batch, time, _ = x.shape
        q, k, v = ((x @ W).reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
        scores = q @ np.swapaxes(k, -1, -2)  # not scaled
        if mask is not None:
            scores = np.where(mask, scores, -math.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        weights = np.nan_to_num(e / e.sum(-1, keepdims=True))
        return (weights @ v).reshape(batch, time, -1) @ W_o, weights  # joined without transpose

    assert "not-scaled" in named("multi_head_attention", two)


def test_a_mistake_in_one_result_is_recognised_whatever_is_wrong_with_the_other():
    exercise = doubling(
        name="small.pair",
        returns=("y", "z"),
        reference=lambda x: (2 * x, 3 * x),
        misconceptions=(Misconception(id="zero", sentence="It is zero.", implementation=lambda x: (0 * x, 3 * x)),),
    )
    alone = dataclasses.replace(exercise.properties[0], outputs=(0,))
    assert verdict_on(exercise, lambda x: (0 * x, x)).misconceptions == ()
    about_one = dataclasses.replace(exercise, properties=(alone,))
    assert [m.id for m in verdict_on(about_one, lambda x: (0 * x, x)).misconceptions] == ["zero"]


def test_where_each_result_has_a_property_of_its_own_a_mistake_in_one_is_recognised_though_the_other_is_right():
    zero = Misconception(id="zero", sentence="It is zero.", implementation=lambda x: (0 * x, 0 * x))
    pair = doubling(name="small.pair", returns=("y", "z"), reference=lambda x: (2 * x, 3 * x), misconceptions=(zero,))
    first, second, both = (
        dataclasses.replace(pair.properties[0], name=str(which), judge=same_values(pair.returns, which), outputs=which)
        for which in ((0,), (1,), None)
    )
    apart = dataclasses.replace(pair, properties=(first, second))
    assert [m.id for m in verdict_on(apart, lambda x: (0 * x, 3 * x)).misconceptions] == ["zero"]
    together = dataclasses.replace(pair, properties=(first, second, both))
    assert verdict_on(together, lambda x: (0 * x, 3 * x)).misconceptions == ()
