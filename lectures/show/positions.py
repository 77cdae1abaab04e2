"""Positions: tables of sines and cosines, clock hands, vectors that are turned, scores against distance."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS, Picture, drawn, new_picture
from lectures.show.raster import image_svg
from lectures.show.svg import FAINT, svg, text

Lines = Mapping[str, ArrayLike]


def table_svg(table: ArrayLike, selected: int, *, title: str = "", note: str = "") -> str:
    """A table of position vectors (position, d_model), and the dot products of one of them with all.

    Left the table, one row per position: blue −1, white 0, red 1. Right, at the same height, the dot product of
    every row with row `selected`, divided by its own.

    Raises ValueError if it is no matrix, or has no such row.
    """
    rows = np.asarray(table, dtype=float)
    if rows.ndim != 2 or not 0 <= selected < len(rows):
        raise ValueError(f"table_svg needs a matrix and one of its rows, got shape {rows.shape} and row {selected}")
    products = rows @ rows[selected]
    near = products / (products[selected] or 1.0)  # a row of zeros is like no other
    n, d = rows.shape
    high, left, top, wide = 9.0 * n, 96.0, 60.0, 470.0
    right, reach = left + wide + 150, 130.0

    def y(position: int) -> float:
        return top + high * (position + 0.5) / n

    body = [text(4, 20, title, 16, more='font-weight="bold"')]
    body.append(image_svg(rows, left, top, wide, high))
    body.append(text(left, top - 8, f"column 0 … {d - 1}", 15))
    body.append(text(right, top - 8, f"dot product with position {selected}", 15, "middle"))
    for position in sorted({0, n // 2, n - 1, selected}):
        bold = 'font-weight="bold"' if position == selected else ""
        if position == selected or abs(position - selected) * 9 > 16:
            body.append(text(left - 8, y(position) + 5, f"position {position}", 14, "end", bold))
    frame = f'x="{left - 2:.1f}" y="{y(selected) - 4.5:.1f}" width="{wide + 4:.1f}" height="9"'
    body.append(f'<rect {frame} fill="none" stroke="#000" stroke-width="2"/>')
    body.append(f'<line x1="{right}" x2="{right}" y1="{top}" y2="{top + high}" stroke="{FAINT}"/>')
    line = " ".join(f"{right + reach * max(-1.0, min(1.0, near[i])):.1f},{y(i):.1f}" for i in range(n))
    body.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[1]}" stroke-width="2.5"/>')
    body.append(text(right, top + high + 20, "0", 14, "middle"))
    body.append(text(right + reach, top + high + 20, "1", 14, "middle"))
    body.append(text(4, top + high + 44, note, 15))
    said = ", ".join(f"{i}: {near[i]:.2f}" for i in sorted({0, n // 4, n // 2, 3 * n // 4, n - 1}))
    alt = f"{title} Heatmap of {n} positions by {d} columns. {note} Dot products with position {selected}: {said}."
    return svg(right + reach + 30, top + high + 54, "".join(body), alt)


def clocks_svg(before: ArrayLike, after: ArrayLike, *, title: str = "", note: str = "") -> str:
    """One clock per pair (sine, cosine) of a position vector: the hand before (grey) and after a shift (orange).

    before, after: (pair, 2), each row a sine and its cosine. The angle between the hands is written below.

    Raises ValueError if the two are not of one such shape.
    """
    one, other = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if one.shape != other.shape or one.ndim != 2 or one.shape[1] != 2:
        raise ValueError(f"clocks_svg needs two arrays (pair, 2), got {one.shape} and {other.shape}")
    radius, across, middle = 46.0, 116.0, 92.0
    body = [text(4, 20, title, 16, more='font-weight="bold"')]
    said = []
    for i, (old, new) in enumerate(zip(one, other, strict=True)):
        x = 60 + across * i
        turned = (math.atan2(new[0], new[1]) - math.atan2(old[0], old[1])) % (2 * math.pi)
        body.append(f'<circle cx="{x:.1f}" cy="{middle}" r="{radius}" fill="#f7f7f7" stroke="{FAINT}"/>')
        for (sine, cosine), colour, wide in ((old, FAINT, 4), (new, COLOURS[1], 4)):
            body.append(
                f'<line x1="{x:.1f}" y1="{middle}" x2="{x + radius * sine:.1f}" y2="{middle - radius * cosine:.1f}"'
                f' stroke="{colour}" stroke-width="{wide}" stroke-linecap="round"/>'
            )
        body.append(text(x, middle + radius + 22, f"pair {i}", 15, "middle"))
        body.append(text(x, middle + radius + 42, f"+{math.degrees(turned):.1f}°", 15, "middle", 'font-weight="bold"'))
        said.append(f"pair {i} turned by {math.degrees(turned):.1f} degrees")
    body.append(text(4, middle + radius + 72, note, 15))
    alt = f"{title} {note} " + ", ".join(said) + "."
    return svg(max(60 + across * len(one), 9.0 * len(note)), middle + radius + 84, "".join(body), alt)


def turned_svg(
    query: tuple[ArrayLike, ArrayLike],
    key: tuple[ArrayLike, ArrayLike],
    scores: ArrayLike,
    at: tuple[int, int],
    *,
    title: str = "",
) -> str:
    """Rotary positions: a query and a key before (dashed) and after they were turned, and their scores.

    query, key: (as it was, turned), each (pair, 2), one plane per pair. scores (query position, key position), all
    of them; `at` says which is framed.

    Raises ValueError if the vectors are not of one shape (pair, 2), or `at` is no entry of scores.
    """
    vectors = [np.asarray(v, dtype=float) for v in (*query, *key)]
    grid = np.asarray(scores, dtype=float)
    if len({v.shape for v in vectors}) != 1 or vectors[0].ndim != 2 or vectors[0].shape[1] != 2:
        raise ValueError(f"turned_svg needs vectors (pair, 2) of one shape, got {[v.shape for v in vectors]}")
    if grid.ndim != 2 or not (0 <= at[0] < grid.shape[0] and 0 <= at[1] < grid.shape[1]):
        raise ValueError(f"at={at} is no entry of scores of shape {grid.shape}")
    half, top = 96.0, 62.0
    unit = 0.86 * half / max(1e-9, *(float(np.linalg.norm(v, axis=-1).max()) for v in vectors))
    body = [text(4, 20, title, 16, more='font-weight="bold"')]
    x = 4.0
    for pair in range(len(vectors[0])):
        cx, cy = x + half, top + half
        body.append(text(cx, top - 8, f"pair {pair} of the numbers", 15, "middle"))
        body.append(f'<rect x="{x}" y="{top}" width="{2 * half}" height="{2 * half}" fill="#fafafa" stroke="#ccc"/>')
        body.append(f'<path d="M{x},{cy} h{2 * half} M{cx},{top} v{2 * half}" stroke="#ddd"/>')
        for (plain, turned), colour, name in ((vectors[:2], COLOURS[1], "q"), (vectors[2:], COLOURS[0], "k")):
            for v, style in ((plain[pair], 'stroke-dasharray="5 4" opacity="0.6"'), (turned[pair], "")):
                body.append(
                    f'<line x1="{cx}" y1="{cy}" x2="{cx + unit * v[0]:.1f}" y2="{cy - unit * v[1]:.1f}"'
                    f' stroke="{colour}" stroke-width="4" stroke-linecap="round" {style}/>'
                )
            tip = turned[pair]
            bold = f'font-weight="bold" style="fill:{colour};paint-order:stroke;stroke:#fff;stroke-width:4px"'
            body.append(text(cx + (unit * tip[0]) * 1.16, cy - unit * tip[1] * 1.16 + 5, name, 16, "middle", bold))
        x += 2 * half + 18
    cell = 2 * half / len(grid)
    left = x + 70
    body.append(text(left, top - 8, "q · k; rows: position of q, columns: of k", 15))
    body.append(image_svg(grid, left, top, cell * grid.shape[1], 2 * half, float(np.abs(grid).max()) or 1.0))
    for i in (0, len(grid) - 1):
        body.append(text(left - 6, top + cell * (i + 0.5) + 5, str(i), 14, "end"))
        body.append(text(left + cell * (i + 0.5), top + 2 * half + 18, str(i), 14, "middle"))
    frame = f'x="{left + cell * at[1]:.1f}" y="{top + cell * at[0]:.1f}" width="{cell:.1f}" height="{cell:.1f}"'
    body.append(f'<rect {frame} fill="none" stroke="#000" stroke-width="3"/>')
    says = f"q at position {at[0]}, k at position {at[1]}: score {grid[at]:.3f}"
    body.append(text(4, top + 2 * half + 44, says, 16, more='font-weight="bold"'))
    return svg(left + 2 * half + 110, top + 2 * half + 56, "".join(body), f"{title} {says}.")


@drawn
def distance_panels(distance: ArrayLike, panels: Mapping[str, Lines], *, alt: str, x_title: str = "") -> Picture:
    """Small pictures side by side over one axis of distances: what each way of telling positions adds to a score.

    panels: title -> {name of a line: its values}. Raises ValueError if a line and the distances differ in length.
    """
    across = np.asarray(distance, dtype=float)
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    picture = new_picture(5.4 * columns, 3.5 * rows, alt)
    axes = picture.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    for ax, (title, lines) in zip(axes, panels.items(), strict=False):
        for name, line in lines.items():
            values = np.asarray(line, dtype=float)
            if values.shape != across.shape:
                raise ValueError(f"line {name!r} has shape {values.shape}, the distances have {across.shape}")
            ax.plot(across, values, label=name)
        ax.axhline(0, color="#999999", linewidth=1)
        ax.set_title(title)
        ax.grid(alpha=0.3)
        if len(lines) > 1:
            ax.legend(fontsize=13)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    picture.supxlabel(x_title, fontsize=15)
    return picture
