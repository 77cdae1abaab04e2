"""What a classifier of points in the plane says everywhere: two tints, the boundary between them, and the points."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import INK, Pixels, svg, text

_WIDE, _LEFT, _TOP = 380.0, 34.0, 34.0
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
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """The square from low to high in both directions, tinted by P(class 1): orange for 0, blue for 1, white for ½.

    probabilities (row, column): row 0 is the lowest; points (point, 2) with their targets, 0 (circle) or 1 (square);
    a point on the wrong side is crossed. `line` (w1, w2, b) draws where w1·x1 + w2·x2 + b is 0, and an arrow to the
    side where it is positive. `notes` stand to the right.

    Raises ValueError for shapes or targets that do not fit.
    """
    p, at = np.asarray(probabilities, dtype=float), np.asarray(points, dtype=float)
    if p.ndim != 2 or at.shape != (len(targets), 2) or not set(targets) <= {0, 1} or not low < high:
        raise ValueError(
            "decision_svg needs probabilities (row, column), points (point, 2), a target 0 or 1 per point and"
            f" low < high, got {p.shape}, {at.shape}, {list(targets)}, {low} and {high}"
        )
    side = _WIDE / (high - low)

    def place(x: Pixels, y: Pixels) -> tuple[float, float]:
        return _LEFT + (x - low) * side, _TOP + (high - y) * side

    body = [_tints(p)]
    for tick in range(math.ceil(low), math.floor(high) + 1):
        x, y = place(tick, tick)
        body.append(text(x, _TOP + _WIDE + 20, str(tick).replace("-", "\N{MINUS SIGN}"), 15, "middle"))
        body.append(text(_LEFT - 8, y + 5, str(tick).replace("-", "\N{MINUS SIGN}"), 15, "end"))
    if line is not None:
        body.append(_line(*line, low, high, place))
    for (x, y), target in zip(at, targets, strict=True):
        body.append(_point(*place(x, y), target, (_value_at(p, x, y, low, high) > 0.5) == bool(target)))
    body.append(text(_LEFT, 20, title, 17, more='font-weight="bold"'))
    body += [text(_LEFT + _WIDE + 30, _TOP + 24 + 30 * i, note, 17) for i, note in enumerate(notes)]
    width = _LEFT + _WIDE + 30 + max((len(note) * 10.6 for note in notes), default=0)
    return svg(width, _TOP + _WIDE + 30, "".join(body), alt)


def _value_at(p: np.ndarray, x: Pixels, y: Pixels, low: Pixels, high: Pixels) -> float:
    rows, columns = p.shape
    row, column = (int((v - low) / (high - low) * n) for v, n in ((y, rows), (x, columns)))
    return float(p[min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)])


def _tints(p: np.ndarray) -> str:
    """Neighbours of one tint in a row are one rectangle, so that a picture stays small."""
    rows, columns = p.shape
    high, wide = _WIDE / rows, _WIDE / columns
    steps = np.clip(np.nan_to_num(p, nan=0.5) * _TINTS, 0, _TINTS - 1e-9).astype(int)
    colours = []
    for step in range(_TINTS):
        far = 2 * (step + 0.5) / _TINTS - 1
        rgb = _PAPER + abs(far) * ((_ONE if far > 0 else _ZERO) - _PAPER)
        colours.append("#{:02x}{:02x}{:02x}".format(*(round(c) for c in rgb)))
    parts = []
    for i in range(rows):
        starts = np.flatnonzero(np.r_[True, steps[i, 1:] != steps[i, :-1]]).tolist()
        for start, end in zip(starts, [*starts[1:], columns], strict=True):
            parts.append(
                f'<rect x="{_LEFT + start * wide:.1f}" y="{_TOP + _WIDE - (i + 1) * high:.1f}"'
                f' width="{(end - start) * wide:.1f}" height="{high + 0.3:.1f}" fill="{colours[steps[i, start]]}"/>'
            )
    return f'<g shape-rendering="crispEdges">{"".join(parts)}</g>'


def _line(
    w1: Pixels,
    w2: Pixels,
    b: Pixels,
    low: Pixels,
    high: Pixels,
    place: Callable[[float, float], tuple[float, float]],
) -> str:
    """The part of w1·x + w2·y + b = 0 inside the square."""
    long = math.hypot(w1, w2)
    if long < 1e-9:
        return ""
    foot = np.array([w1, w2]) * (-b / long**2)
    along, far = np.array([-w2, w1]) / long, 0.5 * (low + high)
    middle = foot + along * float((np.array([far, far]) - foot) @ along)  # the point nearest to the square's middle
    line = middle + np.linspace(-2, 2, 801)[:, None] * (high - low) * along
    inside = line[((low <= line) & (line <= high)).all(axis=1)]
    if len(inside) < 2:
        return ""
    (x0, y0), (x1, y1) = place(*inside[0]), place(*inside[-1])
    centre = inside[len(inside) // 2]
    (ax, ay), (bx, by) = place(*centre), place(*(centre + np.array([w1, w2]) / long * 0.28))
    return (
        '<defs><marker id="nlm-side" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6"'
        f' orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="{INK}"/></marker></defs>'
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{INK}" stroke-width="3"/>'
        f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" stroke="{INK}" stroke-width="3"'
        ' marker-end="url(#nlm-side)"/>'
    )


def _point(x: Pixels, y: Pixels, target: int, right: bool) -> str:
    style = 'stroke="#fff" stroke-width="2.5"'
    mark = (
        f'<rect x="{x - 11:.1f}" y="{y - 11:.1f}" width="22" height="22" fill="#0060A0" {style}/>'
        if target
        else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12" fill="#B34700" {style}/>'
    )
    inside = text(x, y + 5.5, str(target), 16, "middle", 'style="fill:#fff" font-weight="bold"')
    if right:
        return mark + inside
    cross = f"M{x - 21:.1f},{y - 21:.1f} l42,42 M{x - 21:.1f},{y + 21:.1f} l42,-42"  # behind, so that the number shows
    return f'<path d="{cross}" stroke="{INK}" stroke-width="4" fill="none"/>' + mark + inside
