"""Gated convolutions against PyTorch's convolution and GLU."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nlmcore.convolutional import GatedConvolution, causal_inputs, gated_linear_unit
from tests.laws import assert_close


def kernel(layer: GatedConvolution) -> Tensor:
    """The weights as nn.Conv1d keeps them: (2 · d_model, d_model, kernel_size)."""
    return layer.linear.weight.unflatten(1, (layer.kernel_size, -1)).mT


@torch.no_grad()
def test_a_layer_is_conv1d_with_zeros_on_the_left_and_glu() -> None:
    torch.manual_seed(0)
    layer, x = GatedConvolution(6, 3, dilation=2), torch.randn(2, 7, 6)
    inputs, kept = causal_inputs(x, torch.zeros(2, 4, 6))
    expected = F.glu(F.conv1d(F.pad(x.mT, (4, 0)), kernel(layer), layer.linear.bias, dilation=2), dim=1)
    assert_close(layer(inputs), expected.mT, "gated convolution")
    assert torch.equal(kept, x[:, -4:])
    assert torch.equal(causal_inputs(x[:, :1], kept)[1], torch.cat([kept[:, 1:], x[:, :1]], dim=1))


def test_the_initial_variance_is_about_kept_by_a_layer() -> None:
    """4 · E[σ²] is 1 for gates near a half, and 1.4 for the gates that this initialisation gives."""
    torch.manual_seed(0)
    x = torch.randn(8, 102, 64)
    for kernel_size in (1, 3, 5):
        assert 0.7 < GatedConvolution(64, kernel_size)(x).var().item() < 1.6
    assert GatedConvolution(64, 3, dropout=0.5).train()(x).var().item() == pytest.approx(1.4, abs=0.3)


def test_gated_linear_unit_is_pytorchs() -> None:
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    assert_close(gated_linear_unit(x), F.glu(x, dim=-1), "GLU")
    with pytest.raises(ValueError, match="even last dimension"):
        gated_linear_unit(x[..., :7])


@pytest.mark.parametrize("size", [0, -1, 1.5, "4", None])
@pytest.mark.parametrize("name", ["d_model", "kernel_size", "dilation"])
def test_gated_convolutions_refuse_what_is_no_size(name: str, size: object) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        GatedConvolution(**{"d_model": 4, "kernel_size": 3, name: size})


@pytest.mark.parametrize("shape", [(1, 2, 4), (1, 5, 3), (5, 4), (1, 4, 4)])
def test_gated_convolutions_refuse_less_than_a_window(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"x must be \(batch, more than .* = 4, d_model = 4\)"):
        GatedConvolution(4, 3, dilation=2)(torch.zeros(shape))
