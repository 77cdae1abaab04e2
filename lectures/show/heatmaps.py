"""Heatmaps as matplotlib figures: attention weights, scores, masks."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS, Picture, drawn, new_picture
from lectures.show.svg import check_labels

SEQUENTIAL, DIVERGING = "Blues", "RdBu_r"  # both readable for every kind of colour vision


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
    cell = 0.62 if max(arrays[0].shape) <= 8 else 0.4
    width = len(arrays) * (cell * len(columns) + 0.7) + 0.11 * longest + 1.0
    height = cell * len(rows) + 0.11 * longest + 1.4
    picture = new_picture(width, height, alt)
    axes = picture.subplots(1, len(arrays), squeeze=False, sharey=True)[0]
    for ax, array, title in zip(axes, arrays, titles, strict=True):
        image = _one(ax, array, rows, columns, numbers=max(array.shape) <= 8)
        ax.set_title(title)
        ax.set_xlabel(column_title)
        if max(array.shape) > 8:
            picture.colorbar(image, ax=ax, shrink=0.8)
    axes[0].set_ylabel(row_title)
    return picture


@drawn
def head_grid(weights: ArrayLike, *, alt: str, title: str = "") -> Picture:
    """Every head of every layer at a glance: weights (layer, head, query, key), one small square each.

    The thin diagonal marks where a token reads itself: left of it lies what comes before.

    Raises ValueError if weights have another number of dimensions, or alt is empty.
    """
    array = np.asarray(weights, dtype=float)
    if array.ndim != 4:
        raise ValueError(f"head_grid needs weights (layer, head, query, key), got shape {array.shape}")
    layers, heads, queries, keys = array.shape
    picture = new_picture(1.05 * heads + 0.6, 1.05 * layers + 0.9, alt)
    axes = picture.subplots(layers, heads, squeeze=False)
    for layer in range(layers):
        for head in range(heads):
            ax = axes[layer, head]
            ax.imshow(array[layer, head], cmap=SEQUENTIAL, vmin=0.0, vmax=1.0)
            ax.plot([-0.5, keys - 0.5], [-0.5, queries - 0.5], color=COLOURS[1], linewidth=0.6)
            ax.set_xticks([])
            ax.set_yticks([])
            for spine in ax.spines.values():
                spine.set(visible=True, color="#999999")
            if layer == 0:
                ax.set_title(f"head {head}", fontsize=17)
        axes[layer, 0].set_ylabel(f"layer {layer}", fontsize=17)
    if title:
        picture.suptitle(title)
    return picture


def _one(ax: Axes, array: np.ndarray, rows: Sequence[str], columns: Sequence[str], numbers: bool) -> AxesImage:
    low, high = float(np.nanmin(array)), float(np.nanmax(array))
    reach = max(abs(low), abs(high), 1e-9)
    if low < 0:
        image = ax.imshow(array, cmap=DIVERGING, vmin=-reach, vmax=reach, aspect="equal")
    else:
        image = ax.imshow(array, cmap=SEQUENTIAL, vmin=0.0, vmax=max(high, 1e-9), aspect="equal")
    ax.set_xticks(range(len(columns)), columns, rotation=50, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.set_facecolor("#d9d9d9")  # NaN, i.e. masked out
    for spine in ax.spines.values():
        spine.set_visible(False)
    if numbers:
        for (i, j), value in np.ndenumerate(array):
            if not np.isnan(value):
                dark = abs(value) / reach > 0.67
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", color="white" if dark else "black", fontsize=12)
    return image
