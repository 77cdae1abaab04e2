"""Sandwich order: attention first, feed-forward networks last, each a layer of its own, with the usual number of each.

    s^k (s f)^(n − k) f^k                                 Press, Smith & Levy (2020), section 4

s is self-attention, f a feed-forward network, each around the residual pathway; k = 0 is the usual order of n layers.
In the paper's language model of n = 16 layers, k = 6 was best: 3/8 of n, the rule here. Cross-attention c follows
self-attention: (s c)^k (s c f)^(n − k) f^k. Section 3 shuffles s and f at random: `stack=partial(build_order,
letters="sffsfs")` has any order and number of them.

Departs from the paper: nothing.
"""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.transformer import DecoderLayer, EncoderLayer
from nlmcore.transformer.block import STACKS, last_matrices
from nlmcore.variants.parts import Mask, Vectors


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
    # The usual layer without its network.
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
    """A part `stack`; k: n_layers · 3/8 unless given, to the nearest, halves up."""
    return build_order(c, causal, cross, order(c.n_layers, (3 * c.n_layers + 4) // 8 if k is None else k))


def build_order(c: Any, causal: bool, cross: bool, letters: str) -> nn.Module:
    """A part `stack`: a layer for each letter, s or f; n_layers has no effect."""
    if not letters or set(letters) - set("sf"):
        raise ValueError(f"letters must be s (self-attention) and f (feed-forward), at least one, got {letters!r}")
    build: dict[str, Any] = {"s": build_attention_layer, "f": build_feed_forward_layer}
    return STACKS[causal](build[letter](c, causal, cross) for letter in letters)
