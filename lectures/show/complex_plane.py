"""Eigenvalues in the complex plane, with the unit circle: inside it powers die out, outside they grow."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.svg import FAINT, Pixels, svg, text


def eigenvalues_svg(
    values: Mapping[str, ArrayLike], *, alt: str, reach: float | int = 1.6, title: str = "", size: Pixels = 380
) -> str:
    """Complex numbers as rings (the first set) and dots (the next ones). The plane ends at ±reach; what lies further
    out is drawn on the edge.

    Raises ValueError if alt is empty, or reach is not above 1, so that the circle fits in.
    """
    if not reach > 1:
        raise ValueError(f"reach must be above 1, so that the unit circle is in the picture, got {reach}")
    top = 30.0 + 24 * len(values)
    side = size - 20
    unit = side / (2 * reach)
    cx, cy = 10 + side / 2, top + side / 2
    body = [
        text(0, 20, title, 16, more='font-weight="bold"'),
        f'<rect x="10" y="{top}" width="{side}" height="{side}" fill="none" stroke="{FAINT}"/>',
        f'<line x1="10" x2="{10 + side}" y1="{cy}" y2="{cy}" stroke="#ddd"/>',
        f'<line x1="{cx}" x2="{cx}" y1="{top}" y2="{top + side}" stroke="#ddd"/>',
        f'<circle cx="{cx}" cy="{cy}" r="{unit:.1f}" fill="#f2f6fa" stroke="#1a1a1a" stroke-width="2"/>',
        text(cx + unit * 0.72, cy - unit * 0.72, "|λ| = 1", 15),
        text(8 + side, cy - 6, "real", 15, "end"),
        text(cx + 6, top + 16, "imaginary", 15),
    ]
    for k, (name, numbers) in enumerate(values.items()):
        colour = COLOURS[k % 7]
        look = f'fill="none" stroke="{colour}" stroke-width="2.5"' if k == 0 else f'fill="{colour}" opacity="0.8"'
        radius = 6.5 if k == 0 else 4.5
        body.append(f'<circle cx="20" cy="{top - 24 * (len(values) - k) + 8:.1f}" r="{radius}" {look}/>')
        body.append(text(34, top - 24 * (len(values) - k) + 13, name, 15))
        edge = reach * 0.98
        for number in np.asarray(numbers, dtype=complex):
            x, y = np.clip(number.real, -edge, edge), np.clip(number.imag, -edge, edge)
            body.append(f'<circle cx="{cx + unit * x:.1f}" cy="{cy - unit * y:.1f}" r="{radius}" {look}/>')
    return svg(size, top + side + 10, "".join(body), alt)
