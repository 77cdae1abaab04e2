"""Costs against length, both axes logarithmic, with the power laws that were fitted to them, as SVG."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lectures.show.picture import COLOURS
from lectures.show.svg import FAINT, Pixels, svg, text

_LEFT, _RIGHT, _BELOW, _ROW = 106.0, 34.0, 56.0, 26.0


class Law(NamedTuple):
    """cost = constant · n^exponent, drawn for n in [start, end]."""

    constant: float | int
    exponent: float | int
    start: float | int
    end: float | int


def laws_svg(
    costs: Mapping[str, Mapping[int, float | int]],
    laws: Mapping[str, Law],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    ticks: Mapping[float | int, str],
    notes: Mapping[str, str] | None = None,
    title: str = "",
    width: Pixels = 720,
    height: Pixels = 470,
) -> str:
    """Measured costs, {name: {n: cost}}, as marks of one shape and colour each; a law as a line through them.

    On these axes c · n^p is a straight line that rises by p decades in one. ticks: the values that are written at
    the left, and how; the frame reaches from the lowest to the highest of them and of the costs. notes are written
    behind the names above the frame.

    Raises ValueError for a cost or a length that is not above 0, a law without measured costs, or an empty alt.
    """
    for name, by in costs.items():
        if not by or min(*by, *by.values()) <= 0:
            raise ValueError(f"costs and lengths must be above 0, at least one, got {dict(by)!r:.60} for {name!r}")
    if strangers := laws.keys() - costs.keys():
        raise ValueError(f"laws must be of costs that were measured, got {sorted(strangers)}")
    lengths = [n for by in costs.values() for n in by]
    heights = [*ticks, *(cost for by in costs.values() for cost in by.values())]
    first, last, low, high = min(lengths), max(lengths), min(heights), max(heights)
    top = (36.0 if title else 8.0) + _ROW * len(costs) + 8
    wide, tall = width - _LEFT - _RIGHT, height - top - _BELOW

    def at(n: float | int, cost: float | int) -> tuple[float, float]:
        across = math.log(n / first) / (math.log(last / first) or 1.0)
        up = math.log(cost / low) / (math.log(high / low) or 1.0)
        return _LEFT + 14 + (wide - 28) * across, top + tall - 14 - (tall - 28) * up

    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    for cost, words in ticks.items():
        y = at(first, cost)[1]
        body.append(f'<line x1="{_LEFT}" x2="{_LEFT + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e3e3"/>')
        body.append(text(_LEFT - 8, y + 5, words, 16, "end"))
    for power in range(math.ceil(math.log2(first) - 1e-9), math.floor(math.log2(last) + 1e-9) + 1):
        x = at(2**power, low)[0]
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + tall}" stroke="#f0f0f0"/>')
        body.append(text(x, height - _BELOW + 21, f"{2**power:,}", 16, "middle"))
    for i, (name, by) in enumerate(costs.items()):
        colour, y = COLOURS[i % len(COLOURS)], top - 8 - _ROW * (len(costs) - i - 0.5)
        if name in laws:
            law = laws[name]
            ends = [at(n, law.constant * n**law.exponent) for n in (law.start, law.end)]
            (x1, y1), (x2, y2) = ends
            line = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            body.append(f'<line {line} stroke="{colour}" stroke-width="3"/>')
            body.append(f'<line x1="{_LEFT}" x2="{_LEFT + 34}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>')
        body += [_mark(i, *at(n, cost), colour) for n, cost in by.items()]
        body.append(_mark(i, _LEFT + 17, y, colour))
        body.append(text(_LEFT + 44, y + 6, " ".join(filter(None, [name, (notes or {}).get(name, "")])), 16))
    body.append(f'<rect x="{_LEFT}" y="{top}" width="{wide}" height="{tall}" fill="none" stroke="{FAINT}"/>')
    body.append(text(_LEFT + wide / 2, height - 9, x_title, 16, "middle"))
    middle = top + tall / 2
    body.append(text(17, middle, y_title, 16, "middle", f'transform="rotate(-90 17 {middle:.1f})"'))
    return svg(width, height, "".join(body), alt)


def _mark(kind: int, x: float, y: float, colour: str) -> str:
    """A shape as well as a colour: both tell the lines apart."""
    look = f'fill="{colour}" stroke="#fff"'
    if kind % 4 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" {look}/>'
    corners: Sequence[Sequence[tuple[float | int, float | int]]] = (
        [(-5.5, -5.5), (5.5, -5.5), (5.5, 5.5), (-5.5, 5.5)],
        [(0, -7.5), (6.5, 5), (-6.5, 5)],
        [(0, -8), (8, 0), (0, 8), (-8, 0)],
    )
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners[kind % 4 - 1])
    return f'<polygon points="{points}" {look}/>'


def stacked_svg(*pictures: str, alt: str, gap: Pixels = 26) -> str:
    """Drawings one below the other as one drawing, each at its own size.

    Raises ValueError if one of them is none of this package's drawings, or alt is empty.
    """
    parts, wide, down = [], 0.0, 0.0
    for picture in pictures:
        head, frame, rest = picture.partition(' viewBox="0 0 ')
        size, closed, _ = rest.partition('"')
        if not (head.startswith("<svg ") and frame and closed):
            raise ValueError(f"pictures must be drawings that begin with <svg, got {picture[:60]!r}")
        width, height = map(float, size.split())
        parts.append(f'<svg y="{down:.0f}" height="{height:.0f}" {picture.removeprefix("<svg ")}')
        wide, down = max(wide, width), down + height + gap
    return svg(wide, down - gap, "".join(parts), alt)
