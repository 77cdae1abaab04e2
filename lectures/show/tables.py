"""Matrices that are redrawn at every key press: cells with labels, stripes of colours, small images; and rows of words
and numbers as a table."""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from IPython.display import HTML
from numpy.typing import ArrayLike

from lectures.show.svg import MASKED, ORANGE, Canvas, blue, label_width

__all__ = ["heatmap_svg", "table", "tables_svg", "vectors_svg"]

_NUMBER = re.compile(r"[-−+±<≤]?[\d.,]+(e[-−+]?\d+)?\s?%?\s?([(±×].*|to .*|of .*)?")
_MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-")


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
    cell: float | int = 30,
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
    canvas, left = Canvas(), label_width(rows)
    top = label_width(columns) * 0.75 + (32 if title else 6)
    if title:
        canvas.text(left, 18, title, 16, bold=True)
    for j, label in enumerate(columns):
        canvas.text(left + cell * (j + 0.6), top - 5, label, 15, turn=-48)
    for i, label in enumerate(rows):
        canvas.text(left - 6, top + cell * (i + 0.5) + 5, label, 15, "end", bold=i == highlight)
    for (i, j), value in np.ndenumerate(values):
        masked = bool(np.isnan(value))
        canvas.box(
            left + cell * j,
            top + cell * i,
            cell,
            cell,
            "×" if masked else f"{value:.2f}" if numbers else "",
            MASKED if masked else blue(value),
            "#c8c8c8",
            0.6,
            size=14,
            says=f"{rows[i]} → {columns[j]}: {'masked' if masked else f'{value:.3f}'}",
        )
    if highlight is not None:
        canvas.rect(left, top + cell * highlight, cell * len(columns), cell, stroke=ORANGE, wide=2.5)
    canvas.notes([note], gap=2)
    return canvas.svg(alt)


def vectors_svg(
    panels: Sequence[tuple[str, Sequence[str], ArrayLike]], *, alt: str, note: str = "", reach: float | int = 2.0
) -> str:
    """Matrices side by side, each (title, a label per row, matrix), one stripe of colours per row.

    Blue is negative, white 0, red positive, full colour at ±reach. Raises ValueError if labels and rows do not fit.
    """
    canvas, x = Canvas(), 4.0
    for title, labels, matrix in panels:
        array = np.asarray(matrix, dtype=float)
        if array.ndim != 2 or len(array) != len(labels):
            raise ValueError(f"a panel needs a label per row, got shape {array.shape} and {len(labels)} labels")
        x += label_width(labels)
        canvas.text(x, 20, title, 16, bold=True)
        for i, label in enumerate(labels):
            canvas.text(x - 8, 53 + 30 * i, label, 15, "end")
            canvas.image(array[i : i + 1], x, 37 + 30 * i, 250, 24, reach)
        x += 276
    canvas.notes(note.splitlines())
    return canvas.svg(alt)


def tables_svg(panels: Sequence[tuple[str, ArrayLike]], *, alt: str) -> str:
    """Tables (position, column) side by side, each under its title: for telling a right one from wrong ones."""
    canvas = Canvas()
    for i, (title, table) in enumerate(panels):
        canvas.text(4 + 226 * i, 18, title, 15, bold=True)
        canvas.image(table, 4 + 226 * i, 28, 200, 230)
    return canvas.svg(alt)


def table(rows: Iterable[Sequence[Any]], head: Sequence[str] = (), note: str = "") -> HTML:
    """Words and numbers in columns, as a prediction reveals them: `table([("GPT", "2.42")], ["", "bits"])`.

    Numbers end at the right, under their title, and "-2" has a minus sign. note: a line below the table. Raises ValueError unless every row has as
    many cells as the head, or as the first row.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    lengths = {len(row) for row in ([list(head)] if head else []) + cells}
    if not cells or len(lengths) != 1:
        raise ValueError(f"a table needs rows with as many cells each as its head {list(head)}, got {cells}")
    right = [all(_NUMBER.fullmatch(row[k] or "0") for row in cells) for k in range(lengths.pop())]

    def line(row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=right' * at_right}>{html.escape(cell, quote=False)}</{tag}>"
            for cell, at_right in zip(row, right, strict=True)
        )

    cells = [
        [_MINUS.sub("−", cell) if at_right else cell for cell, at_right in zip(row, right, strict=True)]
        for row in cells
    ]
    top = f"<thead><tr>{line(head, 'th')}</tr></thead>" if head else ""
    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in cells)
    below = f"<p>{html.escape(_MINUS.sub('−', note), quote=False)}</p>" if note else ""
    return HTML(f'<div class="nlm-table"><table>{top}<tbody>{body}</tbody></table>{below}</div>')
