"""A matplotlib figure that carries its own alternative text and looks the same everywhere.

It shows itself as SVG inside an `<img alt="…">`, so a screen reader speaks it and a projector does not blur
it. No pyplot: nothing is kept in a global list, nothing needs closing.
"""

import base64
import html
import io
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.text import Text

from lectures.show.svg import COLOURS

__all__ = ["Picture"]

P = ParamSpec("P")

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "nlmcourse",  # names inside the drawing: the same picture is the same text in every run
    "font.size": 15,  # read from the back row
    "axes.titlesize": 16,
    "axes.labelsize": 15,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "lines.linewidth": 2.5,
    "legend.frameon": False,
}


class Picture(Figure):
    """A Figure with `alt`, a sentence that describes it."""

    alt: str = ""

    def svg(self) -> str:
        """The picture as SVG text."""
        buffer = io.StringIO()
        with matplotlib.rc_context(STYLE):
            self.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
        return buffer.getvalue()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        data = base64.b64encode(self.svg().encode()).decode()
        points = min((float(text.get_fontsize()) for text in self.findobj(Text) if text.get_text()), default=15)
        look = f'src="data:image/svg+xml;base64,{data}" data-letters="{points * 4 / 3:.0f}" style="max-width:100%;background:#fff"'
        return {"text/html": f'<img alt="{html.escape(self.alt)}" {look}>', "text/plain": f"[picture: {self.alt}]"}


def drawn(function: Callable[P, Picture]) -> Callable[P, Picture]:
    """Draw with the course's fonts and colours, and refuse a picture without alternative text."""

    @wraps(function)
    def draw(*args: P.args, **kwargs: P.kwargs) -> Picture:
        with matplotlib.rc_context(STYLE):
            picture = function(*args, **kwargs)
        if not picture.alt.strip():
            raise ValueError(f"{function.__name__} needs alternative text: alt='what the picture shows'")
        return picture

    return draw


def new_picture(width: float | int, height: float | int, alt: str) -> Picture:
    """An empty picture of so many inches, laid out so that labels never overlap the axes."""
    picture = Picture(figsize=(width, height), layout="constrained")
    picture.alt = alt
    return picture
