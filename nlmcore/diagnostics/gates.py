"""What the gates do while a text is read.

    with record_gates(model) as tape:
        model(tokens)
    tape["recurrent.cells.0"]["forget"]        # (batch, time, hidden), each entry in (0, 1)

Any module with an attribute `gate_recorder` takes part: while it is not None, it is called with the gates by name.

Karpathy, Johnson & Fei-Fei (2015), "Visualizing and understanding recurrent networks", section 4.2, read gates
by how often they are saturated: right (> 0.9, an open gate) and left (< 0.1, a closed one). Departs from the paper:
nothing.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
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
