"""What a training run records."""

from dataclasses import dataclass, field
from typing import Literal

Stopped = Literal["steps", "epochs", "patience", "interrupted"]


@dataclass(frozen=True)
class Record:
    """One step, passed to `on_step`: enough to draw a live curve."""

    step: int
    """Updates made so far, this one included."""
    epoch: int
    """Passes over the batches that were complete before this step."""
    loss: float
    """Of this step's batch, before its update."""
    learning_rate: float
    gradient_norm: float
    """Before clipping."""
    seconds: float
    """Since training began, interruptions not counted."""
    validation: float | None
    """The held-out loss, at steps that evaluate."""


@dataclass
class History:
    """The whole run, resumed parts included. Entry i of a list belongs to step i + 1."""

    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)
    validation: dict[int, float] = field(default_factory=dict)
    """step -> held-out loss"""
    best_step: int | None = None
    """The step with the lowest held-out loss."""
    seconds: float = 0.0
    stopped: Stopped | None = None
    """Why training ended: steps or epochs were done, patience was out, or somebody pressed Ctrl-C."""

    @property
    def steps(self) -> int:
        """Updates made."""
        return len(self.losses)
