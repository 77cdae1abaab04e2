"""Widgets that answer at once: controls of ipywidgets over the drawings of `nlmcore.show.figures`."""

from nlmcore.show.widgets.explorer import attention_explorer
from nlmcore.show.widgets.live import Live, live, slider
from nlmcore.show.widgets.playgrounds import mask_playground, query_playground, softmax_playground, width_playground

__all__ = [
    "Live",
    "attention_explorer",
    "live",
    "mask_playground",
    "query_playground",
    "slider",
    "softmax_playground",
    "width_playground",
]
