"""One Transformer layer: attention, then a feed-forward network, each around a residual pathway.

    self-attention     x ← around(x, attention)
    cross-attention    x ← around(x, look at the source)         in the decoder of an encoder-decoder only
    feed-forward       x ← around(x, FFN)                        Vaswani et al. (2017), section 3.1

with `around` a rule of `residual`: post-norm, pre-norm, or another that is handed in. The block owns its norms and its
residuals, so another order of things (parallel branches, a sandwich) is another block, not an `if` in this one.

    y = block(x, mask)                       every position sees every other: an encoder
    y, state = block.read(x, state)          every position sees what came before: a language model

Departs from the paper: dropout falls on the attention weights too, as in the authors' code; the feed-forward network is
the configuration's, with GELU by default (2017: ReLU).
"""

from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory


class Block(nn.Module):
    """Self-attention, cross-attention if `cross`, feed-forward; x (batch, time, d_model) in and out.

    c: a TransformerConfig. causal: whether it is going to `read`.
    """

    def __init__(self, c: Any, causal: bool = False, cross: bool = False) -> None:
        super().__init__()
        self.attention = c.attention(c, causal)
        self.around_attention = c.residual(c)
        if cross:
            self.cross_attention = c.cross_attention(c)
            self.around_cross_attention = c.residual(c)
        self.feed_forward = c.feed_forward(c.d_model, c.hidden_size)
        self.around_feed_forward = c.residual(c)
        self.branches = 3 if cross else 2
        """How many sublayers add to the residual pathway."""

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        """mask broadcasts to (batch, head, query, key), True = may attend."""
        x = self.around_attention.after(x, self.attention(self.around_attention.before(x), mask=mask))
        return self._feed_forward(x)

    def read(
        self,
        x: Float[Tensor, "batch time d_model"],
        state: Any = None,
        memory: Memory | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch time d_model"], Any]:
        """Read on from `state`, looking at `memory`, the source as `remember` gave it, where the block does that."""
        y, state = self.attention.read(self.around_attention.before(x), state)
        x = self.around_attention.after(x, y)
        if memory is not None:
            y = self.cross_attention.look(self.around_cross_attention.before(x), memory, memory_mask)
            x = self.around_cross_attention.after(x, y)
        return self._feed_forward(x), state

    def remember(self, source: Float[Tensor, "batch source d_model"]) -> Memory:
        """The encoder's output as this layer will look at it: its keys and values, computed once."""
        return self.cross_attention.remember(source)

    def last_matrices(self) -> list[nn.Linear]:
        """The linear maps that end each branch: `output` of attention, `outer` of the feed-forward network.

        A part that was handed in and ends in others, or in several (experts), says so by its own `last_matrices()`.
        """
        found: list[Any] = []
        for name, last in (("attention", "output"), ("cross_attention", "output"), ("feed_forward", "outer")):
            part: Any = getattr(self, name, None)
            found += part.last_matrices() if hasattr(part, "last_matrices") else [getattr(part, last, None)]
        return [last for last in found if isinstance(last, nn.Linear)]

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.around_feed_forward.after(x, self.feed_forward(self.around_feed_forward.before(x)))
