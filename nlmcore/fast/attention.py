"""Multi-head attention by few calls: PyTorch's fused kernel, and W^Q, W^K and W^V in one matrix.

The kernel keeps no (query, key) matrix, and gives the results of the equation that `MultiHeadAttention` computes while
its weights are recorded. Code that needs one of the three matrices gets a view of its rows, which may be written to.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, dropout: float, causal: bool
) -> Tensor:
    """softmax(q kᵀ / √d_head + bias) v; q (batch, head, query, d_head), k and v with as many heads or a divisor."""
    grouped = k.shape[1] < q.shape[1]
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    elif grouped and mask is None and q.shape[2] == 1:  # one query: a group's heads are rows of one small matrix
        queries = q.reshape(len(q), k.shape[1], -1, q.shape[3])
        return F.scaled_dot_product_attention(queries, k, v, None, dropout).reshape(q.shape)
    return F.scaled_dot_product_attention(q, k, v, mask, dropout, causal, enable_gqa=grouped)


class Rows:
    """y = x Wᵀ + b, with W and b the rows begin to end of `whole`, which is called for them alone."""

    def __init__(self, whole: nn.Linear, begin: int, end: int) -> None:
        self.whole, self.part = whole, slice(begin, end)
        self.weight: Tensor = whole.weight[begin:end]
        self.bias: Tensor | None = None if whole.bias is None else whole.bias[begin:end]

    def __call__(self, x: Tensor) -> Tensor:
        return self.whole(x, self.part)


def view_of_rows(part: int) -> Any:
    """A property of multi-head attention: the rows of W^Q (part 0), W^K (1) or W^V (2) in its `projection`."""

    def view(attention: Any) -> Rows:
        own, shared = attention.n_heads * attention.d_head, attention.n_kv_heads * attention.d_head
        edges = (0, own, own + shared, own + 2 * shared)
        return Rows(attention.projection, edges[part], edges[part + 1])

    return property(view)
