"""Sandwich order: attention first, feed-forward networks last, as many of each as ever.

    s^k (s f)^(n − k) f^k                                 Press, Smith & Levy (2020), section 4

s is self-attention, f a feed-forward network, each around the residual pathway; k = 0 is the usual order of n layers.
In the paper's language model of n = 16 layers, k = 6 was best: 3/8 of n, which is the rule here. Nothing else changes:
the parameters and the operations are those of the usual stack.

The paper reports gains in language modelling, and none in translation.

A decoder's cross-attention c stays right behind its self-attention: (s c)^k (s c f)^(n − k) f^k.

Departs from the paper: nothing.
"""

from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.transformer import Stack
from nlmcore.transformer.block import last_matrices
from nlmcore.transformer.checks import self_attention


class AttentionLayer(nn.Module):
    """s, or s c: the attention of a block, as a layer by itself. Its state is that of self-attention."""

    def __init__(self, c: Any, causal: bool, cross: bool) -> None:
        super().__init__()
        self.attention, self.residual_attention = self_attention(c, causal), c.residual(c)
        if cross:
            self.cross_attention, self.residual_cross_attention = c.cross_attention(c), c.residual(c)
        self.branches = 2 if cross else 1

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        return self.residual_attention.post(x, self.attention(self.residual_attention.pre(x), mask=mask))

    def step(
        self,
        x: Float[Tensor, "batch time d_model"],
        state: Any = None,
        memory: Memory | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch time d_model"], Any]:
        y, state = self.attention.step(self.residual_attention.pre(x), state)
        x = self.residual_attention.post(x, y)
        if memory is not None:
            y = self.cross_attention.cross_attend(self.residual_cross_attention.pre(x), memory, memory_mask)
            x = self.residual_cross_attention.post(x, y)
        return x, state

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> Memory:
        return self.cross_attention.project_source(source)

    def last_matrices(self) -> list[nn.Linear]:
        return last_matrices(self.attention, getattr(self, "cross_attention", None))


class FeedForwardLayer(nn.Module):
    """f: it sees each position by itself, and remembers nothing of a text or a source."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.feed_forward, self.residual_feed_forward = c.feed_forward(c.d_model, c.hidden_size), c.residual(c)
        self.branches = 1

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        return self.residual_feed_forward.post(x, self.feed_forward(self.residual_feed_forward.pre(x)))

    def step(
        self, x: Float[Tensor, "batch time d_model"], state: None = None, memory: None = None, memory_mask: Any = None
    ) -> tuple[Float[Tensor, "batch time d_model"], None]:
        return self(x), None

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> None:
        return None

    def last_matrices(self) -> list[nn.Linear]:
        return last_matrices(self.feed_forward)


def order(n: int, k: int) -> str:
    """The layers by their letters: order(3, 1) is "ssfsff". Raises ValueError for a k outside [0, n]."""
    if not 0 <= k <= n:
        raise ValueError(f"k must lie in [0, {n}], the number of layers, got {k}")
    return "s" * k + "sf" * (n - k) + "f" * k


def build_sandwich(c: Any, causal: bool, cross: bool, k: int | None = None) -> nn.Module:
    """A part `stack`; k: n_layers · 3/8 unless given, to the nearest, halves up.

    Raises ValueError for a k outside [0, n_layers].
    """
    letters = order(c.n_layers, (3 * c.n_layers + 4) // 8 if k is None else k)
    return Stack(AttentionLayer(c, causal, cross) if kind == "s" else FeedForwardLayer(c) for kind in letters)
