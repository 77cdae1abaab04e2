"""ReZero: every branch is multiplied by one learned number that starts at 0.

    x ← x + α · f(norm(x)),   α = 0 at the start          Bachlechner et al. (2021), equation 2 and section 3

The paper has no norm, so the row "Rezero" has nn.Identity; the rows "Rezero + …" of Narang et al. (2021) keep both.

Departs from the paper: each branch has its own α, as in Narang's code; the paper has one per layer (section 5).
"""

from typing import Any

import torch
from torch import nn

from nlmcore.transformer.block import PreNorm
from nlmcore.variants.parts import Vectors


class ReZero(PreNorm):
    """x + α f(norm(x)); a part `residual`, as are `Fixup` and `DeepNorm`."""

    def __init__(self, c: Any) -> None:
        super().__init__(c.norm(c.d_model), c.dropout)
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, x: Vectors, y: Vectors | None = None) -> Vectors:
        return self.norm(x) if y is None else x + self.alpha * self.dropout(y)
