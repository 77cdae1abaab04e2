"""What the exercises of "attention" promise beyond what every assignment must (`test_checks.py`)."""

import numpy as np
import pytest

from autograder.check import examine
from autograder.question.audit import verdict_on
from autograder.question.interview import answers, questions
from autograder.question.verdict import GraderFault
from solutions.attention.checks import EXERCISES
from tests.autograder.answers import answers as texts
from tests.autograder.answers import second


def test_two_mistakes_at_once_are_named_where_each_can_be_seen_alone():
    def attention(q, k, v, mask=None):  # not scaled, and the mask forgotten
        e = np.exp(q @ np.swapaxes(k, -1, -2))
        weights = e / e.sum(-1, keepdims=True)
        return weights @ v, weights

    verdict = examine(EXERCISES["attention.scaled_dot_product_attention"], attention, None)
    assert "not-scaled" in [m.id for m in verdict.misconceptions]
    by_name = {f.about.name: f for f in verdict.findings}
    assert not by_name["the mask is obeyed"].holds


def test_a_broken_reference_is_a_fault_of_the_grader_and_no_mark():
    import dataclasses

    def broken(query, keys):
        raise RuntimeError("no")

    exercise = dataclasses.replace(EXERCISES["attention.dot_score"], reference=broken)
    with pytest.raises(GraderFault, match="the reference fails"):
        examine(exercise, lambda query, keys: keys @ query, None)


def test_what_is_closed_earns_nothing_and_is_said():
    import nlmcore.attention

    verdict = examine(EXERCISES["attention.dot_score"], nlmcore.attention.dot_score, 3)
    assert verdict.closed == ("nlmcore.attention",)
    assert verdict.points == 0


@pytest.mark.parametrize("weight", [0.0, 1e-320, 1e-7])
def test_of_nothing_no_law_earns_a_point(weight):
    def attend(scores, values, mask=None):
        weights = np.full(scores.shape, weight)
        weights = weights if mask is None else weights * mask
        return np.zeros((*scores.shape[:-1], values.shape[-1])), weights

    def heads(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
        batch, time, _ = x.shape
        weights = np.full((batch, n_heads, time, time), weight)
        weights = weights if mask is None else weights * mask
        return np.zeros((batch, time, W_o.shape[1])), weights

    earned = verdict_on(EXERCISES["attention.attend"], attend, seed=1)
    assert [f.about.name for f in earned.findings if f.holds] == ["right shapes, and inputs unchanged"]
    earned = verdict_on(EXERCISES["attention.multi_head_attention"], heads, seed=1)
    assert [f.about.name for f in earned.findings if f.holds] == ["the shapes are right"]


def uniform(scores, mask=None):
    """Every key that may be looked at, alike."""
    allowed = np.ones_like(scores) if mask is None else np.broadcast_to(mask, scores.shape)
    return allowed / allowed.sum(-1, keepdims=True).clip(min=1)


def uniform_attend(scores, values, mask=None):
    weights = uniform(scores, mask)
    return weights @ values, weights


def heads_of(attend):
    def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
        batch, time, _ = x.shape
        v = (x @ W_v).reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3)
        output, weights = attend(np.zeros((batch, n_heads, time, time)), v, mask)
        return output.transpose(0, 2, 1, 3).reshape(batch, time, -1) @ W_o, weights

    return multi_head_attention


def plain_of(attend):
    return lambda q, k, v, mask=None: attend(np.zeros((*q.shape[:-1], k.shape[-2])), v, mask)


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("attend", uniform_attend),
        ("scaled_dot_product_attention", plain_of(uniform_attend)),
        ("multi_head_attention", heads_of(uniform_attend)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_mean_of_the_values_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"attention.{name}"]
    verdict = verdict_on(exercise, constant, 5)
    assert verdict.points <= 0.1 * exercise.points, [f.about.name for f in verdict.findings if f.holds]
    assert all(f.complaint is None or "Error" not in f.complaint for f in verdict.findings)


def test_a_rare_input_of_which_a_law_says_nothing_costs_nobody_a_point():
    """With this seed the only query that sees two keys has nearly equal scores for them: its weights are uniform."""
    exercise, seed = EXERCISES["attention.attend"], 694
    asked = questions(exercise, seed)
    right = answers(exercise.reference, exercise, asked)
    refused = [q.case.label for q, row in zip(asked, right, strict=True) if q.about.judge(q.case, row, row)]
    assert refused == ["a query with no key allowed"]
    assert examine(exercise, second(texts("attention"))["attend"], seed).passed


def test_who_forgets_to_divide_keeps_the_points_for_unchanged_inputs():
    def attend(scores, values, mask=None):
        weights = np.exp(scores) if mask is None else np.exp(scores) * mask
        return weights @ values, weights

    verdict = examine(EXERCISES["attention.attend"], attend, 0)
    assert [f.about.name for f in verdict.findings if "unchanged" in f.about.name and f.holds]
