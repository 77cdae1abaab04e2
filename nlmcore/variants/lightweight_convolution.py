"""Lightweight and dynamic convolutions instead of attention.

    [A; B] = x W^I,   v = A ⊙ σ(B),   y = u W^O             Wu et al. (2019), sections 3 and 4, figure 2

    u_t = Σ_j softmax(w)_j v_{t − k + j},  j = 1 … k     in the d_head channels of one head, w its k numbers

    lightweight    w is learned, one kernel for all texts and positions
    dynamic        w_t = v_t W^Q: each token makes its own kernel

In an encoder the kernel is centred: v_{t − k + j} is v_{t − ⌈(k + 1) / 2⌉ + j}. Padding, and anything beyond the ends
of a text, is zero.

Symbols: W^I and W^O are `inner` and `output`; w, or W^Q, is `kernel`.

Departs from the paper: all layers have one k (theirs widens with depth). Kernels start at N(0, 1): heads differ.

**Per channel**: the rows of Narang et al. (2021), as their code has them (`LocalConvAttnBlock` of Mesh TensorFlow).

    y = u W^P W^O,   with a kernel for each of the d_model channels (w: d_model · k numbers; W^Q: d_model · k rows)

The dynamic row has d_ff / 6, 512 of 3,072, to pay for W^Q. Departs from their code: no biases (258,048 in all).
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.convolutional import causal_inputs, gated_linear_unit
from nlmcore.fast import Linear
from nlmcore.variants.parts import Mask, Vectors, without_padding


class LightweightConvolution(nn.Module):
    """With w learned. size: k; per_channel: a kernel for every channel instead of every head, and W^P."""

    @checked
    def __init__(self, c: Any, size: Size = 9, per_channel: bool = False) -> None:
        super().__init__()
        for name in ("n_kv_heads", "window", "attention_positions"):
            if getattr(c, name) is not None:
                raise ValueError(f"{name} must be None where a convolution takes attention's place")
        width = c.n_heads * c.head_size
        self.n_kernels, self.size, self.dropout = width if per_channel else c.n_heads, size, c.dropout
        self.inner = Linear(c.d_model, 2 * width, bias=c.attention_bias)
        self.kernel: Any = self._kernel(width)
        self.pointwise = Linear(width, width, bias=c.attention_bias) if per_channel else nn.Identity()
        self.output = Linear(width, c.d_model, bias=c.attention_bias)

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        """Every position with its neighbours on both sides."""
        v = without_padding(gated_linear_unit(self.inner(x)), mask)
        before = self.size // 2  # of an even kernel the extra position is one that came before
        return self._mix(v, F.pad(v, (0, 0, before, self.size - 1 - before)))

    def weights(self, v: Float[Tensor, "batch time width"]) -> Float[Tensor, "*positions head size"]:
        """The kernels, each of which sums to 1."""
        return self.kernel.softmax(-1)

    def _kernel(self, width: int) -> nn.Parameter | nn.Module:
        return nn.Parameter(torch.randn(self.n_kernels, self.size))

    def _mix(self, v: Tensor, inputs: Tensor) -> Tensor:
        """v (batch, time, width), inputs (batch, time + k − 1, width)."""
        near = inputs.unfold(1, self.size, 1).unflatten(2, (self.n_kernels, -1))  # (batch, time, head, d_head, size)
        weights = F.dropout(self.weights(v), self.dropout, self.training)
        return self.output(self.pointwise((near @ weights.unsqueeze(-1)).flatten(2)))


class DynamicConvolution(LightweightConvolution):
    """The same, with a kernel that every token makes."""

    def weights(self, v: Float[Tensor, "batch time width"]) -> Float[Tensor, "*positions head size"]:
        return self.kernel(v).unflatten(-1, (self.n_kernels, self.size)).softmax(-1)

    def _kernel(self, width: int) -> nn.Parameter | nn.Module:
        return Linear(width, self.n_kernels * self.size, bias=False)


class CausalConvolution(LightweightConvolution):
    """Called with (x, state)."""

    def forward(  # type: ignore[override]
        self, x: Vectors, state: Tensor | None = None
    ) -> tuple[Vectors, Float[Tensor, "batch past width"]]:
        """Every position with those before it; state: the last k − 1 v, None: zeros."""
        v = gated_linear_unit(self.inner(x))
        shape = (len(v), self.size - 1, v.shape[2])
        if state is not None and not isinstance(state, Tensor):
            raise TypeError(f"state must be None or what an earlier call gave back, got {type(state).__name__}")
        if state is not None and state.shape != shape:
            raise ValueError(f"state must have shape {shape}, (batch, size - 1, width), got {tuple(state.shape)}")
        inputs, past = causal_inputs(v, v.new_zeros(shape) if state is None else state)
        return self._mix(v, inputs), past


class CausalDynamicConvolution(CausalConvolution, DynamicConvolution):
    """The same with kernels that tokens make."""


def build_lightweight(c: Any, causal: bool, size: int = 9, per_channel: bool = False) -> nn.Module:
    """A part `attention`, as is the next."""
    return (CausalConvolution if causal else LightweightConvolution)(c, size, per_channel)


def build_dynamic(c: Any, causal: bool, size: int = 9, per_channel: bool = False) -> nn.Module:
    return (CausalDynamicConvolution if causal else DynamicConvolution)(c, size, per_channel)
