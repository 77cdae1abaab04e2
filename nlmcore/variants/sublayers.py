"""Attention and feed-forward networks as separate layers: Sandwich order and the Weighted Transformer.

**Sandwich**: attention first, feed-forward networks last, with the usual number of each.

    s^k (s f)^(n − k) f^k                                 Press, Smith & Levy (2020), section 4

s is self-attention, f a feed-forward network, each around the residual pathway; k = 0 is the usual order of n layers.
In the paper's language model of n = 16 layers, k = 6 was best: 3/8 of n, the rule here. The paper reports gains in
language modelling, but none in translation. Cross-attention c follows self-attention: (s c)^k (s c f)^(n − k) f^k.
Section 3 shuffles s and f at random: `stack=partial(build_order, letters="sffsfs")` has any order and number of them.
Departs from the paper: nothing.

**Weighted**: heads are branches with learned weights, each followed by the feed-forward network.

    y = Σ_i α_i FFN(κ_i head_i W^O_i)        i from 1 to M, the heads         Ahmed, Keskar & Socher (2017), section 3
    κ_i > 0,  Σ κ_i = 1,   α_i > 0,  Σ α_i = 1

head_i is that of Vaswani et al. (2017), section 3.2.2, and W^O_i the rows of W^O that it meets there: 2 M parameters
are new. All M branches share one feed-forward network, which runs M times: few parameters, many operations. It
ends the layer; no other feed-forward network follows. Where it is max(0, x W1) W2, as in the table, only the products
κ_i α_i count. A decoder's cross-attention is also branched, with a second network, as in Narang et al. (2021), whose
table prints 280 M: the 223 M of the vanilla Transformer, and 12 networks of 4.7 M.

Departs from the paper: κ and α are softmaxes, which start at 1/M; the paper projects onto the simplex after each step.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.transformer import DecoderLayer, EncoderLayer
from nlmcore.transformer.block import STACKS, last_matrices
from nlmcore.variants.shapes import Mask, Vectors


class FeedForwardLayer(nn.Module):
    """f of an encoder."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.feed_forward, self.residual_feed_forward = c.feed_forward(c.d_model, c.hidden_size), c.residual(c)
        self.branches = 1

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        return self.transform(x)

    def transform(self, x: Vectors) -> Vectors:
        return self.residual_feed_forward(x, self.feed_forward(self.residual_feed_forward(x)))

    def last_matrices(self) -> list[nn.Linear]:
        return last_matrices(self.feed_forward)


class FeedForwardDecoderLayer(FeedForwardLayer):
    """f of a decoder: it has no state, and nothing to ask of a source."""

    def forward(self, x: Vectors, *unused: Any) -> tuple[Vectors, None]:  # type: ignore[override]
        return self.transform(x), None

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> None:
        return None


def build_attention_layer(c: Any, causal: bool, cross: bool) -> nn.Module:
    """s, with cross-attention if there is a source; a part `block`."""
    return DecoderLayer(c, cross, feed_forward=False) if causal else EncoderLayer(c, feed_forward=False)


def build_feed_forward_layer(c: Any, causal: bool, cross: bool) -> nn.Module:
    """f."""
    return FeedForwardDecoderLayer(c) if causal else FeedForwardLayer(c)


def order(n: int, k: int) -> str:
    """The letters of the layers: order(3, 1) is "ssfsff". Raises ValueError for a k outside [0, n]."""
    if not 0 <= k <= n:
        raise ValueError(f"k must lie in [0, {n}], the number of layers, got {k}")
    return "s" * k + "sf" * (n - k) + "f" * k


def build_sandwich(c: Any, causal: bool, cross: bool, k: int | None = None) -> nn.Module:
    """A part `stack`; k: n_layers · 3/8 unless given, to the nearest, halves up. Raises ValueError as `order` does."""
    return build_order(c, causal, cross, order(c.n_layers, (3 * c.n_layers + 4) // 8 if k is None else k))


def build_order(c: Any, causal: bool, cross: bool, letters: str) -> nn.Module:
    """A part `stack`: a layer for each letter, s or f; n_layers has no effect. Raises ValueError for other letters."""
    if not letters or set(letters) - set("sf"):
        raise ValueError(f"letters must be s (self-attention) and f (feed-forward), at least one, got {letters!r}")
    build: dict[str, Any] = {"s": build_attention_layer, "f": build_feed_forward_layer}
    return STACKS[causal](build[letter](c, causal, cross) for letter in letters)


class HeadByHead(nn.Linear):
    """Each head (batch, time, head, d_head) times its own rows of W^O, not yet summed."""

    def forward(self, heads: Float[Tensor, "batch time head d_head"]) -> Float[Tensor, "batch time head d_model"]:
        return torch.einsum("btmh,dmh->btmd", heads, self.weight.unflatten(1, heads.shape[2:]))


class Branches(nn.Module):
    """Σ_i α_i FFN(κ_i head_i W^O_i), in place of [head_1; …; head_M] W^O; c: a TransformerConfig."""

    def __init__(self, c: Any, n_heads: int, d_head: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.matrix = HeadByHead(n_heads * d_head, c.d_model, bias=False)
        self.feed_forward = c.feed_forward(c.d_model, c.hidden_size)
        self.kappa_logits, self.alpha_logits = (nn.Parameter(torch.zeros(n_heads)) for _ in range(2))

    @property
    def kappa(self) -> Float[Tensor, " branch"]:
        return self.kappa_logits.softmax(0)

    @property
    def alpha(self) -> Float[Tensor, " branch"]:
        return self.alpha_logits.softmax(0)

    def forward(self, heads: Float[Tensor, "batch time width"]) -> Vectors:
        each = heads.unflatten(-1, (self.n_heads, -1)) * self.kappa[:, None]
        added = self.feed_forward(self.matrix(each).flatten(1, 2)).unflatten(1, (-1, self.n_heads))
        return torch.einsum("btmd,m->btd", added, self.alpha)

    def last_matrices(self) -> list[nn.Linear]:
        return last_matrices(self.feed_forward)


def branched(build: Callable[..., Any], c: Any, *causal: bool) -> nn.Module:
    """The attention that build(c, *causal) makes, ended by `Branches`; a part `attention` or `cross_attention`."""
    attention = build(c, *causal)
    attention.output = Branches(c, attention.n_heads, attention.d_head)
    return attention
