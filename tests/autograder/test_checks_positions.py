"""What the exercises of "positions" promise beyond what every assignment must (`test_checks.py`)."""

import math

import pytest
import torch
from torch.nn import functional as F

from autograder.check import examine
from nlmcore.positions import alibi, alibi_slopes, relative_buckets, relative_shift, rotary, sinusoidal
from solutions.positions.checks import EXERCISES


def reference(name):
    return EXERCISES[f"positions.{name}"].reference


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("k", [-3, 0, 1, 40])
def test_the_matrix_moves_the_sinusoids_of_the_course(k):
    table = sinusoidal(100, 12)
    moved = table[50:60] @ reference("shift_matrix")(k, 12, 10_000.0)
    assert torch.allclose(moved, table[50 + k : 60 + k], atol=1e-5)


def test_a_stretched_table_is_pytorchs_interpolation():
    table = normal(7, 3)
    for length in (2, 5, 7, 20):
        wanted = F.interpolate(table.T[None], size=length, mode="linear", align_corners=True)[0].T
        assert torch.allclose(reference("stretched")(table, length)[0], wanted, atol=1e-5)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("n", "max_distance"), [(8, 20), (16, 64), (32, 128)])
def test_buckets_are_those_of_the_course(n, max_distance, both):
    offset = torch.arange(-200, 201)
    found = reference("buckets")(offset, n, max_distance, both)
    assert torch.equal(found, relative_buckets(offset, n, both, max_distance))


@pytest.mark.parametrize("n_heads", range(1, 20))
def test_slopes_and_biases_are_those_of_the_course(n_heads):
    slopes, bias = reference("alibi")(n_heads, 3, 5)
    assert torch.allclose(slopes, alibi_slopes(n_heads))
    wanted = alibi(n_heads, 3, 5)[0]
    seen = torch.ones(3, 5).tril(2).bool()
    assert torch.allclose(bias[:, seen], wanted[:, seen])
    assert bool((bias[:, ~seen] == -math.inf).all())


def test_the_reach_is_that_of_a_long_text():
    for slope in (0.05, 0.5, 2.0):
        weights = torch.softmax(-slope * torch.arange(2000.0, dtype=torch.float64), 0)
        own, distance = reference("alibi_reach")(slope)
        assert own == pytest.approx(float(weights[0]))
        assert distance == pytest.approx(float(weights @ torch.arange(2000.0, dtype=torch.float64)))


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_rotations_are_those_of_the_course(layout):
    x, frequencies = normal(2, 3, 4, 8), 10_000.0 ** (-torch.arange(0, 8, 2) / 8)
    wanted = rotary(x, torch.arange(5, 9), layout=layout)
    assert torch.allclose(reference("rotary")(x, 5, frequencies, layout), wanted, atol=1e-5)


def test_skewing_is_that_of_the_course():
    x = normal(2, 3, 5)
    assert torch.equal(reference("skewed")(x), relative_shift(x))


def test_the_layer_is_pytorchs_and_learns():
    q, k, v = (normal(2, 3, 5, 4).requires_grad_() for _ in range(3))
    output, _ = reference("attend")(q, k, v)
    assert torch.allclose(output, F.scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-5)
    vectors = normal(3, 4, 4).requires_grad_()
    reference("attend")(q, k, v, torch.tensor([1.0, 0.1]), None, vectors)[0].sum().backward()
    assert all(float(part.grad.abs().sum()) > 0 for part in (q, k, v, vectors))


def the_mean_of_the_past(q, k, v, frequencies=None, bias=None, vectors=None):
    weights = torch.ones(*q.shape[:-1], k.shape[-2]).tril(k.shape[-2] - q.shape[-2])
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v, weights


def test_the_mean_of_the_past_earns_next_to_nothing():
    exercise = EXERCISES["positions.attend"]
    assert examine(exercise, the_mean_of_the_past, 5).points <= exercise.points / 10
