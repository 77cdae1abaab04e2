"""The Evolved Transformer: two cells that an evolutionary search found, starting from the Transformer's.

    encoder  x ← x + h V ⊙ σ(h G)                                               h = LN x, anew in every line
             x ← x + pad(sep₉(LN(max(0, h W) + pad(max(0, conv₃ h)))))          W to d_ff, conv₃ and sep₉ to d / 2
             x ← x + attention(h)
             x ← x + max(0, h W1) W2                                            W1 to d_ff

    decoder  x ← x + attention of twice the heads(h) + cross-attention(h)
             x ← x + sep₇(LN(max(0, sep₁₁ h) + pad(sep₇' h)))                   sep₁₁ to 2 d, sep₇' to d / 2, sep₇ to d
             x ← x + attention(h)
             x ← x + cross-attention(h)
             x ← x + LN(h W1 · σ(h W1)) W2                                      W1 to d_ff

So, Liang & Le (2019), figure 3. The subscript is the width of a convolution; pad appends zeros to a vector until it is
as wide as the other term. Their windows are centred on a token in the encoder, and end at it in the decoder. A language
model has the decoder's cell without cross-attention.

**A separable convolution**, sep: first the neighbours of each channel by itself, then the channels of each position.

    z_tc = Σ_j k_cj x_{t+j, c},   y_t = z_t W               Chollet (2017), "Xception"; Kaiser, Gomez & Chollet (2018)

It has d_in · width + d_in · d_out parameters, where a convolution has d_in · d_out · width. Symbols: k is `depthwise`,
W is `pointwise`.

Departs from the papers: no biases; the first attention of a decoder's cell has twice the heads at their usual size,
which gives the 217 M parameters of Narang et al. (2021), table 1 (the authors' code: 16 heads of half the size). First
weights of conv₃ and k are PyTorch's.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, checked
from nlmcore.convolutional import causal_inputs
from nlmcore.fast import Linear
from nlmcore.transformer.block import last_matrices
from nlmcore.transformer.checks import self_attention
from nlmcore.variants.parts import Mask, Vectors, without_padding


class SeparableConvolution(nn.Module):
    """x (batch, time + width − 1, d_in) -> (batch, time, d_out): the caller adds the zeros."""

    @checked
    def __init__(self, d_in: Size, d_out: Size, width: Size) -> None:
        super().__init__()
        self.width = width
        self.depthwise = nn.Conv1d(d_in, d_in, width, groups=d_in, bias=False)
        self.pointwise = Linear(d_in, d_out, bias=False)

    def forward(self, x: Float[Tensor, "batch read d_in"]) -> Float[Tensor, "batch time d_out"]:
        return self.pointwise(self.depthwise(x.transpose(1, 2)).transpose(1, 2))  # Conv1d has channels second


class EncoderCell(nn.Module):
    """c: a TransformerConfig."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        d, half = c.d_model, c.d_model // 2
        if c.hidden_size < half:
            raise ValueError(f"d_ff must be at least d_model / 2, got d_ff={c.hidden_size}, d_model={d}")
        self.value, self.gate = Linear(d, d, bias=False), Linear(d, d, bias=False)
        self.wide, self.near = Linear(d, c.hidden_size, bias=False), nn.Conv1d(d, half, 3, padding=1, bias=False)
        self.norm, self.separable = c.norm(c.hidden_size), SeparableConvolution(c.hidden_size, half, 9)
        self.attention = c.attention(c, False)
        self.feed_forward = c.feed_forward(d, c.hidden_size)
        self.residual_gate, self.residual_convolution = c.residual(c), c.residual(c)
        self.residual_attention, self.residual_feed_forward = c.residual(c), c.residual(c)
        self.branches = 4

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        """Convolutions read zeros at padding."""
        # x ← x + h V ⊙ σ(h G): a gated linear unit instead of a sublayer of the usual kind.
        h = self.residual_gate(x)
        x = self.residual_gate(x, self.value(h) * torch.sigmoid(self.gate(h)))
        # x ← x + pad(sep₉(LN(max(0, h W) + pad(max(0, conv₃ h))))), in `_convolve`.
        h = self.residual_convolution(x)
        x = self.residual_convolution(x, self._convolve(without_padding(h, mask), mask))
        x = self.residual_attention(x, self.attention(self.residual_attention(x), mask=mask))
        return self.residual_feed_forward(x, self.feed_forward(self.residual_feed_forward(x)))

    def last_matrices(self) -> list[nn.Linear]:
        return last_matrices(self.value, self.separable.pointwise, self.attention, self.feed_forward)

    def _convolve(self, h: Tensor, mask: Mask) -> Tensor:
        near = F.relu(self.near(h.transpose(1, 2)).transpose(1, 2))  # (batch, time, d / 2); Conv1d has channels second
        both = without_padding(self.norm(_padded_sum(F.relu(self.wide(h)), near)), mask)
        y = self.separable(F.pad(both, (0, 0, 4, 4)))  # width 9: four neighbours on either side
        return F.pad(y, (0, h.shape[-1] - y.shape[-1]))  # from d / 2 to d with zeros


class CellState(NamedTuple):
    """What a decoder's cell has read."""

    wide: Any  # keys and values of the attention of twice the heads
    inputs: Float[Tensor, "batch ten d_model"]  # the last inputs of the first two convolutions; zeros before the text
    sums: Float[Tensor, "batch six twice_d_model"]  # the last inputs of the third
    attention: Any  # keys and values of the second attention


class DecoderCell(nn.Module):
    """c: a TransformerConfig; cross: whether there is a source to attend to."""

    def __init__(self, c: Any, cross: bool) -> None:
        super().__init__()
        d, kv_heads = c.d_model, c.n_kv_heads
        twice = replace(c, n_heads=2 * c.n_heads, d_head=c.head_size, n_kv_heads=kv_heads and 2 * kv_heads)
        self.wide_attention, self.attention = self_attention(twice, True), self_attention(c, True)
        self.residual_wide_attention, self.residual_attention = c.residual(c), c.residual(c)
        if cross:
            self.first_cross_attention, self.cross_attention = c.cross_attention(c), c.cross_attention(c)
            self.residual_cross_attention = c.residual(c)
        self.left, self.right = SeparableConvolution(d, 2 * d, 11), SeparableConvolution(d, d // 2, 7)
        self.norm, self.last = c.norm(2 * d), SeparableConvolution(2 * d, d, 7)
        self.residual_convolution = c.residual(c)
        self.inner, self.outer = Linear(d, c.hidden_size, bias=False), Linear(c.hidden_size, d, bias=False)
        self.inner_norm, self.residual_feed_forward = c.norm(c.hidden_size), c.residual(c)
        self.branches = 6 if cross else 4

    def forward(
        self, x: Vectors, state: CellState | None = None, memory: Memory | None = None, memory_mask: Mask = None
    ) -> tuple[Vectors, CellState]:
        """Continue from `state`, attending twice to `memory`, the source as `project_source` gave it."""
        first, second = (None, None) if memory is None else _apart(memory)
        wide, inputs, sums, seen = state or (None, None, None, None)
        # x ← x + attention of twice the heads(h) + cross-attention(h): side by side, on one h.
        h = self.residual_wide_attention(x)
        y, wide = self.wide_attention(h, wide)
        if first is not None:
            y = y + self.first_cross_attention(h, first, memory_mask)
        x = self.residual_wide_attention(x, y)

        # x ← x + sep₇(LN(max(0, sep₁₁ h) + pad(sep₇' h)))
        h, inputs = _after(self.residual_convolution(x), inputs, self.left.width)
        right = self.right(h[:, self.left.width - self.right.width :])
        both, sums = _after(self.norm(_padded_sum(F.relu(self.left(h)), right)), sums, self.last.width)
        x = self.residual_convolution(x, self.last(both))

        # The three last lines of the cell: attention, cross-attention and the network with φ = Swish.
        y, seen = self.attention(self.residual_attention(x), seen)
        x = self.residual_attention(x, y)
        if second is not None:
            y = self.cross_attention(self.residual_cross_attention(x), second, memory_mask)
            x = self.residual_cross_attention(x, y)
        y = self.outer(self.inner_norm(F.silu(self.inner(self.residual_feed_forward(x)))))
        x = self.residual_feed_forward(x, y)
        return x, CellState(wide, inputs, sums, seen)

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> Memory:
        """The source for both cross-attentions: the heads of the first, then those of the second."""
        first, second = (part.project_source(source) for part in (self.first_cross_attention, self.cross_attention))
        return Memory(torch.cat([first.keys, second.keys], 1), torch.cat([first.values, second.values], 1))

    def last_matrices(self) -> list[nn.Linear]:
        names = ("wide_attention", "first_cross_attention", "attention", "cross_attention")
        return last_matrices(*(getattr(self, name, None) for name in names), self.last.pointwise, self.outer)


def build_evolved(c: Any, causal: bool, cross: bool) -> nn.Module:
    """A part `block`."""
    return DecoderCell(c, cross) if causal else EncoderCell(c)


def _apart(memory: Memory) -> tuple[Memory, Memory]:
    (k1, k2), (v1, v2) = (part.chunk(2, dim=1) for part in memory)
    return Memory(k1, v1), Memory(k2, v2)


def _padded_sum(x: Tensor, narrow: Tensor) -> Tensor:
    return x + F.pad(narrow, (0, x.shape[-1] - narrow.shape[-1]))


def _after(x: Tensor, past: Tensor | None, width: int) -> tuple[Tensor, Tensor]:
    """x after the width − 1 vectors before it, zeros where the text starts; and the past of the next x."""
    return causal_inputs(x, x.new_zeros(len(x), width - 1, x.shape[-1]) if past is None else past)
