"""Diagrams of architectures: boxes and arrows."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from numpy.typing import ArrayLike

from nlmcore.show.figures.picture import COLOURS, Picture, drawn, new_picture

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
    picture = new_picture(1.55 * (n + m) + 1.2, 3.6 if weights is None else 4.6, alt)
    ax = picture.subplots()
    ax.set_axis_off()
    ax.set_aspect("equal")
    decoder_from = n + 1.0
    for i, word in enumerate(source):
        _box(ax, i, 0, f"$h_{{{i + 1}}}$", _ENCODER)
        ax.text(i, -0.85, word, ha="center", va="center", fontsize=16)
        _arrow(ax, (i, -0.68), (i, -0.36))
        if i:
            _arrow(ax, (i - 0.64, 0), (i - 0.36, 0))
    for j, word in enumerate(target):
        x = decoder_from + j
        _box(ax, x, 0, f"$s_{{{j + 1}}}$", _DECODER)
        ax.text(x, 0.85, word, ha="center", va="center", fontsize=16)
        _arrow(ax, (x, 0.36), (x, 0.68))
        if j:
            _arrow(ax, (x - 0.64, 0), (x - 0.36, 0))
    if weights is None:
        _box(ax, n, 0, "$c$", _CONTEXT)
        _arrow(ax, (n - 0.64, 0), (n - 0.36, 0))
        _arrow(ax, (n + 0.36, 0), (n + 0.64, 0))
        ax.text(n, -0.85, "one vector", ha="center", va="center", fontsize=15, color=_CONTEXT, fontweight="bold")
        low, high = -1.15, 1.1
    else:
        w = np.asarray(weights, dtype=float)
        if w.shape != (n,):
            raise ValueError(f"encoder_decoder needs one weight per source word, got weights {w.shape} for {n} words")
        _arrow(ax, (n - 0.64, 0), (n + 0.64, 0))
        at = (decoder_from + m - 1, 2.0)
        for i in range(n):
            ax.plot(
                [i, at[0] - 0.3],
                [0.33, at[1] - 0.12],
                color=_CONTEXT,
                linewidth=0.8 + 9 * w[i],
                alpha=0.25 + 0.7 * w[i],
            )
            ax.text(
                i,
                0.55,
                f"{w[i]:.2f}",
                ha="center",
                va="bottom",
                fontsize=14,
                color="black",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
            )
        _box(ax, at[0], at[1], f"$c_{{{m}}}$", _CONTEXT)
        _arrow(ax, (at[0] + 0.33, at[1]), (at[0] + 0.33, 0.0), curve=-0.75)
        low, high = -1.15, 2.5
    ax.set_xlim(-0.6, decoder_from + m + 0.2)
    ax.set_ylim(low, high)
    if title:
        ax.set_title(title)
    return picture


def _box(ax: Axes, x: float | int, y: float | int, words: str, colour: str) -> None:
    ax.add_patch(
        FancyBboxPatch((x - 0.28, y - 0.28), 0.56, 0.56, boxstyle="round,pad=0.05", facecolor=colour, edgecolor="none")
    )
    ax.text(x, y, words, ha="center", va="center", fontsize=17, color="white")


def _arrow(ax: Axes, start: Point, end: Point, curve: float = 0.0) -> None:
    bend = f"arc3,rad={curve}"
    ax.add_patch(
        FancyArrowPatch(
            start, end, connectionstyle=bend, arrowstyle="-|>", mutation_scale=14, linewidth=1.6, color="#444444"
        )
    )
