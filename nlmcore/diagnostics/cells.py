"""What a recurrent cell does: its gates while a text is read, and the matrices that act at every step.

    with record_gates(model) as tape:
        model(tokens)
    tape["recurrent.cells.0"]["forget"]        # (batch, time, hidden), each entry in (0, 1)

Any module with an attribute `gate_recorder` takes part: while it is not None, it is called with the gates by name.

Karpathy, Johnson & Fei-Fei (2015), "Visualizing and understanding recurrent networks", section 4.2, read gates
by how often they are saturated: right (> 0.9, an open gate) and left (< 0.1, a closed one). Departs from the paper:
nothing.

**Eigenvalues of the recurrent matrix**: time as depth, with the same weights at every step.

    h_t ≈ U h_{t-1}  for small h, so  ∂h_T/∂h_t ≈ U^{T−t}:  it vanishes if every |λ| < 1 and explodes if one is > 1

Pascanu, Mikolov & Bengio (2013), section 2.1. `rescale` sets the largest |λ| (the spectral radius), as echo state
networks do (Jaeger 2001). Departs from the papers: nothing.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from nlmcore.checks import checked


class GateTape(Mapping[str, dict[str, Tensor]]):
    """What was seen, by the cell's name in the model; several calls in a row are joined in time."""

    def __init__(self, watched: list[str]) -> None:
        self.watched = watched
        self._seen: dict[str, list[dict[str, Tensor]]] = {}

    def record(self, name: str, gates: dict[str, Tensor]) -> None:
        self._seen.setdefault(name, []).append({gate: values.detach() for gate, values in gates.items()})

    def __getitem__(self, name: str) -> dict[str, Tensor]:
        if name not in self._seen:
            raise KeyError(f"{name!r} recorded no gates; the tape holds {list(self)}, the model has {self.watched}")
        calls = self._seen[name]
        return {gate: torch.cat([call[gate] for call in calls], dim=1) for gate in calls[0]}

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)


@contextmanager
def record_gates(model: nn.Module) -> Iterator[GateTape]:
    """Record the gates of every cell that runs inside the `with`. Raises ValueError if the model has none."""
    watched = {name: module for name, module in model.named_modules() if hasattr(module, "gate_recorder")}
    if not watched:
        raise ValueError(f"{type(model).__name__} has no cell whose gates can be recorded")
    tape = GateTape(list(watched))
    before = {name: module.gate_recorder for name, module in watched.items()}
    for name, module in watched.items():
        module.gate_recorder = partial(tape.record, name)  # type: ignore[assignment]
    try:
        yield tape
    finally:
        for name, module in watched.items():
            module.gate_recorder = before[name]  # type: ignore[assignment]


def gate_activations(model: nn.Module, *inputs: Any) -> dict[str, dict[str, Tensor]]:
    """`model(*inputs)` without gradients; for each cell by name its gates by name, each (batch, time, hidden)."""
    with torch.no_grad(), record_gates(model) as tape:
        model(*inputs)
    return dict(tape)


@checked
def saturation(
    activations: Float[Tensor, "batch time hidden"], low: float | int = 0.1, high: float | int = 0.9
) -> tuple[Float[Tensor, " hidden"], Float[Tensor, " hidden"]]:
    """For each unit, how often its gate is closed (below `low`) and how often open (above `high`): (left, right).

    Raises ValueError unless 0 ≤ low < high ≤ 1, or for activations outside [0, 1].
    """
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"low and high must satisfy 0 <= low < high <= 1, got low={low}, high={high}")
    if not activations.numel():
        raise ValueError(f"activations must hold at least one value, got shape {tuple(activations.shape)}")
    if not ((activations >= 0) & (activations <= 1)).all():
        low, high = float(activations.min()), float(activations.max())
        raise ValueError(f"activations must be those of a gate, in [0, 1], got {low:g} to {high:g}")
    return (activations < low).float().mean((0, 1)), (activations > high).float().mean((0, 1))


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
