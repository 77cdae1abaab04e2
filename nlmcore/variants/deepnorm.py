"""DeepNorm: post-norm that trains at a thousand layers, by a heavier pathway and lighter branches.

    x ← LN(α x + f(x))                                    Wang et al. (2022), "DeepNet", section 3 and figure 2

    W^V, W^O and both matrices of the feed-forward network     Glorot & Bengio (2010), times β at the start
    W^Q and W^K                                                Glorot & Bengio (2010)

                                          α                    β
    N layers of one stack                 (2 N)^(1/4)          (8 N)^(−1/4)
    encoder of N, beside a decoder of M   0.81 (N⁴ M)^(1/16)   0.87 (N⁴ M)^(−1/16)
    decoder of M                          (3 M)^(1/4)          (12 M)^(−1/4)

One step of gradient descent then changes the output by an amount that does not grow with the depth (section 4), which
is what a warm-up was for. With α = β = 1 it is post-norm.

α and β depend on the depth of both sides, so they are set where the whole model is known: with the first weights.

Departs from the paper: embeddings begin as everywhere here, from N(0, 0.02²).
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.transformer.defaults import initialise_normal


class DeepNorm(nn.Module):
    """LN(α x + f(x)); a rule of `TransformerConfig.residual`. α is 1 (post-norm) until `initialise_deepnorm`."""

    def __init__(self, norm: nn.Module, dropout: float | int = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout, self.alpha = norm, nn.Dropout(dropout), 1.0

    def before(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return x

    def after(
        self, x: Float[Tensor, "batch time d_model"], y: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch time d_model"]:
        return self.norm(self.alpha * x + self.dropout(y))

    def extra_repr(self) -> str:
        return f"alpha={self.alpha:.4g}"


def build_deepnorm(c: Any) -> nn.Module:
    """DeepNorm's rule around one branch; c: a TransformerConfig."""
    return DeepNorm(c.norm(c.d_model), c.dropout)


@torch.no_grad()
def initialise_deepnorm(model: nn.Module, c: Any) -> None:
    """α of every rule, and first weights, of a model whose layers are blocks of multi-head attention."""
    initialise_normal(model, c)
    for stack, alpha, beta in _sides(model):
        for rule in stack.modules():
            if isinstance(rule, DeepNorm):
                rule.alpha = alpha
        for block in stack:
            for attention in (block.attention, getattr(block, "cross_attention", None)):
                if attention is not None:
                    for part, gain in ((attention.query, 1.0), (attention.key, 1.0), (attention.value, beta)):
                        nn.init.xavier_normal_(part.weight, gain=gain)
            matrices = [part.weight for part in block.feed_forward.modules() if isinstance(part, nn.Linear)]
            for matrix in (*matrices, *(last.weight for last in block.last_matrices())):
                nn.init.xavier_normal_(matrix, gain=beta)


def _sides(model: Any) -> Iterator[tuple[Any, float, float]]:
    """(stack, α, β) of each side. An encoder that was handed in is not there yet: it has its own."""
    encoder, decoder = (getattr(getattr(model, side, None), "layers", None) for side in ("encoder", "decoder"))
    if decoder is None:
        alone = model.layers if encoder is None else encoder
        yield alone, (2 * len(alone)) ** 0.25, (8 * len(alone)) ** -0.25
        return
    if encoder is not None:
        both = (len(encoder) ** 4 * len(decoder)) ** (1 / 16)
        yield encoder, 0.81 * both, 0.87 / both
    yield decoder, (3 * len(decoder)) ** 0.25, (12 * len(decoder)) ** -0.25
