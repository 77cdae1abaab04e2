"""ReZero: every branch is multiplied by one learned number that starts at 0.

    x ← x + α · f(norm(x)),   α = 0 at the start          Bachlechner et al. (2021), equation 2 and section 3

A new network of any depth is the identity: a signal and its gradient pass it unchanged, so deep stacks train without
a warm-up of the learning rate. In the first step a gradient reaches the α alone; the branches follow once α ≠ 0.

The paper has no norm: hand in nn.Identity. With a norm it is the rows "Rezero + LayerNorm" and "Rezero + RMS Norm" of
Narang et al. (2021), who keep both.

Departs from the paper: each branch has its own α; the paper's Transformer has one α for both branches of a layer
(section 5), Narang's code one for each.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ReZero(nn.Module):
    """x + α f(norm(x)); a rule of `TransformerConfig.residual`."""

    def __init__(self, norm: nn.Module, dropout: float | int = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout = norm, nn.Dropout(dropout)
        self.alpha = nn.Parameter(torch.zeros(()))

    def pre(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return self.norm(x)

    def post(
        self, x: Float[Tensor, "batch time d_model"], y: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch time d_model"]:
        return x + self.alpha * self.dropout(y)


def build_rezero(c: Any) -> nn.Module:
    """ReZero with the configuration's norm; c: a TransformerConfig."""
    return ReZero(c.norm(c.d_model), c.dropout)
