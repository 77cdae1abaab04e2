"""The Universal Transformer of Narang et al. (2021), as their code and its settings have it.

There is no halting, as there is in `universal`, the paper's own. One pre-norm block is applied 2 + 24 + 2 times, for 12
layers of the baseline; before each of the 24 a learned e^t is added, which says how often it was applied.

    x^t = block(x^{t−1} + e^t),   each sublayer f of the block   x ← x + (1 − z) ⊙ y + z ⊙ c,   y = f(LN(x))

    z = σ(W_z [LN(x); LN(y)] + b_z),   r = σ(W_r [LN(x); LN(y)] + b_r),   c = σ(W_c [LN(r ⊙ x); LN(y)] + b_c)

Source: Dehghani et al. (2019); Narang et al. (2021).
Departs from their code: the second gate's input is not normalised twice. (A GRU has tanh in c; their code has σ.)
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Count, checked
from nlmcore.transformer import DecoderStack, PreNorm
from nlmcore.transformer.checks import check_layers
from nlmcore.variants.parts import Mask, Memories, Vectors


class GRUGates(PreNorm):
    """x + (1 − z) ⊙ y + z ⊙ c; a part `residual`, c: a TransformerConfig."""

    def __init__(self, c: Any) -> None:
        super().__init__(c.norm(c.d_model), c.dropout)
        self.norm_x, self.norm_y, self.norm_reset = (c.norm(c.d_model) for _ in range(3))
        self.update, self.reset, self.candidate = (nn.Linear(2 * c.d_model, c.d_model) for _ in range(3))

    def forward(self, x: Vectors, y: Vectors | None = None) -> Vectors:
        if y is None:
            return self.norm(x)
        normed = self.norm_y(y)
        both = torch.cat([self.norm_x(x), normed], -1)  # [LN(x); LN(y)], (batch, time, 2 · d_model)
        z, r = torch.sigmoid(self.update(both)), torch.sigmoid(self.reset(both))
        candidate = torch.sigmoid(self.candidate(torch.cat([self.norm_reset(r * x), normed], -1)))
        return super().forward(x, (1 - z) * y + z * candidate)  # (1 − z) ⊙ y + z ⊙ c is what is added


class GatedUniversal(nn.ModuleList):
    """One block, `outside` + n_layers + `outside` times. e^t is `moments`, at first of our embeddings' size,
    0.02 √d_model (theirs are 1).
    """

    def __init__(self, block: nn.Module, n_layers: int, d_model: int, outside: int) -> None:
        super().__init__([block] * (n_layers + 2 * outside))  # one block under several numbers
        self.outside = outside
        self.moments = nn.Parameter(torch.empty(n_layers, d_model).normal_(std=0.02 * math.sqrt(d_model)))

    def times(self) -> Float[Tensor, "loop d_model"]:
        """e^t, or zeros in the loops outside."""
        return nn.functional.pad(self.moments, (0, 0, self.outside, self.outside))


class GatedUniversalEncoder(GatedUniversal):
    """Called like `EncoderStack`."""

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        for layer, e in zip(self, self.times(), strict=True):
            x = layer(x + e, mask)
        return x


class GatedUniversalDecoder(GatedUniversal, DecoderStack):
    """Called like `DecoderStack`."""

    def forward(
        self, x: Vectors, states: Sequence[Any] | None = None, memories: Memories = None, memory_mask: Mask = None
    ) -> tuple[Vectors, tuple[Any, ...]]:
        check_layers(len(self), states, memories)
        new = []
        for i, (layer, e) in enumerate(zip(self, self.times(), strict=True)):
            x, state = layer(x + e, states and states[i], memories and memories[i], memory_mask)
            new.append(state)
        return x, tuple(new)


@checked
def build_gated_universal(c: Any, causal: bool, cross: bool, outside: Count = 2) -> nn.Module:
    """A part `stack`."""
    kind = GatedUniversalDecoder if causal else GatedUniversalEncoder
    return kind(c.block(c, causal, cross), c.n_layers, c.d_model, outside)
