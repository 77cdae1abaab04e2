"""A matrix as a small image inside a drawing: thousands of cells, still redrawn at every key press.

A cell of SVG costs some hundred characters; here a matrix is one PNG with one point per cell, enlarged by the
browser without blurring.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.png import png_address
from lectures.show.svg import Pixels, label_width, svg, text

# ColorBrewer's "RdBu" reversed: blue is negative, white is zero, red is positive.
_DIVERGING = np.array(
    [[5, 48, 97], [67, 147, 195], [209, 229, 240], [255, 255, 255], [253, 219, 199], [214, 96, 77], [103, 0, 31]],
    dtype=float,
)
_MASKED = (217, 217, 217)


def diverging_rgb(values: ArrayLike, reach: float | int = 1.0) -> np.ndarray:
    """Colours (…, 3) of numbers between −reach (blue), 0 (white) and reach (red); NaN is grey."""
    array = np.asarray(values, dtype=float)
    place = (np.clip(np.nan_to_num(array) / reach, -1, 1) + 1) / 2 * (len(_DIVERGING) - 1)
    low = np.minimum(place.astype(int), len(_DIVERGING) - 2)
    rgb = _DIVERGING[low] + (place - low)[..., None] * (_DIVERGING[low + 1] - _DIVERGING[low])
    rgb[np.isnan(array)] = _MASKED
    return np.rint(rgb).astype(np.uint8)


def image_svg(matrix: ArrayLike, x: Pixels, y: Pixels, width: Pixels, height: Pixels, reach: float | int = 1.0) -> str:
    """A matrix (row, column) as an `<image>` element that fills this rectangle, one colour per cell.

    Raises ValueError if it is no matrix.
    """
    array = np.asarray(matrix, dtype=float)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"image_svg needs a matrix (row, column), got shape {array.shape}")
    data = png_address(diverging_rgb(array, reach), level=1)
    return (
        f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" preserveAspectRatio="none"'
        f' style="image-rendering:pixelated" href="{data}"/>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="none" stroke="#999"/>'
    )


def vectors_svg(
    panels: Sequence[tuple[str, Sequence[str], ArrayLike]], *, alt: str, note: str = "", reach: float | int = 2.0
) -> str:
    """Matrices side by side, each (title, a label per row, matrix), one stripe of colours per row.

    Blue is negative, white 0, red positive, full colour at ±reach. Raises ValueError if labels and rows do not fit.
    """
    row, wide, top = 30.0, 250.0, 34.0
    x, body, deepest = 4.0, [], 0
    for title, labels, matrix in panels:
        array = np.asarray(matrix, dtype=float)
        if array.ndim != 2 or len(array) != len(labels):
            raise ValueError(f"a panel needs a label per row, got shape {array.shape} and {len(labels)} labels")
        left = x + label_width(labels)
        body.append(text(left, 20, title, 16, more='font-weight="bold"'))
        for i, label in enumerate(labels):
            y = top + row * i
            body.append(text(left - 8, y + row / 2 + 4, label, 15, "end"))
            body.append(image_svg(array[i : i + 1], left, y + 3, wide, row - 6, reach))
        x, deepest = left + wide + 26, max(deepest, len(labels))
    height = top + row * deepest + 8
    lines = note.split("\n") if note else []
    body += [text(4, height + 20 + 24 * i, line, 16) for i, line in enumerate(lines)]
    return svg(max(x, *(9.2 * len(line) for line in lines), 1.0), height + 24 * len(lines) + 10, "".join(body), alt)


def tables_svg(panels: Sequence[tuple[str, ArrayLike]], *, alt: str) -> str:
    """Tables (position, column) side by side, each under its title: for telling a right one from wrong ones."""
    wide, high, x = 200.0, 230.0, 4.0
    body = []
    for title, table in panels:
        body.append(text(x, 18, title, 15, more='font-weight="bold"'))
        body.append(image_svg(table, x, 28, wide, high))
        x += wide + 26
    return svg(x, high + 36, "".join(body), alt)
