"""Eigenvalues of the recurrent matrix: time as depth, with the same weights at every step.

    h_t ≈ U h_{t-1}  for small h, so  ∂h_T/∂h_t ≈ U^{T−t}:  it vanishes if every |λ| < 1 and explodes if one is > 1

Pascanu, Mikolov & Bengio (2013), section 2.1. `rescale` sets the largest |λ| (the spectral radius), as echo state
networks do (Jaeger 2001). Departs from the papers: nothing.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from nlmcore.checks import checked


@dataclass(frozen=True)
class Spectrum:
    """What repeated multiplication with a square matrix does."""

    eigenvalues: Complex[Tensor, " n"]  # largest magnitude first
    singular_values: Float[Tensor, " n"]  # largest first: how much one multiplication can stretch a vector
    radius: float  # the largest |λ|: the growth per step in the long run


@checked
def spectrum(matrix: Float[Tensor, "n n"]) -> Spectrum:
    """Eigenvalues, singular values and spectral radius of a finite square matrix."""
    if not matrix.numel() or not torch.isfinite(matrix).all():
        raise ValueError(f"matrix must hold finite values, got {matrix}")
    matrix = matrix.detach()
    eigenvalues = torch.linalg.eigvals(matrix)
    order = eigenvalues.abs().argsort(descending=True)
    return Spectrum(eigenvalues[order], torch.linalg.svdvals(matrix), float(eigenvalues.abs().max()))


@checked
def rescale(matrix: Float[Tensor, "n n"], radius: float | int) -> Tensor:
    """The matrix times the factor that gives it this spectral radius.

    Raises ValueError for a radius that is negative or not finite, or a matrix whose eigenvalues are all 0.
    """
    if not 0 <= radius < math.inf:
        raise ValueError(f"radius must be finite and at least 0, got {radius}")
    now = spectrum(matrix).radius
    if now == 0:
        raise ValueError("matrix has no eigenvalue but 0: no factor gives it a different spectral radius")
    return matrix * (radius / now)


def recurrent_matrices(model: nn.Module) -> dict[str, Tensor]:
    """Every square matrix that multiplies a previous hidden state, by its name in the model; ValueError if none.

    Cells with a method `recurrent_matrices()` name their blocks ("cells.0.forget"); torch.nn's recurrent layers
    and cells are cut into square blocks and numbered in PyTorch's order ("weight_hh_l0.1").
    """
    found: dict[str, Tensor] = {}
    for name, module in model.named_modules():
        prefix = f"{name}." if name else ""
        own = getattr(module, "recurrent_matrices", None)
        if callable(own):
            found |= {prefix + block: matrix.detach() for block, matrix in own().items()}
        elif isinstance(module, nn.RNNBase | nn.RNNCellBase):
            for key, weight in module.named_parameters(recurse=False):
                if key.startswith("weight_hh") and weight.shape[0] % weight.shape[1] == 0:
                    blocks = weight.detach().split(weight.shape[1])
                    found |= {f"{prefix}{key}.{k}": block for k, block in enumerate(blocks)}
    if not found:
        raise ValueError(f"{type(model).__name__} has no recurrent matrix")
    return found
