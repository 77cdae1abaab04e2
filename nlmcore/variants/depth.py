"""Residual rules and first weights with which deep stacks train: ReZero, Fixup, DeepNorm.

**ReZero**: every branch is multiplied by one learned number that starts at 0.

    x ← x + α · f(norm(x)),   α = 0 at the start          Bachlechner et al. (2021), equation 2 and section 3

A new network of any depth is the identity, so deep stacks train without a warm-up of the learning rate. The paper has
no norm, so the row "Rezero" has nn.Identity; the rows "Rezero + …" of Narang et al. (2021) keep both.

Departs from the paper: each branch has its own α, as in Narang's code; the paper has one per layer (section 5).

**Fixup**: no norm either, but first weights that depend on the depth. Zhang, Dauphin & Ma (2019), section 3.

    x ← x + a · f(x + b)                       scalars a = 1 and b = 0 at the start
    f = (φ(x W1 + b1) + b2) W2                 the feed-forward branch: scalars b1 = b2 = 0 at the start

    the last matrix of every branch            0, so that the network begins as the identity
    every other matrix of a branch             as usual, times L^(−1 / (2m − 2))

L is the number of branches in the whole model, m how many matrices multiply one another in a branch: 2 in the
feed-forward branch, 4 in attention, whose input passes W^Q, W^K, W^V (once each, to first order) and W^O. One step of
gradient descent then changes the output by the same amount at every depth, which is what a norm was for. "As usual" is
Glorot & Bengio (2010) in attention and He et al. (2015) before φ, both uniform, as in the code of Narang et al. (2021).

Departs from the paper: the softmax's matrix starts at 0 only where it is not tied to the embedding, which must tell
tokens apart; there is no scalar before W^O. Narang's code also shifts and scales the output of each stack.

**DeepNorm**: post-norm that trains at a thousand layers, with a heavier pathway and lighter branches.

    x ← LN(α x + f(x))                         Wang et al. (2022), "DeepNet", section 3 and figure 2

    W^V, W^O, feed-forward matrices            Glorot & Bengio (2010), times β at the start
    W^Q and W^K                                Glorot & Bengio (2010)

                                               α                    β
    N layers of one stack                      (2 N)^(1/4)          (8 N)^(−1/4)
    encoder of N, beside a decoder of M        0.81 (N⁴ M)^(1/16)   0.87 (N⁴ M)^(−1/16)
    decoder of M                               (3 M)^(1/4)          (12 M)^(−1/4)

A step of gradient descent then changes the output by an amount that does not grow with the depth (section 4). α and β
need the depth of both sides, so they are set with the first weights.

Departs from the paper: embeddings start from N(0, 0.02²), as everywhere here.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.transformer.block import PostNorm, PreNorm
from nlmcore.transformer.config import initialise_normal
from nlmcore.variants.shapes import Vectors


class ReZero(PreNorm):
    """x + α f(norm(x)); a part `residual`, as are `Fixup` and `DeepNorm`."""

    def __init__(self, c: Any) -> None:
        super().__init__(c.norm(c.d_model), c.dropout)
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, x: Vectors, y: Vectors | None = None) -> Vectors:
        return self.norm(x) if y is None else x + self.alpha * self.dropout(y)


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
    """First weights of a model of multi-head attention and `FixupFeedForward`.

    Raises TypeError for layers that do not say where their branches end, or another feed-forward part.
    """
    initialise_normal(model, c)
    layers: list[Any] = [m for m in model.modules() if hasattr(m, "branches") and hasattr(m, "last_matrices")]
    if not layers:
        raise TypeError("Fixup's first weights need layers with `branches` and `last_matrices()`, like EncoderLayer")
    branches = sum(layer.branches for layer in layers)
    for layer in layers:
        for attention in _attentions(layer):
            for part in (attention.query, attention.key, attention.value):
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


class DeepNorm(PostNorm):
    """LN(α x + f(x)); α is 1 (post-norm) until `initialise_deepnorm`."""

    alpha = 1.0

    def __init__(self, c: Any) -> None:
        super().__init__(c.norm(c.d_model), c.dropout)

    def forward(self, x: Vectors, y: Vectors | None = None) -> Vectors:
        return x if y is None else self.norm(self.alpha * x + self.dropout(y))

    def extra_repr(self) -> str:
        return f"alpha={self.alpha:.4g}"


@torch.no_grad()
def initialise_deepnorm(model: nn.Module, c: Any) -> None:
    """α of every rule, and first weights, of a model of multi-head attention and feed-forward networks.

    Raises TypeError for layers that do not say how many branches they have.
    """
    initialise_normal(model, c)
    for stack, alpha, beta in _sides(model):
        for rule in stack.modules():
            if isinstance(rule, DeepNorm):
                rule.alpha = alpha
        for layer in stack:
            for attention in _attentions(layer):
                for part, gain in ((attention.query, 1.0), (attention.key, 1.0), (attention.value, beta)):
                    nn.init.xavier_normal_(part.weight, gain=gain)
            network = getattr(layer, "feed_forward", None)
            matrices = [] if network is None else [m for m in network.modules() if isinstance(m, nn.Linear)]
            for matrix in (*matrices, *layer.last_matrices()):
                nn.init.xavier_normal_(matrix.weight, gain=beta)


def _attentions(layer: Any) -> list[Any]:
    found = (getattr(layer, name, None) for name in ("attention", "cross_attention"))
    return [attention for attention in found if attention is not None]


def _sides(model: Any) -> Iterator[tuple[Any, float, float]]:
    """(stack, α, β) of each side. An encoder passed to EncoderDecoder is not there yet and keeps its own."""
    encoder, decoder = (getattr(getattr(model, side, None), "layers", None) for side in ("encoder", "decoder"))
    if decoder is None:
        alone = model.layers if encoder is None else encoder
        n = _depth(alone, 2)
        yield alone, (2 * n) ** 0.25, (8 * n) ** -0.25
        return
    m = _depth(decoder, 3)
    if encoder is not None:
        both = (_depth(encoder, 2) ** 4 * m) ** (1 / 16)
        yield encoder, 0.81 * both, 0.87 / both
    yield decoder, (3 * m) ** 0.25, (12 * m) ** -0.25


def _depth(stack: Any, each: int) -> float:
    """A stack's branches, in layers of `each` branches."""
    branches = [getattr(layer, "branches", None) for layer in stack]
    if None in branches:
        raise TypeError("DeepNorm needs layers with `branches` and `last_matrices()`, like EncoderLayer")
    return sum(branches) / each  # type: ignore[arg-type]
