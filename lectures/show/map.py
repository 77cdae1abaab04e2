"""Many points in the plane, shaded by a number, one chosen and its neighbours named."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import blue, svg, text

_WIDE, _HIGH, _EDGE = 700.0, 470.0, 26.0
_ORANGE = "#D55E00"
_HALO = "paint-order:stroke;stroke:#fff;stroke-width:4px"


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
    span = np.ptp(xy, axis=0)
    place = (xy - xy.min(axis=0)) / np.where(span > 0, span, 1.0)
    left = _EDGE + place[:, 0] * (_WIDE - 2 * _EDGE)
    top = 34 + _EDGE + (1 - place[:, 1]) * (_HIGH - 2 * _EDGE)
    tones = 0.15 + 0.85 * (tone - tone.min()) / (np.ptp(tone) or 1.0)
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    body += [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{blue(shade)}" stroke="#555" stroke-width="0.5"/>'
        for x, y, shade in zip(left, top, tones, strict=True)
    ]
    for i in (*near, chosen):
        here = i == chosen
        look = f'fill="{_ORANGE if here else "none"}" stroke="{_ORANGE}" stroke-width="3"'
        body.append(f'<circle cx="{left[i]:.1f}" cy="{top[i]:.1f}" r="{9 if here else 8}" {look}/>')
    taken: list[tuple[float, float]] = []
    for i in (chosen, *near):
        turned = left[i] > _WIDE * 0.72
        x, y = left[i] + (-13 if turned else 13), float(top[i]) + 5
        while any(abs(y - other) < 17 and abs(x - across) < 150 for across, other in taken):
            y += 17
        taken.append((float(x), y))
        if y > top[i] + 6:  # the name had to give way: a thin line leads to it
            body.append(
                f'<line x1="{left[i]:.1f}" y1="{top[i]:.1f}" x2="{x:.1f}" y2="{y - 5:.1f}" stroke="{_ORANGE}"/>'
            )
        weight = ' font-weight="bold"' if i == chosen else ""
        body.append(text(x, y, names[i], 15, "end" if turned else "start", f'style="{_HALO}"{weight}'))
    base = max(_HIGH + 34, *(y + 10 for _, y in taken)) + 12
    for k in range(9):
        body.append(
            f'<rect x="{110 + 22 * k}" y="{base - 13:.1f}" width="22" height="16" fill="{blue(0.15 + k * 0.85 / 8)}"/>'
        )
    body.append(text(102, base, low, 15, "end"))
    body.append(text(316, base, high, 15))
    alt = f"{title}. {len(names)} points; chosen: {names[chosen]}"
    alt += f"; nearest: {', '.join(names[i] for i in near)}." if near else "."
    return svg(_WIDE, base + 12, "".join(body), alt)
