"""Points in the plane: what a classifier says everywhere, words by groups, many points shaded by a number."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.plot import Axis, Plot
from lectures.show.svg import DARK_ORANGE, INK, MARKS, ORANGE, Canvas, Pixels, blue, label_width, number
from lectures.show.touch import draggable_line

__all__ = ["decision_svg", "map_svg", "word_map_svg"]


# --- what a classifier says ----------------------------------------------------------------------

_TINTS = 16
_ZERO, _ONE, _PAPER = (np.array(rgb, dtype=float) for rgb in ((242, 178, 102), (120, 178, 222), (255, 255, 255)))


def decision_svg(
    probabilities: ArrayLike,
    points: ArrayLike,
    targets: Sequence[int],
    *,
    low: Pixels,
    high: Pixels,
    alt: str,
    line: tuple[Pixels, Pixels, Pixels] | None = None,
    drag: bool = False,
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """The square from low to high in both directions, tinted by P(class 1): orange for 0, blue for 1, white for ½.

    probabilities (row, column): row 0 is the lowest; points (point, 2) with their targets, 0 (circle) or 1 (square);
    a point on the wrong side is crossed. `line` (w1, w2, b) draws where w1·x1 + w2·x2 + b is 0, and an arrow to the
    side where it is positive; with `drag`, the pointer moves and turns it: it sets the sliders w1, w2 and b of the
    widget around it. `notes` are to its right.

    Raises ValueError for shapes or targets that do not fit.
    """
    p, at = np.asarray(probabilities, dtype=float), np.asarray(points, dtype=float)
    if p.ndim != 2 or at.shape != (len(targets), 2) or not set(targets) <= {0, 1} or not low < high:
        raise ValueError(
            "decision_svg needs probabilities (row, column), points (point, 2), a target 0 or 1 per point and"
            f" low < high, got {p.shape}, {at.shape}, {list(targets)}, {low} and {high}"
        )
    canvas = Canvas(title)
    ticks = {n: number(n, 0) for n in range(math.ceil(low), math.floor(high) + 1)}
    axis = Axis(float(low), float(high), ticks=ticks, grid=False)
    plot = Plot(canvas, axis, axis, left=34, across=380, down=380, inner=True)
    _tint(plot, p)
    centre = None if line is None else _boundary(plot, *map(float, line), drag=drag)
    for (x, y), target in zip(at, targets, strict=True):
        row, column = (min(max(int(axis.share(v) * n), 0), n - 1) for v, n in zip((y, x), p.shape, strict=True))
        _point(canvas, *plot.at(x, y), target, (p[row, column] > 0.5) == bool(target))
    for i, note in enumerate(notes):
        canvas.text(plot.right + 30, plot.top + 24 + 30 * i, note, 17)
    if drag and line is not None and centre is not None:
        w1, w2 = (float(w) for w in line[:2])
        frame = plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top, float(low), float(high)
        return canvas.svg(alt, more=draggable_line(frame, (w1, w2, *centre)))
    return canvas.svg(alt)


def _tint(plot: Plot, p: np.ndarray) -> None:
    """Neighbours of one tint in a row are one rectangle, so that a picture stays small."""
    rows, columns = p.shape
    high, wide = (plot.bottom - plot.top) / rows, (plot.right - plot.left) / columns
    steps = np.clip(np.nan_to_num(p, nan=0.5) * _TINTS, 0, _TINTS - 1e-9).astype(int)
    colours = []
    for step in range(_TINTS):
        far = 2 * (step + 0.5) / _TINTS - 1
        rgb = _PAPER + abs(far) * ((_ONE if far > 0 else _ZERO) - _PAPER)
        colours.append("#{:02x}{:02x}{:02x}".format(*(round(c) for c in rgb)))
    plot.canvas.add('<g shape-rendering="crispEdges">')
    for i in range(rows):
        starts = np.flatnonzero(np.r_[True, steps[i, 1:] != steps[i, :-1]]).tolist()
        for start, end in zip(starts, [*starts[1:], columns], strict=True):
            left, top = plot.left + start * wide, plot.bottom - (i + 1) * high
            plot.canvas.rect(left, top, (end - start) * wide, high + 0.3, colours[steps[i, start]])
    plot.canvas.add("</g>")


def _boundary(plot: Plot, w1: float, w2: float, b: float, *, drag: bool = False) -> tuple[float, float] | None:
    """The part of w1·x + w2·y + b = 0 inside the square, and its middle; None if it is outside."""
    long, low, high = math.hypot(w1, w2), plot.x.low, plot.x.high
    if long < 1e-9:
        return None
    normal, along = np.array([w1, w2]) / long, np.array([-w2, w1]) / long
    middle = np.full(2, 0.5 * (low + high))
    middle = middle - (normal @ middle + b / long) * normal  # the point nearest to the square's middle
    line = middle + np.linspace(-2, 2, 801)[:, None] * (high - low) * along
    inside = line[((low <= line) & (line <= high)).all(axis=1)]
    if len(inside) < 2:
        return None
    centre = inside[len(inside) // 2]
    plot.canvas.line(plot.at(*inside[0]), plot.at(*inside[-1]), INK, 3)
    plot.canvas.line(plot.at(*centre), plot.at(*(centre + 0.28 * normal)), INK, 3, arrow=True)
    if drag:  # what the pointer finds: wider than what is seen
        wide: Any = {
            "stroke": "transparent",
            "wide": 26,
            "stroke_linecap": "round",
            "style": "cursor:grab;touch-action:none",
        }
        plot.canvas.line(plot.at(*inside[0]), plot.at(*inside[-1]), data_drag="line", **wide)
        plot.canvas.line(
            plot.at(*(centre + 0.1 * normal)), plot.at(*(centre + 0.34 * normal)), data_drag="arrow", **wide
        )
    return float(centre[0]), float(centre[1])


def _point(canvas: Canvas, x: float, y: float, target: int, right: bool) -> None:
    if not right:  # behind, so that the number shows
        canvas.path(f"M{x - 21:.1f},{y - 21:.1f} l42,42 M{x - 21:.1f},{y + 21:.1f} l42,-42", INK, 4)
    kind, colour = ("square", "#0060A0") if target else ("circle", DARK_ORANGE)
    canvas.mark(kind, x, y, colour, 12, wide=2.5)
    canvas.text(x, y + 5.5, str(target), 16, "middle", fill="#fff", bold=True)


# --- words by groups -----------------------------------------------------------------------------

_WIDE, _HIGH, _EDGE = 760.0, 470.0, 56.0
_GROUPS = ("#0072B2", DARK_ORANGE, "#00704F", "#9A4C7C", "#000000")  # for words: readable on white


def word_map_svg(
    points: ArrayLike,
    words: Sequence[str],
    groups: Sequence[int],
    *,
    alt: str,
    arrows: Sequence[tuple[int, int]] = (),
    title: str = "",
    note: str = "",
) -> str:
    """points (word, 2), both axes in one scale; a colour and a shape per group; arrows from word to word.

    Labels keep out of each other's way. Raises ValueError if there is not one point and one group per word.
    """
    where = np.asarray(points, dtype=float)
    if where.shape != (len(words), 2) or len(groups) != len(words):
        raise ValueError(
            f"word_map_svg needs a point and a group per word, got points {where.shape}, {len(words)} words and"
            f" {len(groups)} groups"
        )
    canvas = Canvas(title)
    where = where if len(where) else np.zeros((1, 2))
    middle, span = (where.max(0) + where.min(0)) / 2, np.maximum(np.ptp(where, axis=0), 1e-9)
    scale = min((_WIDE - 2.6 * _EDGE) / span[0], (_HIGH - _EDGE) / span[1])
    at = np.array([_WIDE / 2, canvas.top + _HIGH / 2]) + (where - middle) * scale * np.array([1.0, -1.0])
    for i, j in arrows:
        (x, y), (u, v) = at[i], at[j]
        back = 9 / max(float(np.hypot(u - x, v - y)), 1.0)
        canvas.line((x, y), (u - back * (u - x), v - back * (v - y)), "#777", 2, arrow=True)
    for (x, y), group in zip(at[: len(words)], groups, strict=True):
        canvas.mark(MARKS[group % 5], x, y, _GROUPS[group % 5], stroke="none")
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in at.tolist()]
    for (x, y), word, group in zip(at[: len(words)].tolist(), words, groups, strict=True):
        left, base = _free(x, y, len(word) * 9.6, taken)
        canvas.text(left, base, word, 16, fill=_GROUPS[group % 5], halo=True)
    canvas.notes([note], gap=2)
    return canvas.svg(alt, width=_WIDE)


def _free(x: float, y: float, wide: float, taken: list[tuple[float, float, float, float]]) -> tuple[float, float]:
    """Where a label begins: right, left, above or below, further up or down; the first that covers least."""
    tries = [(x + 10, y + 5), (x - 10 - wide, y + 5), (x - wide / 2, y - 12), (x - wide / 2, y + 23)]
    tries += [(side, y + down) for down in (-13, 23) for side in (x + 8, x - 8 - wide)]
    tries += [(side, y + down) for down in (-28, 38) for side in (x + 10, x - 10 - wide)]

    def covered(place: tuple[float, float]) -> float:
        left, base = place
        right, high, low = left + wide, base - 14, base + 4
        overlaps = (
            max(0.0, min(right, c) - max(left, a)) * max(0.0, min(low, d) - max(high, b)) for a, b, c, d in taken
        )
        return sum(overlaps) + 1e4 * (left < 0 or right > _WIDE)

    left, base = min(tries, key=covered)
    taken.append((left, base - 14, left + wide, base + 4))
    return left, base


# --- many points ---------------------------------------------------------------------------------


def map_svg(
    points: ArrayLike,
    shades: ArrayLike,
    names: Sequence[str],
    *,
    chosen: int,
    near: Sequence[int] = (),
    low: str = "",
    high: str = "",
    title: str = "",
) -> str:
    """points (n, 2), shades (n,): the lowest is pale, the highest dark, and `low` and `high` say what these are.

    The chosen point is orange and named, those of `near` are ringed and named.

    Raises ValueError if shapes do not fit, or the chosen point is not there.
    """
    xy, tone = np.asarray(points, dtype=float), np.asarray(shades, dtype=float)
    if xy.ndim != 2 or xy.shape != (len(names), 2) or tone.shape != (len(names),):
        raise ValueError(f"points must be (n, 2), shades and names n, got {xy.shape}, {tone.shape} and {len(names)}")
    if not 0 <= chosen < len(names):
        raise ValueError(f"chosen must be one of the {len(names)} points, got {chosen}")
    canvas, span = Canvas(title), np.ptp(xy, axis=0)
    place = (xy - xy.min(axis=0)) / np.where(span > 0, span, 1.0)
    left, top = 26 + place[:, 0] * 648, canvas.top + 26 + (1 - place[:, 1]) * 330
    tones = 0.15 + 0.85 * (tone - tone.min()) / (np.ptp(tone) or 1.0)
    for x, y, shade in zip(left, top, tones, strict=True):
        canvas.mark("circle", x, y, blue(shade), 5, stroke="#555", wide=0.5)
    for i in near:
        canvas.circle(left[i], top[i], 8, stroke=ORANGE, wide=3)
    canvas.mark("circle", left[chosen], top[chosen], ORANGE, 9, stroke=ORANGE, wide=3)
    taken: list[tuple[float, float]] = []
    for i in (chosen, *near):
        turned = left[i] > 504
        x, y = float(left[i]) + (-13 if turned else 13), float(top[i]) + 5
        while any(abs(y - other) < 17 and abs(x - across) < 150 for across, other in taken):
            y += 17
        taken.append((x, y))
        if y > top[i] + 6:  # the name had to give way: a thin line leads to it
            canvas.line((left[i], top[i]), (x, y - 5), ORANGE)
        canvas.text(x, y, names[i], 15, "end" if turned else "start", bold=i == chosen, halo=True)
    base, start = max(canvas.bottom, canvas.top + 382) + 26, label_width([low])
    canvas.text(start - 8, base, low, 15, "end")
    for k in range(9):
        canvas.rect(start + 22 * k, base - 13, 22, 16, blue(0.15 + k * 0.85 / 8))
    canvas.text(start + 206, base, high, 15)
    alt = f"{title}. {len(names)} points; chosen: {names[chosen]}"
    alt += f"; nearest: {', '.join(names[i] for i in near)}." if near else "."
    return canvas.svg(alt, width=700)
