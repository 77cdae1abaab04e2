"""One Transformer layer: attention, then a feed-forward network, each around a residual pathway.

    post-norm   x ← LN(x + attention(x));   x ← LN(x + FFN(x))         Vaswani et al. (2017), section 3.1
    pre-norm    x ← x + attention(LN(x));   x ← x + FFN(LN(x))         Xiong et al. (2020), GPT-2 and later

The block owns its norms and its residuals, so another rule is another block, not an `if` in this one.

Departs from the papers: nothing.
"""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.transformer.config import TransformerConfig


class Block(nn.Module):
    """A self-attention sublayer and a feed-forward sublayer; x (batch, time, d_model) in and out."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        c = config
        self.attention = c.attention(c.d_model, c.n_heads, c.n_kv_heads, c.dropout)
        self.feed_forward = c.feed_forward(c.d_model, 4 * c.d_model if c.d_ff is None else c.d_ff)
        self.attention_norm = c.norm(c.d_model)
        self.feed_forward_norm = c.norm(c.d_model)
        self.dropout = nn.Dropout(c.dropout)
        self.pre = c.norm_position == "pre"

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        """mask broadcasts to (batch, head, query, key), True = may attend."""
        x = self._residual(x, lambda y: self.attention(y, mask=mask), self.attention_norm)
        return self._residual(x, self.feed_forward, self.feed_forward_norm)

    def _residual(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: nn.Module) -> Tensor:
        if self.pre:
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))
