"""DeepNorm: post-norm that trains at a thousand layers, with a heavier pathway and lighter branches.

    x ← LN(α x + f(x))                         Wang et al. (2022), "DeepNet", section 3 and figure 2

    W^V, W^O, feed-forward matrices            Glorot & Bengio (2010), times β at the start
    W^Q and W^K                                Glorot & Bengio (2010)

                                               α                    β
    N layers of one stack                      (2 N)^(1/4)          (8 N)^(−1/4)
    encoder of N, beside a decoder of M        0.81 (N⁴ M)^(1/16)   0.87 (N⁴ M)^(−1/16)
    decoder of M                               (3 M)^(1/4)          (12 M)^(−1/4)

α and β need the depth of both sides, so they are set with the first weights.

Departs from the paper: embeddings start from N(0, 0.02²), as everywhere here.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from nlmcore.transformer.block import PostNorm
from nlmcore.transformer.config import initialise_normal
from nlmcore.variants.parts import Vectors, attentions


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
    """α of every rule, and first weights, of a model of multi-head attention and feed-forward networks."""
    initialise_normal(model, c)
    for stack, alpha, beta in _sides(model):
        for rule in stack.modules():
            if isinstance(rule, DeepNorm):
                rule.alpha = alpha
        for layer in stack:
            for attention in attentions(layer):
                # Queries and keys only choose what is added, so they are not made lighter.
                for part, gain in ((attention.query, 1.0), (attention.key, 1.0), (attention.value, beta)):
                    nn.init.xavier_normal_(part.weight, gain=gain)
            network = getattr(layer, "feed_forward", None)
            matrices = [] if network is None else [m for m in network.modules() if isinstance(m, nn.Linear)]
            for matrix in (*matrices, *layer.last_matrices()):
                nn.init.xavier_normal_(matrix.weight, gain=beta)


def _sides(model: Any) -> Iterator[tuple[Any, float, float]]:
    """(stack, α, β) of each side. An encoder passed to EncoderDecoder is not there yet and keeps its own."""
    encoder, decoder = (getattr(getattr(model, side, None), "layers", None) for side in ("encoder", "decoder"))
    if decoder is None:
        alone = model.layers if encoder is None else encoder
        n = _depth(alone, 2)  # attention and network: two branches a layer
        yield alone, (2 * n) ** 0.25, (8 * n) ** -0.25
        return
    m = _depth(decoder, 3)  # cross-attention is the third
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
