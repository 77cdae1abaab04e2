"""Normalisation by the root mean square.

    RMSNorm(x) = g ⊙ x / √(mean(x²) + ε)          Zhang & Sennrich (2019), equation 4

LayerNorm without subtracting the mean and without a shift: cheaper, and as good in most language models (Llama, T5,
SmolLM).

Departs from the paper: ε inside the root, which the paper leaves out and every implementation has.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked, described

__all__ = ["RMSNorm"]


class RMSNorm(nn.Module):
    """g ⊙ x / √(mean(x²) + ε) over the last dimension; g (d_model,) starts at 1. Raises ValueError for an ε below 0."""

    @checked
    def __init__(self, d_model: Size, eps: float | int = 1e-6) -> None:
        super().__init__()
        if not eps >= 0:
            raise ValueError(f"eps must be at least 0, got {eps}")
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        if not isinstance(x, Tensor) or not x.is_floating_point():
            raise TypeError(f"x must be a tensor that holds floating-point numbers, got {described(x)}")
        if x.shape[-1:] != self.weight.shape:
            raise ValueError(f"x must have a last dimension of {len(self.weight)}, got shape {tuple(x.shape)}")
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
