"""Linformer: keys and values of n places are mixed into those of k, and every query looks at k.

    head_i = softmax(Q_i (E K_i)ᵀ / √d_head) F V_i,   E, F (k, n)          Wang et al. (2020), section 4

n · k scores per head in place of n². The matrix softmax(Q Kᵀ) of trained models is nearly of low rank, they found
(section 3), which is why k may be small and need not grow with n: 128 for their n of 512, a quarter, which is the rule
here.

Row i of E belongs to places, not to words, so a text has at most max_length of them, and what is mixed from all places
cannot be hidden from the early ones: for encoders alone.

E and F are shared by all heads of a layer ("headwise", section 4). First weights: N(0, 1 / n), so that a mixed key
begins as long as a key.

Departs from the paper: those first weights; padding is left out of the sums; positions, in the row of the catalogue,
are sinusoids (theirs are learned).
"""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, door
from nlmcore.transformer.config import build_cross_attention
from nlmcore.variants.encoders import check_places, real_places


class LinformerAttention(nn.Module):
    """x (batch, time, d_model) in and out; k: how many keys are left, max_length / 4 unless given.

    c: a TransformerConfig.
    """

    @door
    def __init__(self, c: Any, k: Size | None = None) -> None:
        super().__init__()
        k = max(1, c.max_length // 4) if k is None else k
        self.attention: Any = build_cross_attention(c)
        self.E, self.F = (nn.Parameter(torch.randn(k, c.max_length) / math.sqrt(c.max_length)) for _ in range(2))

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        """mask (batch, 1, 1, time), True = a real token. Raises ValueError for a text longer than max_length."""
        time, real = check_places(x, self.E.shape[1]), real_places(x, mask)
        keys, values = self.attention.project_source(x)  # (batch, kv_head, time, d_head)
        if real is not None:
            keys, values = (part * real[:, None, :, None] for part in (keys, values))
        return self.attention.cross_attend(x, Memory(self.E[:, :time] @ keys, self.F[:, :time] @ values))

    def last_matrices(self) -> list[nn.Linear]:
        return [self.attention.output]
