"""The hand-written backward pass against autograd."""

import pytest
import torch
from torch import Tensor, nn

from nlmcore.feedforward import (
    RELU,
    SIGMOID,
    TANH,
    Activation,
    MultiLayerPerceptron,
    backward,
    cross_entropy,
    forward,
)
from tests.laws import assert_close


@pytest.mark.parametrize("f", [SIGMOID, TANH, RELU], ids=lambda f: f.name)
@pytest.mark.parametrize("sizes", [(3, 5), (3, 4, 5), (3, 7, 4, 6, 5)])
def test_backpropagation_by_hand_is_autograds(f: Activation, sizes: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    by_hand, by_autograd = (MultiLayerPerceptron(sizes, f).double() for _ in range(2))
    by_autograd.load_state_dict(by_hand.state_dict())
    x = torch.randn(6, 3, dtype=torch.float64)
    y = torch.randint(0, 5, (6,))
    for calls in (1, 2):  # gradients accumulate
        loss = by_hand.backpropagate(x, y)
        expected = nn.functional.cross_entropy(by_autograd(x), y)
        expected.backward()
        assert_close(loss, expected.detach(), "loss", 1e-12)
        for (name, ours), theirs in zip(by_hand.named_parameters(), by_autograd.parameters(), strict=True):
            assert ours.grad is not None
            assert theirs.grad is not None
            assert ours.grad.abs().sum() > 0
            assert_close(ours.grad, theirs.grad, f"gradient of {name} after {calls} calls", 1e-12)


def test_the_gradient_for_the_input_too() -> None:
    generator = torch.Generator().manual_seed(1)
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)  # noqa: E731
    x, weights, biases = draw(2, 3).requires_grad_(), [draw(4, 3), draw(5, 4)], [draw(4), draw(5)]
    h = forward(x, weights, biases, TANH)
    assert [tuple(layer.shape) for layer in h] == [(2, 3), (2, 4), (2, 5)]
    upstream = draw(2, 5)
    (expected,) = torch.autograd.grad((h[-1] * upstream).sum(), x)
    assert_close(backward(h, upstream, weights, TANH).x.detach(), expected, "gradient of x", 1e-12)


def test_cross_entropy_of_sure_scores_is_finite() -> None:
    loss, delta = cross_entropy(torch.tensor([[1000.0, 0.0], [0.0, 1000.0]]), torch.tensor([0, 0]))
    assert loss.item() == 500
    assert torch.equal(delta, torch.tensor([[0.0, 0.0], [-0.5, 0.5]]))


def test_bad_input_to_the_perceptron() -> None:
    model = MultiLayerPerceptron((3, 4, 2))
    x, y = torch.zeros(5, 3), torch.zeros(5, dtype=torch.int64)
    for sizes in ((3,), (), (3, 0)):
        with pytest.raises(ValueError, match="sizes"):
            MultiLayerPerceptron(sizes)
    for bad in (torch.zeros(5, 4), torch.zeros(0, 3)):
        with pytest.raises((ValueError, TypeError), match=r"\bx\b"):
            model(bad)
        with pytest.raises((ValueError, TypeError), match=r"\bx\b"):
            model.backpropagate(bad, y)
    for bad in (y[:4], y + 2, y - 1):
        with pytest.raises((ValueError, TypeError), match="targets"):
            model.backpropagate(x, bad)


SCORES = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("scores", "targets", "word"),
    [
        (SCORES, torch.tensor([0, -1]), "targets"),
        (SCORES, torch.tensor([0, 3]), "targets"),
        (SCORES, torch.tensor([0]), "targets"),
        (SCORES[:0], torch.zeros(0, dtype=torch.int64), "scores"),
    ],
)
def test_cross_entropy_refuses_what_is_no_label(scores: Tensor, targets: Tensor, word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{word} must"):
        cross_entropy(scores, targets)


@pytest.mark.parametrize(
    ("weights", "biases", "words"),
    [
        ([(4, 3)], [(1,)], r"biases\[0\] must be \(4,\)"),
        ([(4, 3)], [(2, 4)], r"biases\[0\]"),
        ([(4, 5)], [(4,)], r"weights\[0\] must be \(d_out, 3\)"),
        ([(4, 3), (2, 5)], [(4,), (2,)], r"weights\[1\]"),
        ([(4, 3)], [], "one each per layer"),
        ([], [], "one each per layer"),
    ],
)
def test_forward_refuses_layers_that_do_not_fit(weights: list, biases: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        forward(torch.zeros(2, 3), [torch.zeros(w) for w in weights], [torch.zeros(b) for b in biases], RELU)


def test_gradients_under_autocast_have_the_parameters_dtype() -> None:
    model, x, y = MultiLayerPerceptron((3, 4, 2)), torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])
    expected = nn.functional.cross_entropy(model(x), y)
    with torch.autocast("cpu", torch.bfloat16):
        loss = model.backpropagate(x, y)
    assert_close(loss.float(), expected.detach(), "loss", 0.02)
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in model.parameters())
