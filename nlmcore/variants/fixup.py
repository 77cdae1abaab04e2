"""Fixup: deep stacks without a norm, by first weights that depend on the depth.

    x ← x + a · f(x + b)                       scalars a = 1 and b = 0 at the start
    f = (φ(x W1 + b1) + b2) W2                 the feed-forward branch: scalars b1 = b2 = 0 at the start

    the last matrix of every branch            0, so that the network begins as the identity
    every other matrix of a branch             as usual, times L^(−1 / (2m − 2))

Zhang, Dauphin & Ma (2019), section 3. L is the number of branches in the whole model, m how many matrices multiply one
another in a branch: 2 in the feed-forward branch, 4 in attention, whose input passes W^Q, W^K, W^V (once each, to first
order) and W^O. "As usual" is Glorot & Bengio (2010) in attention and He et al. (2015) before φ, both uniform, as in the
code of Narang et al. (2021).

Departs from the paper: the softmax's matrix starts at 0 only where it is not tied to the embedding, which must tell
tokens apart; there is no scalar before W^O. Narang's code also shifts and scales the output of each stack.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.transformer.config import initialise_normal
from nlmcore.variants.parts import Vectors, attentions


class Fixup(nn.Module):
    """x + a f(x + b)."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.bias, self.scale = nn.Parameter(torch.zeros(())), nn.Parameter(torch.ones(()))
        self.dropout = nn.Dropout(c.dropout)

    def forward(self, x: Vectors, y: Vectors | None = None) -> Vectors:
        return x + self.bias if y is None else x + self.scale * self.dropout(y)


class FixupFeedForward(nn.Module):
    """(φ(x W1 + b1) + b2) W2 with scalars b1 and b2."""

    def __init__(self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.relu) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_ff, d_model, bias=False)
        self.inner_bias, self.outer_bias = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
        self.activation = activation

    def forward(self, x: Vectors) -> Vectors:
        return self.outer(self.activation(self.inner(x) + self.inner_bias) + self.outer_bias)


@torch.no_grad()
def initialise_fixup(model: nn.Module, c: Any) -> None:
    """First weights of a model of multi-head attention and `FixupFeedForward`."""
    initialise_normal(model, c)
    layers: list[Any] = [m for m in model.modules() if hasattr(m, "branches") and hasattr(m, "last_matrices")]
    if not layers:
        raise TypeError("Fixup's first weights need layers with `branches` and `last_matrices()`, like EncoderLayer")
    branches = sum(layer.branches for layer in layers)
    for layer in layers:
        for attention in attentions(layer):
            for part in (attention.query, attention.key, attention.value):
                nn.init.xavier_uniform_(part.weight, gain=branches ** (-1 / 6))  # m = 4
        network = getattr(layer, "feed_forward", None)
        if network is not None:
            if not isinstance(getattr(network, "inner", None), nn.Linear):
                raise TypeError(f"Fixup's first weights need a FixupFeedForward, got {type(network).__name__}")
            nn.init.kaiming_uniform_(network.inner.weight, nonlinearity="relu")
            network.inner.weight.mul_(branches ** (-1 / 2))  # m = 2
        # Zero: every branch adds nothing at first, so the network begins as the identity.
        for last in layer.last_matrices():
            nn.init.zeros_(last.weight)
    output = getattr(model, "output", None)
    if isinstance(output, nn.Linear) and not c.tie_embeddings:
        nn.init.zeros_(output.weight)
