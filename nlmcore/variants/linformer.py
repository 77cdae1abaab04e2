"""Linformer: the keys and values of n positions are mixed into k, so a head has n · k scores instead of n².

    head_i = softmax(Q_i (E K_i)ᵀ / √d_head) F V_i,   E, F (k, n)      Wang et al. (2020), section 4

k may be small: 128 for their n of 512, a quarter, which is the rule here. All heads of a layer share E and F
("headwise", section 4), which start at N(0, 1 / n), so that a mixed key is as long as a key.

E and F belong to positions, so a text has at most max_length tokens, and they cannot hide the future, so a decoder
keeps its attention (`parts.in_encoder`). Padding is left out of the sums, so real tokens get the vectors of the text
without it.

Departs from the paper: first weights, and positions (theirs are learned).
"""

import math
from typing import Any

import torch
from torch import nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, checked
from nlmcore.positions.absolute import check_length
from nlmcore.transformer.config import build_cross_attention
from nlmcore.variants.parts import Mask, Vectors, real_tokens


class LinformerAttention(nn.Module):
    """k: how many keys are left, max_length / 4 unless given; c: a TransformerConfig."""

    never_causal = (
        "cannot hide the future: E and F mix the keys and values of all positions into k before a query meets them, so"
        " each of the k contains later tokens and no mask can take them out"
    )

    @checked
    def __init__(self, c: Any, k: Size | None = None) -> None:
        super().__init__()
        k = max(1, c.max_length // 4) if k is None else k
        self.attention: Any = build_cross_attention(c)
        self.E, self.F = (nn.Parameter(torch.randn(k, c.max_length) / math.sqrt(c.max_length)) for _ in range(2))

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        time, real = x.shape[1], real_tokens(x, mask)
        check_length(0, time, self.E.shape[1])
        keys, values = self.attention.project_source(x)  # (batch, kv_head, time, d_head)
        if real is not None:
            keys, values = (part * real[:, None, :, None] for part in (keys, values))  # padding adds 0 to the sums
        return self.attention(x, Memory(self.E[:, :time] @ keys, self.F[:, :time] @ values))

    def last_matrices(self) -> list[nn.Linear]:
        return [self.attention.output]
