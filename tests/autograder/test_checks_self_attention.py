"""The exercises of the assignment "self_attention", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from autograder.check import examine
from autograder.checks.self_attention import EXERCISES
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_self_attention import SOLUTIONS
from tests.autograder.strangers import self_attention


def test_the_references_are_pytorchs_numbers():
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(heads, 5, 4, generator=g) for heads in (6, 2, 2))
    wanted = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
    assert torch.allclose(EXERCISES["self_attention.grouped_attention"].reference(q, k, v)[0], wanted, atol=1e-5)
    logits, tokens = torch.randn(2, 6, 7, generator=g), torch.tensor([[1, 2, 3, 4, 5, 6], [3, 1, 2, 0, 0, 0]])
    wanted = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
    assert torch.allclose(EXERCISES["self_attention.next_token_loss"].reference(logits, tokens)[0].float(), wanted)


# --- right, in odd ways -----------------------------------------------------------------------------------


class Sinusoids:
    def __call__(self, length, d):
        table = torch.zeros(length, d, dtype=torch.float64)
        wave = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * (-np.log(10_000.0) / d))
        table[:, 0::2] = torch.sin(torch.arange(length)[:, None] * wave)
        table[:, 1::2] = torch.cos(torch.arange(length)[:, None] * wave)
        return table


def by_swapping_halves(x, base):
    time, d = x.shape
    angle = torch.outer(torch.arange(time).float(), base ** (-torch.arange(0, d, 2).float() / d)).repeat(1, 2)
    swapped = torch.cat([-x[:, d // 2 :], x[:, : d // 2]], -1)
    return (x * angle.cos() + swapped * angle.sin()).numpy()


def by_sliding(table, time):
    """Row q is the table, slid q places to the right, with its ends drawn out."""
    reach = table.shape[1] // 2
    left, right = table[:, :1].expand(-1, time), table[:, -1:].expand(-1, time)
    long = torch.cat([left, table, right], 1)
    return torch.stack([long[:, time + reach - q : 2 * time + reach - q] for q in range(time)], 1).double()


def with_cross_entropy(logits, tokens):
    losses = F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], ignore_index=0, reduction="none")
    return [losses.sum() / tokens[:, 1:].count_nonzero(), losses.double()]


def by_einsum(q, k, v):
    q = q.reshape(len(k), -1, *q.shape[1:])
    scores = torch.einsum("ghtd,gsd->ghts", q, k) * q.shape[-1] ** -0.5
    scores += torch.full(scores.shape[-2:], -1e30).triu(1)
    weights = torch.softmax(scores, -1)
    return torch.einsum("ghts,gsd->ghtd", weights, v).flatten(0, 1), weights.flatten(0, 1).numpy()


ODD_BUT_RIGHT = [
    ("sinusoids", Sinusoids()),
    ("rotate", by_swapping_halves),
    ("relative_bias", by_sliding),
    ("window_mask", lambda time, window: torch.ones(time, time).tril().triu(1 - window).bool().numpy()),
    ("next_token_loss", with_cross_entropy),
    ("grouped_attention", by_einsum),
]


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"self_attention.{name}"]


def values_of_the_last_set(q, k, v):
    return right("grouped_attention")(q, k, v[-1:].expand(v.shape))


WRONG = [
    ("sinusoids", lambda length, d: np.array(right("sinusoids")(length, d)) / d**0.5),
    ("rotate", lambda x, base: right("rotate")(x, base * 2)),
    ("rotate", lambda x, base: x.clone()),
    ("relative_bias", lambda table, time: right("relative_bias")(table - table.mean(1, keepdim=True), time)),
    ("window_mask", lambda time, window: np.tril(right("window_mask")(time, window), -1)),
    ("next_token_loss", lambda logits, tokens: right("next_token_loss")(logits * 0.5, tokens)),
    ("grouped_attention", values_of_the_last_set),
]


def the_mean_of_the_past(q, k, v):
    weights = torch.ones(len(q), q.shape[1], q.shape[1]).tril()
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v.repeat_interleave(len(q) // len(v), 0), weights


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("sinusoids", lambda length, d: torch.zeros(length, d)),
        ("rotate", lambda x, base: torch.zeros_like(x)),
        ("relative_bias", lambda table, time: torch.zeros(len(table), time, time)),
        ("window_mask", lambda time, window: torch.ones(time, time, dtype=torch.bool)),
        ("window_mask", lambda time, window: np.zeros((time, time), dtype=bool)),
        ("next_token_loss", lambda logits, tokens: (0.0, torch.zeros(tokens[:, 1:].shape))),
        (
            "grouped_attention",
            lambda q, k, v: (torch.zeros(*q.shape[:2], v.shape[2]), torch.zeros(*q.shape[:2], q.shape[1])),
        ),
        ("grouped_attention", the_mean_of_the_past),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_look_at_its_input_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"self_attention.{name}"]
    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points


class TestSelfAttention(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = self_attention
