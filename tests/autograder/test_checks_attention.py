"""The exercises of the assignment "attention", held to the law: right solutions earn all, mistakes are named."""

import functools
import math
import sys
import warnings

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.attention import EXERCISES
from autograder.exercise.audit import verdict_on
from autograder.exercise.verdict import GraderFault
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_attention import SOLUTIONS
from tests.autograder.strangers import attention


def hidden_points(name, function, seed=0):
    return examine(EXERCISES[name], function, seed).points


# --- right, in odd ways -----------------------------------------------------------------------------------


class Callable:
    """A solution that is an object."""

    def __call__(self, query, keys):
        return (query.double() * keys.double()).sum(-1)  # float64 out of float32


def one_wide_matrix(query, keys, W_query, W_key, v):
    both = torch.cat([query.expand(len(keys), -1), keys], dim=1)
    return (torch.cat([W_query, W_key], dim=1) @ both.T).tanh().T @ v


def attend_by_logarithms(scores, values, mask=None):
    s = scores.clone()
    if mask is not None:
        s[~mask.expand(s.shape)] = -math.inf  # in place, on a copy of its own
    total = torch.logsumexp(s, -1, keepdim=True)
    weights = torch.exp(s - total.clamp(min=-1e30)).requires_grad_()
    return [torch.einsum("...qk,...kd->...qd", weights, values), weights]  # a list, with a graph attached


def attend_transposed(scores, values, mask=None):
    print("a progress bar\r", end="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("from the student", stacklevel=1)
    sys.stderr.write("loading...\n")
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    columns = torch.where(allowed, scores, -1e30).mT  # (key, query): not contiguous at the end
    e = torch.exp(columns - columns.max(dim=-2, keepdim=True).values) * allowed.mT
    weights = (e / e.sum(-2, keepdim=True).clamp(min=1e-30)).mT
    return weights.to(torch.float64) @ values.to(torch.float64), weights


def attention_scaling_the_query_first(q, k, v, mask=None, *, root):
    scores = root(q) @ k.transpose(-2, -1)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e30), -1)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


def mask_of_strings(lengths, time):
    rows = [["".join("1" if u <= t and u < n else "0" for u in range(time)) for t in range(time)] for n in lengths]
    return np.array([[[[c == "1" for c in row] for row in rows_of_one]] for rows_of_one in rows]).reshape(
        -1, 1, time, time
    )


def heads_by_einsum(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = (torch.einsum("btd,dhe->bhte", x, W.reshape(len(W), n_heads, -1)) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bhqe,bhke->bhqk", q, k) * (n_heads / W_q.shape[1]) ** 0.5
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(scores, -1))
    return torch.einsum("bhqk,bhke,heo->bqo", weights, v, W_o.reshape(n_heads, -1, W_o.shape[1])), weights


ODD_BUT_RIGHT = [
    ("dot_score", Callable()),
    ("dot_score", lambda query, keys: [float(query @ key) for key in keys]),
    ("bilinear_score", lambda query, keys, W: (keys @ W.T @ query).numpy()),
    (
        "additive_score",
        lambda q, K, A, B, v: (torch.cat([A, B], 1) @ torch.cat([q.expand(len(K), -1), K], 1).T).tanh().T @ v,
    ),
    ("attend", attend_by_logarithms),
    ("attend", attend_transposed),
    (
        "scaled_dot_product_attention",
        functools.partial(attention_scaling_the_query_first, root=lambda q: q * q.shape[-1] ** -0.5),
    ),
    ("decoder_mask", mask_of_strings),
    ("multi_head_attention", heads_by_einsum),
]


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"attention.{name}"]


def remembers_the_small_ones(query, keys):
    return torch.zeros(len(keys)) if len(keys) > 4 or len(query) > 4 else keys.double() @ query.double()


def softmax_of_everything(scores, values, mask=None):
    flat = torch.exp(scores - scores.max())
    flat = flat if mask is None else flat * mask
    weights = flat / flat.sum((-2, -1), keepdim=True)
    return weights @ values, weights


def base_two(scores, values, mask=None):
    context, weights = right("attend")(scores * math.log(2), values, mask)
    return context, weights


def clamps_the_scores(scores, values, mask=None):
    return right("attend")(scores.clamp(-50, 50), values, mask)


def masks_with_minus_five(scores, values, mask=None):
    return right("attend")(scores if mask is None else torch.where(mask, scores, -5.0), values)


def forgets_the_last_key(scores, values, mask=None):
    _, weights = right("attend")(scores, values, mask)
    weights = np.concatenate([weights[..., :-1], 0 * weights[..., -1:]], -1)
    return weights @ values.double().numpy(), weights


def values_from_keys(q, k, v, mask=None):
    output, weights = right("scaled_dot_product_attention")(q, k, v, mask)
    return output[..., ::-1].copy(), weights


def hard_attention(q, k, v, mask=None):
    scores = q @ k.mT
    weights = torch.nn.functional.one_hot(scores.argmax(-1), k.shape[-2]).to(v.dtype)
    return weights @ v, weights


def shortest_for_all(lengths, time):
    return right("decoder_mask")(lengths.clamp(max=int(lengths.min())), time)


def keys_for_values(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return right("multi_head_attention")(x, W_q, W_k, W_k, W_o, n_heads, mask)


def reversed_heads(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    output, weights = right("multi_head_attention")(x, W_q, W_k, W_v, W_o, n_heads, mask)
    return output, weights[:, ::-1].copy()


def with_residual(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    output, weights = right("multi_head_attention")(x, W_q, W_k, W_v, W_o, n_heads, mask)
    return (output + x.numpy() if output.shape == x.shape else output), weights


def sees_the_batch(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return right("multi_head_attention")(x - x.mean(0), W_q, W_k, W_v, W_o, n_heads, mask)


WRONG = [
    ("dot_score", remembers_the_small_ones),
    ("dot_score", lambda query, keys: (keys @ query).abs()),
    ("dot_score", lambda query, keys: (keys @ query).to(torch.bfloat16)),
    ("dot_score", lambda query, keys: keys @ query + math.nan),
    ("bilinear_score", lambda query, keys, W: (keys @ (query @ W)) / W.norm()),
    ("additive_score", lambda q, K, A, B, v: torch.relu(A @ q + K @ B.T) @ v),
    ("attend", softmax_of_everything),
    ("attend", base_two),
    ("attend", clamps_the_scores),
    ("attend", masks_with_minus_five),
    ("attend", forgets_the_last_key),
    ("scaled_dot_product_attention", values_from_keys),
    ("scaled_dot_product_attention", hard_attention),
    ("decoder_mask", shortest_for_all),
    ("decoder_mask", lambda lengths, time: torch.ones(len(lengths), 1, time, time, dtype=torch.bool)),
    ("multi_head_attention", keys_for_values),
    ("multi_head_attention", reversed_heads),
    ("multi_head_attention", with_residual),
    ("multi_head_attention", sees_the_batch),
]


# --- a list of its own ------------------------------------------------------------------------------------


def test_two_mistakes_at_once_are_named_where_each_can_be_seen_alone():
    def attention(q, k, v, mask=None):  # not scaled, and the mask forgotten
        weights = torch.softmax(q @ k.mT, -1)
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

    def attend(scores, values, mask=None):
        weights = scores.softmax(-1)
        return weights @ values, weights

    assert examine(EXERCISES["attention.attend"], attend, 3).closed == ("torch.Tensor.softmax",)


@pytest.mark.parametrize("weight", [0.0, 1e-320, 1e-7])
def test_of_nothing_no_law_earns_a_point(weight):
    def attend(scores, values, mask=None):
        weights = torch.full(scores.shape, weight, dtype=torch.float64)
        weights = weights if mask is None else weights * mask
        return torch.zeros(*scores.shape[:-1], values.shape[-1]), weights

    def heads(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
        batch, time, _ = x.shape
        weights = torch.full((batch, n_heads, time, time), weight, dtype=torch.float64)
        weights = weights if mask is None else weights * mask
        return torch.zeros(batch, time, W_o.shape[1]), weights

    earned = verdict_on(EXERCISES["attention.attend"], attend, seed=1)
    assert [f.about.name for f in earned.findings if f.holds] == ["the shapes are right"]
    earned = verdict_on(EXERCISES["attention.multi_head_attention"], heads, seed=1)
    assert [f.about.name for f in earned.findings if f.holds] == ["the shapes are right"]


def uniform(scores, mask=None):
    """Every key that may be looked at, alike."""
    allowed = torch.ones_like(scores) if mask is None else mask.expand(scores.shape).to(scores.dtype)
    return allowed / allowed.sum(-1, keepdim=True).clamp(min=1)


def uniform_attend(scores, values, mask=None):
    weights = uniform(scores, mask)
    return weights @ values, weights


def zero_attend(scores, values, mask=None):
    return torch.zeros(*scores.shape[:-1], values.shape[-1]), torch.zeros_like(scores)


def heads_of(attend):
    def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
        v = (x @ W_v).unflatten(-1, (n_heads, -1)).transpose(1, 2)
        output, weights = attend(torch.zeros(len(x), n_heads, x.shape[1], x.shape[1]), v, mask)
        return output.transpose(1, 2).flatten(2) @ W_o, weights

    return multi_head_attention


def plain_of(attend):
    return lambda q, k, v, mask=None: attend(torch.zeros(*q.shape[:-1], k.shape[-2], dtype=v.dtype), v, mask)


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("dot_score", lambda query, keys: torch.zeros(len(keys))),
        ("bilinear_score", lambda query, keys, W: torch.ones(len(keys))),
        ("additive_score", lambda query, keys, W_query, W_key, v: torch.zeros(len(keys))),
        ("attend", zero_attend),
        ("attend", uniform_attend),
        ("scaled_dot_product_attention", plain_of(zero_attend)),
        ("scaled_dot_product_attention", plain_of(uniform_attend)),
        ("decoder_mask", lambda lengths, time: torch.ones(len(lengths), 1, time, time, dtype=torch.bool)),
        ("decoder_mask", lambda lengths, time: torch.zeros(len(lengths), 1, time, time, dtype=torch.bool)),
        ("multi_head_attention", heads_of(zero_attend)),
        ("multi_head_attention", heads_of(uniform_attend)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_look_at_its_input_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"attention.{name}"]
    verdict = verdict_on(exercise, constant, 5)
    assert verdict.points <= 0.1 * exercise.points, [f.about.name for f in verdict.findings if f.holds]
    assert all(f.complaint is None or "Error" not in f.complaint for f in verdict.findings)


class TestAttention(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = attention
