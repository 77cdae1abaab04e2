"""Features: more of them than dimensions, stored in a toy model, and looked for in activations.

**Superposition**: n features stored in d < n dimensions and read back.

    h = W x,   x' = ReLU(Wᵀ h + b),   loss = mean Σ_i I_i (x_i − x'_i)²

Source: Elhage et al. (2022), "Toy Models of Superposition", sections "Demonstrating Superposition" and "The Geometry of
Superposition". A feature x_i is 0 with probability S, the sparsity, else uniform in [0, 1]. Its direction is the column
W_i. All take several models at once, as leading axes of W. D_i = ‖W_i‖² / Σ_j (Ŵ_i · W_j)², `dimensionality`, is the
fraction of a dimension that feature i has. Departs from the paper: nothing.

Symbols: W (d, n) is `weight`, b `bias`, I_i `importance`, S `sparsity`.

**A sparse autoencoder**: an activation as a sum of few directions out of many, learned from activations only.

    z = TopK(ReLU(E (x − c))),   x' = Dᵀ z + c,   loss = mean ‖x − x'‖²

Sources: Gao et al. (2024), "Scaling and evaluating sparse autoencoders", section 2.3 (TopK instead of a penalty; E
begins as D). Bricken et al. (2023), "Towards Monosemanticity" (directions of length 1, c subtracted and added).

Symbols: E (n, d) is `encoder`, D (n, d), ‖D_i‖ = 1, `directions`, c (d) `centre`; z, at most k values above 0, is what
`encode` gives of an activation x.

Departs from Gao et al.: no auxiliary loss that revives dead features; the ReLU before TopK keeps every z_i ≥ 0.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

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


@checked
def keep_largest(z: Float[Tensor, "*batch n"], k: Size) -> Float[Tensor, "*batch n"]:
    """TopK: the k largest values of each row, 0 elsewhere. Raises ValueError if a row has fewer than k."""
    if k > z.shape[-1]:
        raise ValueError(f"k must be at most the number of features, {z.shape[-1]}, got {k}")
    values, places = z.topk(k, dim=-1)
    return torch.zeros_like(z).scatter(-1, places, values)


class SparseAutoencoder(nn.Module):
    """`n_features` directions in d_model dimensions, k of them for each activation."""

    @checked
    def __init__(self, d_model: Size, n_features: Size, k: Size) -> None:
        super().__init__()
        self.k = k
        self.directions = nn.Parameter(F.normalize(torch.randn(n_features, d_model), dim=-1))
        self.encoder = nn.Parameter(self.directions.detach().clone())
        self.centre = nn.Parameter(torch.zeros(d_model))

    def encode(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch n_features"]:
        return keep_largest(((x - self.centre) @ self.encoder.T).relu(), self.k)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.encode(x) @ self.directions + self.centre

    @torch.no_grad()
    def normalise(self) -> None:
        """Every direction back to length 1: after each step, since a longer one allows smaller features."""
        self.directions.copy_(F.normalize(self.directions, dim=-1))


@torch.no_grad()
def unexplained(x: Float[Tensor, "batch d_model"], reconstruction: Float[Tensor, "batch d_model"]) -> float:
    """The fraction of the variance of x that a reconstruction leaves: 0 if perfect, 1 for the mean of x."""
    return float((x - reconstruction).square().sum() / (x - x.mean(0)).square().sum())
