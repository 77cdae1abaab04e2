"""Several runs of each of several models: a line for their mean, a band from the lowest to the highest run."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.plot import Axis, Plot, looks
from lectures.show.svg import Canvas, Pixels

__all__ = ["bands_svg", "estimate", "from_to", "mean_from_to"]


def bands_svg(
    x: ArrayLike,
    runs: Mapping[str, ArrayLike],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    low: float | int,
    high: float | int,
    powers: bool = False,
    title: str = "",
    level: float | int | None = None,
    width: Pixels = 820,
    height: Pixels = 430,
    columns: int = 3,
) -> str:
    """A line and a band for each entry of `runs` (seed, x): the mean over the seeds, and all that they reach.

    The y-axis goes from `low` to `high`; powers: y is a power of ten. level: a thin line across, such as guessing.

    Raises ValueError if an entry has fewer than two seeds or another length than x, or alt is empty.
    """
    across = np.asarray(x, dtype=float)
    found = {name: np.asarray(of, dtype=float) for name, of in runs.items()}
    for name, of in found.items():
        if of.ndim != 2 or len(of) < 2 or of.shape[1:] != across.shape:
            raise ValueError(f"{name!r} must hold two seeds or more of {len(across)} values each, got shape {of.shape}")
    canvas = Canvas(title, size=16)
    axes = Axis(float(across.min()), float(across.max()), x_title, grid=False), Axis(low, high, y_title, powers=powers)
    plot = Plot(canvas, *axes, across=width, down=height, keys=looks(found), columns=columns)
    if level is not None:
        plot.level(level)
    for name, of in found.items():
        plot.band(across, of.min(0), of.max(0), plot.keys[name])
    for name, of in found.items():
        plot.line(across, of.mean(0), plot.keys[name])
    return canvas.svg(alt)


def from_to(values: ArrayLike, form: str = "{:.0f}") -> str:
    """The lowest and the highest value as words: "27 to 54"."""
    every = np.asarray(values, dtype=float)
    return f"{form.format(every.min())} to {form.format(every.max())}"


def estimate(value: float, low: float, high: float, form: str = "{:.2f}") -> str:
    """A value with its interval or its range as words: "2.30 (2.26 to 2.36)"."""
    return f"{form} ({form} to {form})".format(value, low, high).replace("-", "−")


def mean_from_to(values: ArrayLike, form: str = "{:.0f}") -> str:
    """The mean with the lowest and the highest value: "31 (27 to 54)"."""
    every = np.asarray(values, dtype=float)
    return estimate(every.mean(), every.min(), every.max(), form)
