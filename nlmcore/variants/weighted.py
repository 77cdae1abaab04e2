"""The Weighted Transformer: heads are branches with learned weights, each followed by the feed-forward network.

    y = Σ_i α_i FFN(κ_i head_i W^O_i)        i from 1 to M, the heads         Ahmed, Keskar & Socher (2017), section 3
    κ_i > 0,  Σ κ_i = 1,   α_i > 0,  Σ α_i = 1

head_i is that of Vaswani et al. (2017), section 3.2.2, and W^O_i the rows of W^O that it meets there: All M branches
share one feed-forward network, which runs M times: few parameters, many operations. It ends the layer; no other
feed-forward network follows. Where it is max(0, x W1) W2, as in the table, only the products κ_i α_i count. A decoder's
cross-attention is also branched, with a second network, as in Narang et al. (2021), whose table prints 280 M: the 223 M
of the vanilla Transformer, and 12 networks of 4.7 M.

Departs from the paper: κ and α are softmaxes, which start at 1/M; the paper projects onto the simplex after each step.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.transformer.block import last_matrices
from nlmcore.variants.parts import Vectors


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
        each = heads.unflatten(-1, (self.n_heads, -1)) * self.kappa[:, None]  # κ_i head_i, (batch, time, head, d_head)
        # The network reads every branch as a position of its own, (batch, time · head, d_model).
        added = self.feed_forward(self.matrix(each).flatten(1, 2)).unflatten(1, (-1, self.n_heads))
        return torch.einsum("btmd,m->btd", added, self.alpha)  # Σ_i α_i

    def last_matrices(self) -> list[nn.Linear]:
        return last_matrices(self.feed_forward)


def branched(build: Callable[..., Any], c: Any, *causal: bool) -> nn.Module:
    """The attention that build(c, *causal) makes, ended by `Branches`; a part `attention` or `cross_attention`."""
    attention = build(c, *causal)
    attention.output = Branches(c, attention.n_heads, attention.d_head)
    return attention
