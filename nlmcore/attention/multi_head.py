"""Attention in several subspaces at once.

    head_i = attention(x W_i^Q, y W_i^K, y W_i^V),   output = [head_1; …; head_h] W^O
                                                     Vaswani et al. (2017), section 3.2.2

Departs from the paper: projections carry a bias unless `bias=False`, as in BERT and in
torch.nn.MultiheadAttention; heads may share keys and values (Shazeer 2019, Ainslie et al. 2023).
"""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention.checks import check_floats
from nlmcore.attention.masks import check_mask
from nlmcore.attention.weighted_sum import scaled_dot_product_attention
from nlmcore.checks import check_dropout, check_sizes


class MultiHeadAttention(nn.Module):
    """Attention in n_heads subspaces at once; the results are concatenated and mixed by one matrix.

        head_i = attention(q W_i^Q, k W_i^K, v W_i^V),   output = [head_1; …; head_h] W^O

    `n_kv_heads` below n_heads lets groups of query heads share keys and values: 1 is multi-query
    (Shazeer 2019), in between is grouped-query attention (Ainslie et al. 2023).

    While `nlmcore.inspect.capture` listens, the weights are computed explicitly and handed to it;
    otherwise PyTorch's fused kernel runs and no (query, key) matrix is kept. Same numbers.

    Raises ValueError if d_model is not divisible by n_heads, or n_heads by n_kv_heads.
    """

    def __init__(
        self, d_model: int, n_heads: int, n_kv_heads: int | None = None, bias: bool = True, dropout: float | int = 0.0
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_sizes(d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
        check_dropout(dropout)
        if d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got d_model={d_model}, n_heads={n_heads}")
        if n_heads % n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got n_heads={n_heads}, n_kv_heads={n_kv_heads}"
            )
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head, self.dropout = d_model // n_heads, dropout
        self.query = nn.Linear(d_model, n_heads * self.d_head, bias=bias)
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.output = nn.Linear(n_heads * self.d_head, d_model, bias=bias)
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        source: Float[Tensor, "batch key d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Read `source` (None: the queries themselves, self-attention) from every position of `query`.

        mask broadcasts to (batch, head, query, key), True = may attend: `causal_mask(n)` as it is, a
        padding mask as `mask[:, None, None, :]`.

        Raises TypeError or ValueError for what does not fit; nothing is broadcast but the mask.
        """
        source = query if source is None else source
        check_floats(query=query, source=source)
        for name, x in (("query", query), ("source", source)):
            if x.ndim != 3 or x.shape[2] != self.d_model or not x.shape[1] or x.shape[0] != query.shape[0]:
                raise ValueError(
                    f"{name} must have shape (batch, time, {self.d_model}), one batch and at least one position,"
                    f" got query {tuple(query.shape)} and source {tuple(source.shape)}"
                )
        q = self._split(self.query(query))  # (batch, head, query, d_head)
        k = self._split(self.key(source))  # (batch, kv_head, key, d_head)
        v = self._split(self.value(source))
        if mask is not None:
            check_mask(mask, (query.shape[0], self.n_heads, query.shape[1], source.shape[1]))
        mixed = self._attend(q, k, v, mask)  # (batch, head, query, d_head)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        """(batch, time, head * d_head) -> (batch, head, time, d_head)."""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if self.recorder is None:
            grouped = self.n_kv_heads < self.n_heads
            return F.scaled_dot_product_attention(q, k, v, mask, dropout, enable_gqa=grouped)
        sharing = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(sharing, dim=1), v.repeat_interleave(sharing, dim=1)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        self.recorder(weights)
        return F.dropout(weights, dropout) @ v if dropout else output
