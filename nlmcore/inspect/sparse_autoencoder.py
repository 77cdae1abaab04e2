"""A sparse autoencoder: an activation as a sum of few directions out of many, learned from activations only.

    z = TopK(ReLU(E (x − c))),   x' = Dᵀ z + c,   loss = mean ‖x − x'‖²

Sources: Gao et al. (2024), "Scaling and evaluating sparse autoencoders", section 2.3 (TopK instead of a
penalty; E begins as D). Bricken et al. (2023), "Towards Monosemanticity" (directions of length 1, c subtracted
and added).

| symbol | here |
|---|---|
| x, (d) | an activation of the model that is read |
| E, (n, d) | `encoder` |
| D, (n, d), ‖D_i‖ = 1 | `directions`: a row per feature |
| c, (d) | `centre` |
| z, (n), at most k values above 0 | `encode`: the features |

Departs from Gao et al.: no auxiliary loss that revives dead features; the ReLU before TopK keeps every z_i ≥ 0.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from nlmcore.checks import Size, checked


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
