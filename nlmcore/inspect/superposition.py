"""Superposition, in the smallest model that shows it: n features stored in d < n dimensions and read back.

    h = W x,   x' = ReLU(Wᵀ h + b),   loss = mean Σ_i I_i (x_i − x'_i)²

Source: Elhage et al. (2022), "Toy Models of Superposition", sections "Demonstrating Superposition" and "The Geometry of
Superposition". A feature x_i is 0 with probability S, the sparsity, else uniform in [0, 1]. Its direction is the column
W_i; if two columns are not orthogonal, the features disturb each other (interference).

| symbol | here |
|---|---|
| W, (d, n), b | `weight`, `bias` |
| I_i | `importance` |
| S | `sparsity` |
| D_i = ‖W_i‖² / Σ_j (Ŵ_i · W_j)² | `dimensionality`: the fraction of a dimension that feature i has |

All take several models at once, as leading axes of W. Departs from the paper: nothing.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Probability, Size, checked


def reconstruct(
    x: Float[Tensor, "*model batch n"], weight: Float[Tensor, "*model d n"], bias: Float[Tensor, "*model n"]
) -> Float[Tensor, "*model batch n"]:
    """Wᵀ W x + b, before the ReLU: all that a linear model can do."""
    return x @ weight.mT @ weight + bias[..., None, :]  # (batch, n) -> (batch, d) -> (batch, n)


@checked
def sparse_features(shape: tuple[int, ...], sparsity: Probability, generator: torch.Generator | None = None) -> Tensor:
    """Independent features of this shape, each 0 with probability `sparsity`, else uniform in [0, 1]."""
    present = torch.rand(shape, generator=generator) >= sparsity
    return torch.rand(shape, generator=generator) * present


@checked
def dimensionality(weight: Float[Tensor, "*model d n"]) -> Float[Tensor, "*model n"]:
    """D_i of each feature; 0 for a feature without a direction. They add up to at most d."""
    squares = weight.square().sum(-2)  # ‖W_i‖²
    shared = (weight.mT @ weight).square().sum(-1)  # ‖W_i‖² Σ_j (Ŵ_i · W_j)²
    return torch.where(shared > 0, squares.square() / shared.clamp(min=torch.finfo(shared.dtype).tiny), 0.0)


class ToyAutoencoder(nn.Module):
    """x' of so many features; relu=False: the linear model, the control. models: how many at once."""

    @checked
    def __init__(self, n_features: Size, d_hidden: Size, relu: bool = True, models: Size = 1) -> None:
        super().__init__()
        self.relu = relu
        self.weight = nn.Parameter(torch.randn(models, d_hidden, n_features) / n_features**0.5)
        self.bias = nn.Parameter(torch.zeros(models, n_features))

    def forward(self, x: Float[Tensor, "models batch n"]) -> Float[Tensor, "models batch n"]:
        y = reconstruct(x, self.weight, self.bias)
        return y.relu() if self.relu else y

    def loss(self, x: Float[Tensor, "models batch n"], importance: Float[Tensor, " n"]) -> Float[Tensor, " models"]:
        return (importance * (x - self(x)).square()).sum(-1).mean(-1)
