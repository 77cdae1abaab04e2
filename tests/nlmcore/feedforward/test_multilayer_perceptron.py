"""The hand-written backward pass against autograd, and against sums over units."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from nlmcore.feedforward import RELU, SIGMOID, TANH, Activation, backward, forward
from tests.laws import assert_close


def network(*sizes: int) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Two examples, weights (d_out, d_in) and biases, all of which take gradients."""
    generator = torch.Generator().manual_seed(1)
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()  # noqa: E731
    return draw(2, sizes[0]), [draw(b, a) for a, b in pairwise(sizes)], [draw(b) for b in sizes[1:]]


@pytest.mark.parametrize("f", [SIGMOID, TANH, RELU], ids=lambda f: f.name)
@pytest.mark.parametrize("sizes", [(3, 5), (3, 4, 5), (3, 7, 4, 6, 5)])
def test_backpropagation_by_hand_is_autograds(f: Activation, sizes: tuple[int, ...]) -> None:
    x, weights, biases = network(*sizes)
    h = forward(x, weights, biases, f)
    assert [layer.shape[1] for layer in h] == list(sizes)
    log_p, targets = h[-1].log_softmax(dim=-1), torch.tensor([4, 0])
    expected = torch.autograd.grad(-log_p[[0, 1], targets].mean(), [*weights, *biases, x])
    delta = (log_p.exp() - torch.eye(5)[targets]) / 2
    found = backward(h, delta, weights, f)
    for ours, theirs in zip([*found.weights, *found.biases, found.x], expected, strict=True):
        assert theirs.abs().sum() > 0
        assert_close(ours.detach(), theirs, "gradient", 1e-12)


def test_the_equations_unit_by_unit() -> None:
    """One example, two layers, every δ as a sum over the units above it."""
    x, (W1, W2), (b1, b2) = network(3, 4, 2)
    x, W1, W2, b1, b2 = (part.detach() for part in (x, W1, W2, b1, b2))
    h = forward(x[:1], [W1, W2], [b1, b2], SIGMOID)
    delta = torch.tensor([[0.3, -0.7]], dtype=torch.float64)
    found = backward(h, delta, [W1, W2], SIGMOID)
    hidden = [1 / (1 + torch.exp(-(sum(W1[j, i] * x[0, i] for i in range(3)) + b1[j]))) for j in range(4)]
    for k in range(2):
        assert float(h[-1][0, k]) == pytest.approx(float(sum(W2[k, j] * hidden[j] for j in range(4)) + b2[k]))
    for j in range(4):
        below = sum(W2[k, j] * delta[0, k] for k in range(2)) * hidden[j] * (1 - hidden[j])
        for k in range(2):
            assert float(found.weights[1][k, j]) == pytest.approx(float(delta[0, k] * hidden[j]))
        for i in range(3):
            assert float(found.weights[0][j, i]) == pytest.approx(float(below * x[0, i]))
