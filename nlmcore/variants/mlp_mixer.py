"""MLP-Mixer: one network mixes the positions of every channel instead of attention, for encoders only.

    y_c = GELU(x_c W1 + b1) W2 + b2,  for every channel c, x_c its value at every position
                                                                      Tolstikhin et al. (2021), equation 1

It has 2 · positions · hidden weights, with hidden = d_model / 2 as in the paper's table 1. They belong to positions,
whatever the words are, so a text has at most max_length tokens and needs no other positions; and they cannot hide the
future, so a decoder keeps its attention (`parts.in_encoder`).

Departs from the paper: padding counts as zero, and a text shorter than max_length is padded with zeros; the rows and
columns that meet zeros are left out of the products, with the same result.
"""

from typing import Any

import torch.nn.functional as F
from torch import nn

from nlmcore.checks import Size, checked
from nlmcore.fast import Linear
from nlmcore.positions.absolute import check_length
from nlmcore.variants.parts import Mask, Vectors, without_padding


class TokenMixing(nn.Module):
    """MLP-Mixer: one network for all channels; hidden: d_model / 2 unless given; c: a TransformerConfig."""

    never_causal = "cannot hide the future: W1 mixes all positions into hidden units before W2 reads them"

    @checked
    def __init__(self, c: Any, hidden: Size | None = None) -> None:
        super().__init__()
        hidden = max(1, c.d_model // 2) if hidden is None else hidden
        self.inner, self.outer = Linear(c.max_length, hidden), Linear(hidden, c.max_length)

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        time = x.shape[1]
        check_length(0, time, self.inner.in_features)
        channels = without_padding(x, mask).mT  # (batch, d_model, time)
        hidden = F.gelu(self.inner(channels, slice(None), slice(time)))  # (batch, d_model, hidden)
        return self.outer(hidden, slice(time)).mT  # (batch, time, d_model)
