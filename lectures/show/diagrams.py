"""Diagrams of architectures: boxes and arrows."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS, Picture, drawn, new_picture

Point = tuple[float | int, float | int]

_ENCODER, _DECODER, _CONTEXT = COLOURS[0], COLOURS[1], COLOURS[2]


@drawn
def encoder_decoder(
    source: Sequence[str],
    target: Sequence[str],
    *,
    alt: str,
    weights: ArrayLike | None = None,
    title: str = "",
) -> Picture:
    """An encoder and a decoder unrolled over time.

    weights None: one vector carries the whole source to the decoder (the bottleneck). weights
    (len(source),): the last decoder step reads every encoder state, lines as thick as their weights.

    Raises ValueError if weights and source differ in length, or alt is empty.
    """
    n, m = len(source), len(target)
    picture = new_picture(1.55 * (n + m + 1), 3.0 if weights is None else 4.6, alt)
    ax = picture.subplots()
    ax.set_axis_off()
    ax.set_aspect("equal")
    decoder_from = n + 1.0
    for i, word in enumerate(source):
        _box(ax, i, 0, f"$h_{{{i + 1}}}$", _ENCODER)
        _word(ax, i, word)
        _arrow(ax, (i, -0.68), (i, -0.36))
        if i:
            _arrow(ax, (i - 0.64, 0), (i - 0.36, 0))
    for j, word in enumerate(target):
        x = decoder_from + j
        _box(ax, x, 0, f"$s_{{{j + 1}}}$", _DECODER)
        _word(ax, x, word)
        _arrow(ax, (x, -0.36), (x, -0.68))
        if j:
            _arrow(ax, (x - 0.64, 0), (x - 0.36, 0))
    if weights is None:
        _box(ax, n, 0, "$c$", _CONTEXT)
        _arrow(ax, (n - 0.64, 0), (n - 0.36, 0))
        _arrow(ax, (n + 0.36, 0), (n + 0.64, 0))
        ax.text(n, -0.85, "one vector", ha="center", va="center", fontsize=15, color="#006B4F", fontweight="bold")
    else:
        _draw_context(ax, np.asarray(weights, dtype=float), n, m)
    ax.set_xlim(-0.6, decoder_from + m - 0.4)
    ax.set_ylim(-1.15, 0.5 if weights is None else 2.5)
    if title:
        ax.set_title(title)
    return picture


def _draw_context(ax: Axes, weights: np.ndarray, n: int, m: int) -> None:
    """The context of the last decoder step, above it: what it reads, and what asks for it."""
    if weights.shape != (n,):
        raise ValueError(f"encoder_decoder needs one weight per source word, got weights {weights.shape} for {n} words")
    x, y = n + m, 2.0
    _arrow(ax, (n - 0.64, 0), (n + 0.64, 0))
    for i, weight in enumerate(weights):
        ax.plot([i, x - 0.3], [0.33, y - 0.12], color=_CONTEXT, linewidth=0.8 + 9 * weight, alpha=0.25 + 0.7 * weight)
        background = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        ax.text(i, 0.55, f"{weight:.2f}", ha="center", va="bottom", fontsize=15, color="black", bbox=background)
    _box(ax, x, y, f"$c_{{{m}}}$", _CONTEXT)
    _arrow(ax, (x, y - 0.36), (x, 0.36))
    if m > 1:
        _arrow(ax, (x - 1 + 0.12, 0.36), (x - 0.2, y - 0.36), dashed=True)
        ax.text(x - 0.7, 1.05, "asks", ha="right", va="center", fontsize=15, style="italic")
    ax.text(x + 0.08, 1.05, "gives", ha="left", va="center", fontsize=15, style="italic")


def _word(ax: Axes, x: float | int, word: str) -> None:
    ax.text(x, -0.87, word, ha="center", va="center", fontsize=16)


def _box(ax: Axes, x: float | int, y: float | int, words: str, colour: str) -> None:
    ax.add_patch(
        FancyBboxPatch((x - 0.28, y - 0.28), 0.56, 0.56, boxstyle="round,pad=0.05", facecolor=colour, edgecolor="none")
    )
    ax.text(x, y, words, ha="center", va="center", fontsize=17, color="white")


def _arrow(ax: Axes, start: Point, end: Point, dashed: bool = False) -> None:
    line = "dashed" if dashed else "solid"
    ax.add_patch(
        FancyArrowPatch(start, end, linestyle=line, arrowstyle="-|>", mutation_scale=14, linewidth=1.6, color="#444444")
    )
