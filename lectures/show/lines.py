"""Lines over one axis as SVG, told apart by colour and by dashes; cheap enough to be redrawn at every key press."""

import html
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.svg import FAINT, Pixels, svg, text

_LEFT, _RIGHT, _BELOW, _ROW = 74.0, 16.0, 56.0, 24.0
_DASHES = ("", "9 5", "3 4", "12 4 3 4", "2 6", "16 6")


def lines_svg(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    low: float | int,
    high: float | int,
    powers: bool = False,
    title: str = "",
    level: float | int | None = None,
    width: Pixels = 560,
    height: Pixels = 380,
    columns: int = 2,
) -> str:
    """One line per entry; the axis goes from `low` to `high` and stays there, so that pictures can be compared.

    powers: y is a power of ten, and its ticks are written 10ⁿ. level: a thin line across. What leaves the frame is cut
    off; what is not finite is left out. Legend entries stand `columns` to a row above the frame.

    Raises ValueError if a line and x differ in length, high is not above low, or alt is empty.
    """
    across = np.asarray(x, dtype=float)
    if not high > low:
        raise ValueError(f"high must be above low, got low={low}, high={high}")
    top = 30.0 + _ROW * math.ceil(len(lines) / columns)
    wide, tall = width - _LEFT - _RIGHT, height - top - _BELOW
    start, span = float(across.min()), float(across.max() - across.min()) or 1.0
    name = f"nlm-frame-{width:.0f}-{height:.0f}-{top:.0f}"  # the same picture is the same text

    def down(value: float | int | np.floating) -> float:
        return top + tall * (1 - (float(value) - low) / (high - low))

    body = [text(0, 20, title, 16, more='font-weight="bold"')] if title else []
    body.append(f'<clipPath id="{name}"><rect x="{_LEFT}" y="{top}" width="{wide}" height="{tall}"/></clipPath>')
    for tick in _ticks(low, high):
        y = down(tick)
        body.append(f'<line x1="{_LEFT}" x2="{_LEFT + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e3e3"/>')
        body.append(text(_LEFT - 7, y + 5, power_of_ten(tick) if powers else f"{tick:g}", 15, "end"))
    for tick in _ticks(start, start + span):
        place = _LEFT + wide * (tick - start) / span
        body.append(text(place, height - _BELOW + 20, f"{tick:g}", 15, "middle"))
    if level is not None:
        body.append(
            f'<line x1="{_LEFT}" x2="{_LEFT + wide}" y1="{down(level):.1f}" y2="{down(level):.1f}" stroke="{FAINT}"'
            ' stroke-width="1.5"/>'
        )
    for i, (label, values) in enumerate(lines.items()):
        y_values = np.asarray(values, dtype=float)
        if y_values.shape != across.shape:
            raise ValueError(f"line {label!r} has shape {y_values.shape}, x has {across.shape}")
        look = f'stroke="{COLOURS[i % 7]}" stroke-width="3" stroke-dasharray="{_DASHES[i % len(_DASHES)]}"'
        points = [
            f"{_LEFT + wide * (a - start) / span:.1f},{down(min(max(b, low - 1e3), high + 1e3)):.1f}"
            for a, b in zip(across, y_values, strict=True)
            if np.isfinite(b)
        ]
        body.append(f'<polyline points="{" ".join(points)}" fill="none" {look} clip-path="url(#{name})"/>')
        key_x, key_y = (
            _LEFT + (i % columns) * wide / columns,
            top - _ROW * (math.ceil(len(lines) / columns) - i // columns),
        )
        body.append(f'<line x1="{key_x:.1f}" x2="{key_x + 36:.1f}" y1="{key_y + 8:.1f}" y2="{key_y + 8:.1f}" {look}/>')
        body.append(text(key_x + 42, key_y + 13, label, 15))
    body.append(f'<rect x="{_LEFT}" y="{top}" width="{wide}" height="{tall}" fill="none" stroke="{FAINT}"/>')
    body.append(text(_LEFT + wide / 2, height - 10, x_title, 15, "middle"))
    middle = top + tall / 2
    body.append(text(17, middle, y_title, 15, "middle", f'transform="rotate(-90 17 {middle:.1f})"'))
    return svg(width, height, "".join(body), alt)


def power_of_ten(exponent: float | int) -> str:
    """10 with a raised number; 1 for 10⁰."""
    if exponent == 0:
        return "1"
    return "10" + f"{exponent:g}".translate(str.maketrans("-0123456789.", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹·"))


def beside(*pictures: str) -> str:
    """Drawings next to each other, below each other where the page is narrow."""
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:18px;align-items:flex-start">'
        + "".join(f'<div style="flex:0 1 auto;min-width:0">{picture}</div>' for picture in pictures)
        + "</div>"
    )


def said(words: str) -> str:
    """A line of text below a drawing, large enough for the back row."""
    return f'<p role="status" style="font-size:17px;margin:6px 0">{html.escape(words)}</p>'


def _ticks(low: float | int, high: float | int) -> Sequence[float]:
    rough = (high - low) / 6
    scale = 10 ** math.floor(math.log10(rough))
    step = next(scale * nice for nice in (1, 2, 5, 10) if scale * nice >= rough * 0.999)
    return [round(float(k * step), 10) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
