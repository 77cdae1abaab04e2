"""Widgets that answer at once: controls of ipywidgets over the drawings of `nlmcore.show.figures`."""

from nlmcore.show.widgets.explorer import attention_explorer
from nlmcore.show.widgets.live import Live, live, slider
from nlmcore.show.widgets.playgrounds import (
    circuit_player,
    mask_playground,
    query_playground,
    softmax_playground,
    width_playground,
)
from nlmcore.show.widgets.training_curve import TrainingCurve

__all__ = [
    "Live",
    "TrainingCurve",
    "attention_explorer",
    "circuit_player",
    "live",
    "mask_playground",
    "query_playground",
    "slider",
    "softmax_playground",
    "width_playground",
]
