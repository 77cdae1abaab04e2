"""RMSNorm against its equation and PyTorch's."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.norms import RMSNorm
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_it_is_its_equation() -> None:
    norm, x = RMSNorm(5, eps=0.1).double(), draw(2, 3, 5)
    with torch.no_grad():
        norm.weight.copy_(draw(5))
    weight = norm.weight.tolist()
    for b in range(2):
        for t in range(3):
            root = (sum(value**2 for value in x[b, t].tolist()) / 5 + 0.1) ** 0.5
            expected = [g * value / root for g, value in zip(weight, x[b, t].tolist(), strict=True)]
            assert_close(norm(x)[b, t], torch.tensor(expected, dtype=torch.float64), f"row {b}, {t}", 1e-12)


def test_it_agrees_with_pytorch() -> None:
    x = draw(2, 3, 5)
    assert_close(RMSNorm(5).double()(x), nn.RMSNorm(5, eps=1e-6).double()(x), "nn.RMSNorm", 1e-12)


def test_it_sees_direction_but_no_size_and_does_not_centre() -> None:
    norm, x = RMSNorm(5, eps=0).double(), draw(4, 5)
    assert_close(norm(3.0 * x), norm(x), "three times as large", 1e-12)
    assert_close(norm(x).square().mean(-1), torch.ones(4, dtype=torch.float64), "mean square", 1e-12)
    assert (norm(x + 1.0) - norm(x)).abs().max() > 0.1, "LayerNorm would not see the shift"
    centred = x - x.mean(-1, keepdim=True)
    layer_norm = nn.LayerNorm(5, eps=0.0).double()
    assert_close(norm(centred), layer_norm(x), "on what is centred it is LayerNorm", 1e-12)


def test_zeros_stay_zeros() -> None:
    assert not RMSNorm(5)(torch.zeros(2, 5)).any()


def test_every_parameter_gets_a_gradient() -> None:
    norm = RMSNorm(5)
    assert_every_parameter_gets_a_gradient(norm, norm(draw(2, 3, 5).float()))
    assert [name for name, _ in norm.named_parameters()] == ["weight"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: RMSNorm(0), ValueError, "d_model must be at least 1, got 0"),
        (lambda: RMSNorm(2.5), TypeError, "d_model must be an integer"),
        (lambda: RMSNorm(5, eps=-1e-6), ValueError, "eps must be at least 0"),
        (lambda: RMSNorm(5, eps=float("nan")), ValueError, "eps must be at least 0, got nan"),
        (lambda: RMSNorm(5, eps="a"), TypeError, "eps must be a number"),
        (lambda: RMSNorm(5)(None), TypeError, "x must be a tensor .*, got NoneType"),
        (
            lambda: RMSNorm(5)(torch.zeros(2, 5).long()),
            TypeError,
            "holds floating-point numbers, got a torch.int64",
        ),
        (lambda: RMSNorm(5)(torch.zeros(2, 4)), ValueError, r"x must have a last dimension of 5, got shape \(2, 4\)"),
    ],
)
def test_what_does_not_fit_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
