"""Charts and heatmaps as figures of matplotlib, for notebooks: the grader can store them as images.

What a key press redraws is text instead (`svg`, `plot`, `charts`, `tables`).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from lectures.show.picture import Picture, drawn, new_picture
from lectures.show.svg import COLOURS, MASKED
from lectures.show.tables import check_labels

__all__ = ["curves", "distance_panels", "head_grid", "heatmap", "heatmaps"]

_SEQUENTIAL, _DIVERGING = "Blues", "RdBu_r"  # both readable for every kind of colour vision
_MARKERS = "osD^vPX*"


# --- charts --------------------------------------------------------------------------------------


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
    """One line per entry over the same x, told apart by colour and by marker; a legend has their names.

    Raises ValueError if a line and x differ in length, or alt is empty.
    """
    across = np.asarray(x, dtype=float)
    picture = new_picture(8.5, 4.8, alt)
    ax = picture.subplots()
    for i, (name, line) in enumerate(lines.items()):
        ax.plot(across, _fitting(name, line, across, "x has"), marker=_MARKERS[i % 8], markersize=8, label=name)
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
def distance_panels(
    distance: ArrayLike, panels: Mapping[str, Mapping[str, ArrayLike]], *, alt: str, x_title: str = ""
) -> Picture:
    """Small charts side by side over one axis of distances; panels: title -> {name of a line: its values}.

    Raises ValueError if a line and the distances differ in length.
    """
    across = np.asarray(distance, dtype=float)
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    picture = new_picture(5.4 * columns, 3.5 * rows, alt)
    axes = picture.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    for ax, (title, lines) in zip(axes, panels.items(), strict=False):
        for name, line in lines.items():
            ax.plot(across, _fitting(name, line, across, "the distances have"), label=name)
        ax.axhline(0, color="#999999", linewidth=1)
        ax.set_title(title)
        ax.grid(alpha=0.3)
        if len(lines) > 1:
            ax.legend(fontsize=13)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    picture.supxlabel(x_title, fontsize=15)
    return picture


def _fitting(name: str, line: ArrayLike, across: np.ndarray, others: str) -> np.ndarray:
    values = np.asarray(line, dtype=float)
    if values.shape != across.shape:
        raise ValueError(f"line {name!r} has shape {values.shape}, {others} {across.shape}")
    return values


# --- heatmaps ------------------------------------------------------------------------------------


@drawn
def heatmap(
    matrix: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    alt: str,
    title: str = "",
    row_title: str = "query",
    column_title: str = "key",
) -> Picture:
    """One matrix (row, column) with labels; numbers are written in up to 8 × 8.

    Raises ValueError if labels and matrix do not fit, or alt is empty.
    """
    return heatmaps([matrix], [title], rows, columns, alt=alt, row_title=row_title, column_title=column_title)


@drawn
def heatmaps(
    matrices: Sequence[ArrayLike],
    titles: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    alt: str,
    row_title: str = "query",
    column_title: str = "key",
) -> Picture:
    """Matrices of one shape side by side, each with its own colour scale (0 is white).

    Raises ValueError if labels, titles and matrices do not fit, or alt is empty.
    """
    arrays = [np.asarray(m, dtype=float) for m in matrices]
    if not arrays or len(arrays) != len(titles):
        raise ValueError(f"heatmaps needs a title for each of at least one matrix, got {len(arrays)} and {len(titles)}")
    for array in arrays:
        check_labels(array, rows, columns)
    longest = max(len(label) for label in [*rows, *columns])
    small = max(arrays[0].shape) <= 8
    cell = 0.62 if small else 0.4
    width = len(arrays) * (cell * len(columns) + 0.7) + 0.11 * longest + 1.0
    picture = new_picture(width, cell * len(rows) + 0.11 * longest + 1.4, alt)
    axes = picture.subplots(1, len(arrays), squeeze=False, sharey=True)[0]
    for ax, array, title in zip(axes, arrays, titles, strict=True):
        low, high = float(np.nanmin(array)), float(np.nanmax(array))
        reach = max(abs(low), abs(high), 1e-9)
        colours = (_DIVERGING, -reach) if low < 0 else (_SEQUENTIAL, 0.0)
        image = ax.imshow(array, cmap=colours[0], vmin=colours[1], vmax=reach, aspect="equal")
        ax.set(title=title, xlabel=column_title, facecolor=MASKED)  # NaN, i.e. masked out
        ax.set_xticks(range(len(columns)), columns, rotation=50, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(len(rows)), rows)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        if not small:
            picture.colorbar(image, ax=ax, shrink=0.8)
            continue
        for (i, j), value in np.ndenumerate(array):
            if not np.isnan(value):
                ink = "white" if abs(value) / reach > 0.67 else "black"
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=12)
    axes[0].set_ylabel(row_title)
    return picture


@drawn
def head_grid(weights: ArrayLike, *, alt: str, title: str = "") -> Picture:
    """Every head of every layer at a glance: weights (layer, head, query, key), one small square each.

    The thin diagonal marks where a token reads itself: left of it lies what comes before.

    Raises ValueError if weights do not have four dimensions, or alt is empty.
    """
    array = np.asarray(weights, dtype=float)
    if array.ndim != 4:
        raise ValueError(f"head_grid needs weights (layer, head, query, key), got shape {array.shape}")
    layers, heads, queries, keys = array.shape
    picture = new_picture(1.05 * heads + 0.6, 1.05 * layers + 0.9, alt)
    axes = picture.subplots(layers, heads, squeeze=False)
    for (layer, head), ax in np.ndenumerate(axes):
        ax.imshow(array[layer, head], cmap=_SEQUENTIAL, vmin=0.0, vmax=1.0)
        ax.plot([-0.5, keys - 0.5], [-0.5, queries - 0.5], color=COLOURS[1], linewidth=0.6)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set(visible=True, color="#999999")
        if layer == 0:
            ax.set_title(f"head {head}", fontsize=17)
        if head == 0:
            ax.set_ylabel(f"layer {layer}", fontsize=17)
    if title:
        picture.suptitle(title)
    return picture
