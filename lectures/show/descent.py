"""Going down a curve step by step: the curve, and the places where gradient descent has been."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, Pixels, svg, text

_WIDE, _HIGH, _LEFT, _TOP = 640.0, 320.0, 64.0, 34.0


def descent_svg(
    x: ArrayLike,
    y: ArrayLike,
    visited: Sequence[tuple[Pixels, Pixels]],
    *,
    title: str = "",
    note: str = "",
    x_title: str = "w",
    y_title: str = "loss",
) -> str:
    """The curve y over x, and (w, loss) of every step taken, the first one hollow, the last one large.

    A place outside the picture is drawn at its edge, as a triangle. Raises ValueError for a curve of less than two
    points or with nowhere to have been.
    """
    across, up = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if across.ndim != 1 or across.shape != up.shape or len(across) < 2 or not visited:
        raise ValueError(
            "descent_svg needs as many y as x, at least two, and a place visited,"
            f" got {across.shape}, {up.shape} and {len(visited)} places"
        )
    left, right, low, high = (float(v) for v in (across[0], across[-1], up.min(), up.max()))
    base = _TOP + _HIGH

    def at(w: Pixels, loss: Pixels) -> tuple[float, float, bool]:
        w, loss = float(w), float(loss)
        inside = left <= w <= right and low - 0.02 * (high - low) <= loss <= high
        w, loss = (float(np.nan_to_num(v, nan=0.0)) for v in (w, loss))
        w, loss = min(max(w, left), right), min(max(loss, low), high)
        return _LEFT + (w - left) / (right - left) * _WIDE, base - (loss - low) / ((high - low) or 1.0) * _HIGH, inside

    line = " ".join("{:.1f},{:.1f}".format(*at(a, b)[:2]) for a, b in zip(across, up, strict=True))
    body = [
        text(_LEFT, 20, title, 17, more='font-weight="bold"'),
        f'<line x1="{_LEFT}" x2="{_LEFT + _WIDE}" y1="{base}" y2="{base}" stroke="{FAINT}"/>',
        f'<line x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{base}" stroke="{FAINT}"/>',
        text(_LEFT - 8, _TOP + 8, _number(high), 15, "end"),
        text(_LEFT - 8, base, _number(low), 15, "end"),
        text(_LEFT - 8, (_TOP + base) / 2, y_title, 15, "end"),
        text(_LEFT + _WIDE / 2, base + 24, x_title, 15, "middle", 'font-style="italic"'),
        text(_LEFT, base + 24, _number(left), 15, "middle"),
        text(_LEFT + _WIDE, base + 24, _number(right), 15, "middle"),
        f'<polyline points="{line}" fill="none" stroke="#0072B2" stroke-width="3"/>',
    ]
    steps = [at(*place) for place in visited]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b, _ in steps)
    body.append(f'<polyline points="{path}" fill="none" stroke="#D55E00" stroke-width="1.8"/>')
    for i, (a, b, inside) in enumerate(steps):
        size = 9.0 if i == len(steps) - 1 else 5.5
        fill = "#ffffff" if i == 0 and len(steps) > 1 else "#D55E00"
        mark = (
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{size}"'
            if inside
            else f'<path d="M{a - 10:.1f},{b + 16:.1f} l20,0 l-10,-18 z"'
        )
        body.append(f'{mark} fill="{fill}" stroke="#B34700" stroke-width="2"/>')
    w, loss = visited[-1]
    says = f"{title}. After {len(visited) - 1} steps w is {_number(w)} and the loss {_number(loss)}; the loss began at"
    says += f" {_number(visited[0][1])}. {note}"
    if note:
        body.append(text(_LEFT, base + 58, note, 17))
    return svg(_LEFT + _WIDE + 24, base + (72 if note else 36), "".join(body), says)


def _number(value: Pixels) -> str:
    if not math.isfinite(value):
        return "beyond every bound"
    shown = f"{value:.2f}" if abs(value) < 1000 and (value == 0 or abs(value) >= 0.01) else f"{value:.1e}"
    return shown.replace("-", "\N{MINUS SIGN}")
