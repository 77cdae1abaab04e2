"""The loss while a model trains.

curve = TrainingCurve()
display(curve)
fit(model, batches, steps=500, on_step=curve)
"""

import math
import time
from typing import Any

import ipywidgets

from lectures.show import curve_svg


class TrainingCurve(ipywidgets.VBox):
    """A picture that follows the records `nlmcore.training.fit` hands to `on_step`.

    Redrawn at most every `every` seconds, and at each evaluation, so that drawing costs training next to
    nothing; `finish()` draws what came last.
    """

    def __init__(self, title: str = "loss", every: float | int = 0.25) -> None:
        if every < 0:
            raise ValueError(f"every must be seconds of at least 0, got {every}")
        self.losses: list[float] = []
        self.validation: dict[int, float] = {}
        self.title, self.every = title, every
        self._drawn_at = -math.inf
        self.picture = ipywidgets.HTML('<p role="status">training has not begun</p>')
        super().__init__([self.picture])

    def __call__(self, record: Any) -> None:
        """record: anything with `loss`, `step` and `validation` (None where nothing was evaluated)."""
        self.losses.append(float(record.loss))
        if record.validation is not None:
            self.validation[record.step] = float(record.validation)
        if record.validation is not None or time.monotonic() - self._drawn_at >= self.every:
            self.finish()

    def finish(self) -> None:
        """Draw all that has come so far."""
        if self.losses:
            self.picture.value = curve_svg(self.losses, self.validation, title=self.title)
            self._drawn_at = time.monotonic()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        if isinstance(data, dict):
            data["text/html"] = self.picture.value  # what is shown where no kernel runs
        return data
