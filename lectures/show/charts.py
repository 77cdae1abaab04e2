"""Curves and bars as matplotlib figures."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from lectures.show.picture import Picture, drawn, new_picture

_MARKERS = "osD^vPX*"


@drawn
def curves(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    title: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Picture:
    """One line per entry over the same x, told apart by colour and by marker; names stand in a legend.

    Raises ValueError if a line and x differ in length, or alt is empty.
    """
    across = np.asarray(x, dtype=float)
    picture = new_picture(8.5, 4.8, alt)
    ax = picture.subplots()
    for (name, line), marker in zip(lines.items(), _MARKERS * (1 + len(lines) // len(_MARKERS)), strict=False):
        y = np.asarray(line, dtype=float)
        if y.shape != across.shape:
            raise ValueError(f"line {name!r} has shape {y.shape}, x has {across.shape}")
        ax.plot(across, y, marker=marker, markersize=8, label=name)
    ax.set(xlabel=x_title, ylabel=y_title, title=title)
    if not log_x and np.array_equal(across, np.round(across)):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))  # there is no half a layer
    if log_x:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if log_y:
        ax.set_yscale("log")
    ax.grid(alpha=0.3)
    if len(lines) > 1 or any(lines):
        picture.legend(loc="outside upper left", ncols=2 if len(lines) > 2 else 1)  # never over a line
    return picture


@drawn
def bars(values: ArrayLike, labels: Sequence[str], *, alt: str, y_title: str = "", title: str = "") -> Picture:
    """One bar per value with its number above. Raises ValueError if lengths differ, or alt is empty."""
    heights = np.asarray(values, dtype=float)
    if heights.shape != (len(labels),):
        raise ValueError(f"bars needs one label per value, got values {heights.shape} and {len(labels)} labels")
    picture = new_picture(max(5.0, 1.3 * len(labels)), 4.2, alt)
    ax = picture.subplots()
    drawn_bars = ax.bar(range(len(labels)), heights)
    ax.bar_label(drawn_bars, [f"{h:.2f}" for h in heights], padding=3)
    ax.set_xticks(range(len(labels)), labels)
    ax.set(ylabel=y_title, title=title)
    ax.margins(y=0.15)
    return picture
