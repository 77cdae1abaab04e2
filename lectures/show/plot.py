"""The one plot under all charts: two axes, a frame, and what is drawn between them.

canvas = Canvas("loss")
plot = Plot(canvas, Axis(0, 100, "step"), Axis(0, 5, "nats"), keys=looks(["training", "held out"]))
plot.line(steps, losses, plot.keys["training"])
canvas.svg(alt="The loss falls from 5 to 2 nats in 100 steps.")
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import BLUE, COLOURS, FAINT, PALE, Canvas, Pixels, label_width, power_of_ten

__all__ = ["Axis", "Look", "Plot", "looks"]

_DASHES = ("", "9 5", "3 4", "12 4 3 4", "2 6", "16 6")


class Look(NamedTuple):
    """How a line and its points are drawn: several are told apart by colour, and by dashes or marks."""

    colour: str = BLUE
    dashes: str = ""
    mark: str = ""
    wide: float | int = 3
    """Of the line; 0: points without a line."""
    bold: bool = False
    """Its name in the legend."""


def looks(names: Iterable[str], marks: Iterable[str] = (), **more: Any) -> dict[str, Look]:
    """A look for each name: by dashes, or by `marks` if there are any."""
    kinds = list(marks)
    return {
        name: Look(COLOURS[i % 7], "" if kinds else _DASHES[i % 6], kinds[i % len(kinds)] if kinds else "", **more)
        for i, name in enumerate(names)
    }


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`, which may be the smaller one."""

    low: float | int
    high: float | int
    title: str = ""
    ticks: Mapping[Any, str] | None = None
    """value -> what is written there; None: round numbers."""
    log: bool = False
    powers: bool = False
    """Values are exponents of ten: written 10ⁿ."""
    grid: bool = True
    turn: float | int = 0
    """Words below the plot are turned by so many degrees."""

    def __post_init__(self) -> None:
        if self.low == self.high or (self.log and min(self.low, self.high) <= 0):
            raise ValueError(f"an axis must have a length, and a logarithmic one be above 0: {self.low} to {self.high}")

    def share(self, value: Any) -> Any:
        """0 at `low`, 1 at `high`."""
        if self.log:
            return np.log(np.asarray(value, dtype=float) / self.low) / math.log(self.high / self.low)
        return (np.asarray(value, dtype=float) - self.low) / (self.high - self.low)

    def marked(self) -> Mapping[Any, str]:
        """value -> words."""
        if self.ticks is not None:
            return self.ticks
        return {tick: power_of_ten(tick) if self.powers else _short(tick) for tick in self._round()}

    def _round(self) -> list[float]:
        low, high = sorted((float(self.low), float(self.high)))
        if self.log:  # powers of two
            exponents = range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1)
            return [2.0**k for k in exponents]
        scale = 10 ** math.floor(math.log10((high - low) / 6))
        step = next(scale * nice for nice in (1, 2, 5, 10) if scale * nice >= (high - low) / 6 * 0.999)
        return [round(k * step, 10) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _short(tick: float) -> str:
    return (f"{tick:,.0f}" if tick == round(tick) and abs(tick) < 1e6 else f"{tick:g}").replace("-", "−")


class Plot:
    """Axes in a rectangle of a canvas, a legend of `keys` above them, and the frame `left, right, top, bottom` between.

    `across` and `down` are the size of the whole with its words, or of the frame alone with `inner=True`.
    """

    def __init__(
        self,
        canvas: Canvas,
        x: Axis,
        y: Axis,
        *,
        left: Pixels = 0,
        top: Pixels | None = None,
        across: Pixels = 560,
        down: Pixels = 380,
        inner: bool = False,
        keys: Mapping[str, Look] | None = None,
        columns: int = 2,
        padding: Pixels = 0,
    ) -> None:
        self.canvas, self.x, self.y, self.keys, self.padding = canvas, x, y, dict(keys or {}), float(padding)
        top = canvas.top if top is None else float(top)
        beside = label_width(y.marked().values()) + (26 if y.title else 0) + 4
        below = (24 if any(x.marked().values()) and not x.turn else 4) + (26 if x.title else 0)
        self.left = float(left) if inner else float(left) + beside
        self.right = self.left + float(across) if inner else float(left) + float(across) - 12
        self.top = top + self._legend(top, columns)
        self.bottom = self.top + float(down) if inner else float(down) - below
        self._axes(below)

    def at(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Where a point lies, or many, in pixels."""
        return self.across(x), self.down(y)

    def across(self, x: Any) -> Any:
        p = self.padding
        return self.left + p + (self.right - self.left - 2 * p) * self.x.share(x)

    def down(self, y: Any) -> Any:
        p = self.padding
        return self.bottom - p - (self.bottom - self.top - 2 * p) * self.y.share(y)

    def contains(self, x: float, y: float) -> bool:
        """Whether a point is inside the frame."""
        return 0 <= self.x.share(x) <= 1 and 0 <= self.y.share(y) <= 1

    def line(self, x: ArrayLike, y: ArrayLike, look: Look = Look()) -> None:  # noqa: B008
        """A line through points; what leaves the frame is cut off, what is not finite is left out."""
        across, up = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        seen = np.isfinite(across) & np.isfinite(up)
        points = np.clip(np.stack(self.at(across[seen], up[seen]), axis=-1), -1e4, 1e4).tolist()
        self.canvas.polyline(points, look.colour, look.wide, dashes=look.dashes, clip_path=self._clip)

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, look: Look = Look()) -> None:  # noqa: B008
        """A pale strip between two lines: the interval of a mean. What leaves the frame is cut off."""
        across, below, above = (np.asarray(values, dtype=float) for values in (x, low, high))
        seen = np.isfinite(across) & np.isfinite(below) & np.isfinite(above)
        x_seen = np.concatenate([across[seen], across[seen][::-1]])
        y_seen = np.clip(self.down(np.concatenate([below[seen], above[seen][::-1]])), self.top, self.bottom)
        if seen.any():
            points = list(zip(self.across(x_seen).tolist(), y_seen.tolist(), strict=True))
            self.canvas.polygon(points, look.colour, opacity=0.18, clip_path=self._clip)

    def marks(self, x: ArrayLike, y: ArrayLike, look: Look = Look(), size: Pixels = 6) -> None:  # noqa: B008
        for a, b in zip(np.asarray(x, dtype=float), np.asarray(y, dtype=float), strict=True):
            if np.isfinite(a) and np.isfinite(b):
                self.canvas.mark(look.mark or "circle", *self.at(a, b), look.colour, size)

    def bar(self, x: Pixels, y: Pixels, wide: Pixels, colour: str = BLUE, says: str = "") -> None:
        """An upright bar from 0 to y, `wide` pixels wide; one that is longer than the axis is cut off."""
        zero, end = self.down(0), float(np.clip(self.down(y), self.top, self.bottom))
        left = self.across(x) - float(wide) / 2
        self.canvas.rect(left, min(zero, end), wide, max(abs(zero - end), 1), colour, says=says)

    def stroke(self, x: Pixels, low: Pixels, high: Pixels, look: Look) -> None:
        """An upright stroke: the interval of a value."""
        ends = (self.across(x), self.down(high)), (self.across(x), self.down(low))
        self.canvas.line(*ends, look.colour, 2, opacity=0.7)

    def level(self, y: Pixels, dashes: str = "", colour: str = FAINT) -> None:
        """A thin line across."""
        self.canvas.line((self.left, self.down(y)), (self.right, self.down(y)), colour, 1.5, dashes=dashes)

    def _legend(self, top: float, columns: int) -> float:
        """Samples and names above the frame; how high they are."""
        columns = min(columns, len(self.keys)) or 1
        width = (self.right - self.left) / columns
        for i, (name, look) in enumerate(self.keys.items()):
            legend_entry(self.canvas, self.left + i % columns * width, top + 24 * (i // columns) + 8, name, look)
        return 24.0 * math.ceil(len(self.keys) / columns)

    def _axes(self, below: float) -> None:
        canvas, ends = self.canvas, (self.left, self.right)
        for value, words in self.y.marked().items():
            y = self.down(value)
            if self.y.grid:
                canvas.line((ends[0], y), (ends[1], y), PALE)
            canvas.text(self.left - 7, y + 5, words, 15, "end")
        for value, words in self.x.marked().items():
            x = self.across(value)
            if self.x.turn:
                canvas.text(x - 6, self.bottom + 18, words, 16, turn=self.x.turn)
            else:
                canvas.text(x, self.bottom + 20, words, 15, "middle")
        place = self.left, self.top, self.right - self.left, self.bottom - self.top
        canvas.rect(*place, stroke=FAINT)
        name = "nlm-frame-" + "-".join(f"{length:.0f}" for length in place)  # the same frame, the same text
        canvas.add(
            f'<clipPath id="{name}"><rect x="{place[0]:.1f}" y="{place[1]:.1f}" width="{place[2]:.1f}"'
            f' height="{place[3]:.1f}"/></clipPath>'
        )
        self._clip = f"url(#{name})"
        if self.x.title:
            canvas.text((self.left + self.right) / 2, self.bottom + below - 4, self.x.title, 15, "middle")
        if self.y.title:
            x = self.left - label_width(self.y.marked().values()) - 14
            canvas.text(x, (self.top + self.bottom) / 2, self.y.title, 15, "middle", turn=-90)


def legend_entry(canvas: Canvas, x: Pixels, y: Pixels, name: str, look: Look) -> None:
    """A sample of a look and its name; y: the middle."""
    if look.wide:
        canvas.line((x, y), (float(x) + 36, y), look.colour, look.wide, dashes=look.dashes)
    if look.mark:
        canvas.mark(look.mark, float(x) + 18, y, look.colour)
    canvas.text(float(x) + 44, float(y) + 5, name, 15, bold=look.bold)
