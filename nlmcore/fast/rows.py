"""A few rows of a linear map, as a linear map.

Self-attention multiplies by W^Q, W^K and W^V at once, so they lie in one matrix. A lecture, a test or a converter that
needs one of the three gets this view. Writing into `weight` writes into the matrix.
"""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn


class Rows:
    """y = x Wᵀ + b, with W and b the rows begin to end of `whole`."""

    def __init__(self, whole: nn.Linear, begin: int, end: int) -> None:
        self.weight: Tensor = whole.weight[begin:end]
        self.bias: Tensor | None = None if whole.bias is None else whole.bias[begin:end]

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


def view_of_rows(part: int) -> Any:
    """A property of multi-head attention: the rows of W^Q (part 0), W^K (1) or W^V (2) in its `projection`."""

    def view(attention: Any) -> Rows:
        own, shared = attention.n_heads * attention.d_head, attention.n_kv_heads * attention.d_head
        edges = (0, own, own + shared, own + 2 * shared)
        return Rows(attention.projection, edges[part], edges[part + 1])

    return property(view)
