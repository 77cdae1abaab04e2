"""softmax(q kᵀ / √d_head + bias) v by PyTorch's fused kernel, which keeps no (query, key) matrix.

The same results as the equation that `MultiHeadAttention` computes while its weights are recorded.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, dropout: float, causal: bool
) -> Tensor:
    """q (batch, head, query, d_head), k and v with as many heads or a divisor of it; mask True = may attend."""
    grouped = k.shape[1] < q.shape[1]
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    elif grouped and mask is None and q.shape[2] == 1:  # one query: a group's heads are rows of one small matrix
        queries = q.reshape(len(q), k.shape[1], -1, q.shape[3])
        return F.scaled_dot_product_attention(queries, k, v, None, dropout).reshape(q.shape)
    return F.scaled_dot_product_attention(q, k, v, mask, dropout, causal, enable_gqa=grouped)
