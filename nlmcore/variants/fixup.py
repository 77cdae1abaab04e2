"""Fixup: deep residual networks without any norm, by their first weights. Zhang, Dauphin & Ma (2019), section 3.

    x ← x + a · f(x + b)                                  a = 1 and b = 0 at the start, one number each
    f = W2 · (φ(W1 x + b1) + b2)                          the feed-forward branch: two more numbers, 0 at the start

    the last matrix of every branch                       0
    every other matrix of a branch                        as usual, times L^(−1 / (2m − 2))

L is the number of branches in the whole model, m how many matrices multiply one another in a branch. In the
feed-forward branch m = 2. In attention m = 4: its input passes W^Q, W^K, W^V (once each, to first order) and W^O.
So one step of gradient descent changes the output by the same amount at every depth, which is what a norm was for.

At the start every branch is 0 and the network the identity. In the first step a gradient reaches the last matrices
and no other weight of a branch.

As usual: Glorot & Bengio (2010) in attention, He et al. (2015) before φ, both uniform: what Narang et al. (2021) have
in their code as defaults. (The runs of their table: He's rule in both, from a normal distribution cut off.)

Departs from the paper: the softmax's matrix starts at 0 only where it is not the embedding's too (tied, it must tell
tokens apart); before W^O stands no number of its own. Narang's code also shifts, and scales, what leaves each stack.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.transformer.config import initialise_normal


class Fixup(nn.Module):
    """x + a f(x + b); a rule of `TransformerConfig.residual`."""

    def __init__(self, dropout: float | int = 0.0) -> None:
        super().__init__()
        self.bias, self.scale = nn.Parameter(torch.zeros(())), nn.Parameter(torch.ones(()))
        self.dropout = nn.Dropout(dropout)

    def pre(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return x + self.bias

    def post(
        self, x: Float[Tensor, "batch time d_model"], y: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch time d_model"]:
        return x + self.scale * self.dropout(y)


class FixupFeedForward(nn.Module):
    """W2 (φ(W1 x + b1) + b2) with numbers b1 and b2; x (batch, time, d_model), hidden width d_ff."""

    def __init__(self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.relu) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff, bias=False)
        self.outer = nn.Linear(d_ff, d_model, bias=False)
        self.inner_bias, self.outer_bias = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
        self.activation = activation

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return self.outer(self.activation(self.inner(x) + self.inner_bias) + self.outer_bias)


def build_fixup(c: Any) -> nn.Module:
    """Fixup's rule around one branch; c: a TransformerConfig."""
    return Fixup(c.dropout)


@torch.no_grad()
def initialise_fixup(model: nn.Module, c: Any) -> None:
    """The first weights of a model whose layers are multi-head attention and `FixupFeedForward`.

    Raises TypeError for a layer that does not say where its branches end, or another feed-forward part.
    """
    initialise_normal(model, c)
    layers: list[Any] = [m for m in model.modules() if hasattr(m, "branches") and hasattr(m, "last_matrices")]
    if not layers:
        raise TypeError("Fixup's first weights need layers with `branches` and `last_matrices()`, as `Block` has them")
    branches = sum(layer.branches for layer in layers)
    for layer in layers:
        for attention in (getattr(layer, "attention", None), getattr(layer, "cross_attention", None)):
            for part in (attention.query, attention.key, attention.value) if attention is not None else ():
                nn.init.xavier_uniform_(part.weight, gain=branches ** (-1 / 6))
        network = getattr(layer, "feed_forward", None)
        if network is not None:
            if not isinstance(getattr(network, "inner", None), nn.Linear):
                raise TypeError(f"Fixup's first weights need a FixupFeedForward, got {type(network).__name__}")
            nn.init.kaiming_uniform_(network.inner.weight, nonlinearity="relu")
            network.inner.weight.mul_(branches ** (-1 / 2))
        for last in layer.last_matrices():
            nn.init.zeros_(last.weight)
    output = getattr(model, "output", None)
    if isinstance(output, nn.Linear) and not c.tie_embeddings:
        nn.init.zeros_(output.weight)
