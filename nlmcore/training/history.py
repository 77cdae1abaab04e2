"""What a training run records."""

from dataclasses import dataclass, field
from typing import Literal

from nlmcore.pictures import Picture, curves

Stopped = Literal["steps", "epochs", "interrupted"]  # why training ended; interrupted: by Ctrl-C or by `on_step`


@dataclass(frozen=True)
class Record:
    """One step, passed to `on_step`: enough to draw a live curve.

    `step` counts from 1, `epoch` from 0. The loss is that of the step's batch before its update, the gradient's norm
    that before clipping, `validation` the held-out loss at steps that evaluate.
    """

    step: int
    epoch: int
    loss: float
    learning_rate: float
    gradient_norm: float
    seconds: float  # since training began, interruptions not counted
    validation: float | None


@dataclass(repr=False)
class History:
    """The whole run, resumed parts included. Entry i of a list belongs to step i + 1."""

    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)
    validation: dict[int, float] = field(default_factory=dict)  # step -> held-out loss
    best_step: int | None = None  # the step with the lowest held-out loss
    seconds: float = 0.0
    stopped: Stopped | None = None

    @property
    def steps(self) -> int:
        """Updates made."""
        return len(self.losses)

    def plot(self) -> Picture:
        """The loss of every step, and the held-out loss. Raises ValueError before the first step."""
        return curves({"training": dict(enumerate(self.losses, 1)), "held out": self.validation})

    def __repr__(self) -> str:
        """One line: a run at the end of a notebook's cell should not print every loss."""
        if not self.losses:
            return "History(no step yet)"
        held_out = "" if self.best_step is None else f", held out {self.validation[self.best_step]:.4g} at best"
        loss = f"loss {self.losses[0]:.4g} to {self.losses[-1]:.4g}{held_out}"
        return f"History({self.steps} steps in {self.seconds:.0f} s, {loss}, stopped: {self.stopped})"
