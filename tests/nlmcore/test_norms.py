"""RMSNorm against its equation and PyTorch's."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.norms import RMSNorm
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_it_agrees_with_pytorch() -> None:
    ours, theirs, x = RMSNorm(5, eps=0.1).double(), nn.RMSNorm(5, eps=0.1).double(), draw(2, 3, 5)
    with torch.no_grad():
        ours.weight.copy_(draw(5))
    theirs.load_state_dict(ours.state_dict())
    assert_close(ours(x), theirs(x), "nn.RMSNorm", 1e-12)
    assert RMSNorm(5).eps == 1e-6


def test_zeros_stay_zeros() -> None:
    assert not RMSNorm(5)(torch.zeros(2, 5)).any()


def test_every_parameter_gets_a_gradient() -> None:
    norm = RMSNorm(5)
    assert_every_parameter_gets_a_gradient(norm, norm(draw(2, 3, 5).float()))
    assert [name for name, _ in norm.named_parameters()] == ["weight"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
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
