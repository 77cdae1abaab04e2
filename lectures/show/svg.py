"""Drawing with text: SVG small enough to be sent to the browser at every key press."""

import html
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

Pixels = float | int

FONT = "font-family:'DejaVu Sans',Verdana,sans-serif"
INK, FAINT = "#1a1a1a", "#8a8a8a"

# ColorBrewer's "Blues": darker is more, in print, in grey and for every kind of colour vision.
_BLUES = np.array(
    [[255, 255, 255], [222, 235, 247], [158, 202, 225], [66, 146, 198], [8, 81, 156], [8, 48, 107]], dtype=float
)


def blue(weight: float | np.floating | int) -> str:
    """The colour of a number between 0 (white) and 1 (dark blue)."""
    position = min(max(float(weight), 0.0), 1.0) * (len(_BLUES) - 1)
    low = min(int(position), len(_BLUES) - 2)
    rgb = _BLUES[low] + (position - low) * (_BLUES[low + 1] - _BLUES[low])
    return "#{:02x}{:02x}{:02x}".format(*(round(c) for c in rgb))


def ink_on(weight: float | np.floating | int) -> str:
    """Black or white, whichever can be read on `blue(weight)`."""
    return "#ffffff" if weight > 0.67 else "#000000"  # contrast of at least 4.5 : 1 everywhere


def svg(width: Pixels, height: Pixels, body: str, alt: str, extra: str = "") -> str:
    """One drawing on white, that scales down with the page; `alt` is what a screen reader says."""
    if not alt.strip():
        raise ValueError("a drawing needs alternative text: alt='what is to be seen'")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{html.escape(alt)}" {extra}'
        f' width="{width:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%;height:auto;'
        f'background:#fff;{FONT}">{body}</svg>'
    )


def text(x: Pixels, y: Pixels, words: str, size: Pixels = 15, anchor: str = "start", more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{INK}" {more}>'
        f"{html.escape(words)}</text>"
    )


def label_width(labels: Sequence[str], size: Pixels = 15) -> float:
    """Pixels that the longest label takes, a little generously."""
    return max((len(label) for label in labels), default=0) * size * 0.66 + 8


def check_labels(matrix: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> None:
    if matrix.ndim != 2 or matrix.shape != (len(rows), len(columns)):
        raise ValueError(
            f"a heatmap needs one row label and one column label per entry: got an array of shape {matrix.shape},"
            f" {len(rows)} row labels and {len(columns)} column labels"
        )


def heatmap_svg(
    matrix: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    alt: str,
    title: str = "",
    cell: Pixels = 30,
    numbers: bool | None = None,
    highlight: int | None = None,
    note: str = "",
) -> str:
    """Cells from white (0) to dark blue (1). Numbers are written in if the cells are large (or as told).

    A cell's exact value shows when the pointer rests on it. `highlight` frames one row; `note` is a line
    below. An entry that is NaN (masked out) is grey with a cross.

    Raises ValueError if labels and matrix do not fit, or alt is empty.
    """
    values = np.asarray(matrix, dtype=float)
    check_labels(values, rows, columns)
    numbers = cell >= 44 if numbers is None else numbers
    left, column_room = label_width(rows), label_width(columns) * 0.75
    top = column_room + (26 if title else 6)
    width, height = left + cell * len(columns) + column_room * 0.75, top + cell * len(rows) + 6
    parts = [text(left, 18, title, 16, more='font-weight="bold"')] if title else []
    for j, label in enumerate(columns):
        x = left + cell * (j + 0.6)
        parts.append(text(x, top - 5, label, 15, "start", f'transform="rotate(-48 {x:.1f} {top - 5:.1f})"'))
    for i, label in enumerate(rows):
        y = top + cell * i
        weight = 'font-weight="bold"' if i == highlight else ""
        parts.append(text(left - 6, y + cell / 2 + 5, label, 15, "end", weight))
        for j, column in enumerate(columns):
            value = values[i, j]
            x = left + cell * j
            fill = "#d9d9d9" if math.isnan(value) else blue(value)
            says = "masked" if math.isnan(value) else f"{value:.3f}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell}" height="{cell}" fill="{fill}" stroke="#c8c8c8"'
                f' stroke-width="0.6"><title>{html.escape(label)} → {html.escape(column)}: {says}</title></rect>'
            )
            if math.isnan(value):
                parts.append(text(x + cell / 2, y + cell / 2 + 5, "×", 14, "middle", 'pointer-events="none"'))
            elif numbers:
                style = f'style="fill:{ink_on(value)}" pointer-events="none"'
                parts.append(text(x + cell / 2, y + cell / 2 + 5, f"{value:.2f}", 14, "middle", style))
    if highlight is not None:
        parts.append(
            f'<rect x="{left:.1f}" y="{top + cell * highlight:.1f}" width="{cell * len(columns):.1f}"'
            f' height="{cell}" fill="none" stroke="#D55E00" stroke-width="2.5"/>'
        )
    if note:
        parts.append(text(0, height + 20, note, 16))
        width, height = max(width, len(note) * 9.5), height + 30
    return svg(width, height, "".join(parts), alt)
