"""The position-wise feed-forward network of a Transformer layer.

    FFN(x) = W2 · φ(W1 x + b1) + b2          Vaswani et al. (2017), section 3.3, with φ = ReLU

applied to every position alone. BERT and GPT use φ = GELU (Hendrycks & Gimpel 2016).

Departs from the paper: the activation is a part that is handed in.
"""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class FeedForward(nn.Module):
    """W2 φ(W1 x + b1) + b2; x (batch, time, d_model), hidden width d_ff."""

    def __init__(
        self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.gelu, bias: bool = True
    ) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff, bias=bias)
        self.outer = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = activation

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return self.outer(self.activation(self.inner(x)))
