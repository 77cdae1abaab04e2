"""A loss of two weights seen from above, dark where it is large, with paths of descent on it; clipping in the plane."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.png import png_address
from lectures.show.svg import FAINT, INK, svg, text

_WIDE, _HIGH, _LEFT, _TOP = 560.0, 400.0, 64.0, 48.0
Range = tuple[float | int, float | int]


def grey_png(image: ArrayLike) -> str:
    """Numbers in [0, 1] (row, column), 0 white and 1 dark grey, as a data address that an <image> shows."""
    values = np.asarray(image, dtype=float)
    return png_address((255 - 190 * np.clip(values, 0, 1)).round().astype(np.uint8))


def cliff_svg(
    surface: str,
    x_range: Range,
    y_range: Range,
    paths: Mapping[str, ArrayLike],
    *,
    alt: str,
    x_title: str = "w",
    y_title: str = "b",
    title: str = "",
) -> str:
    """`surface` is a data address of `grey_png`, its first row at the top (the largest y); paths: name -> (step, 2).

    A path that leaves the frame is cut off there. Raises ValueError for a path of another shape, or if alt is empty.
    """
    top = _TOP + 26 * len(paths)
    (x0, x1), (y0, y1) = x_range, y_range

    def at(point: np.ndarray) -> tuple[float, float]:
        x = _LEFT + _WIDE * (point[0] - x0) / (x1 - x0)
        y = top + _HIGH * (y1 - point[1]) / (y1 - y0)
        return float(np.clip(x, -1e4, 1e4)), float(np.clip(y, -1e4, 1e4))

    frame = f'x="{_LEFT}" y="{top}" width="{_WIDE}" height="{_HIGH}"'
    body = [
        text(0, 22, title, 16, more='font-weight="bold"'),
        f'<clipPath id="nlm-hill-{len(paths)}"><rect {frame}/></clipPath>',
        f'<image href="{surface}" {frame} preserveAspectRatio="none"/>',
        f'<rect {frame} fill="none" stroke="{FAINT}"/>',
    ]
    for fraction in (0.0, 0.25, 0.5, 0.75, 1.0):
        x_here, y_here = x0 + fraction * (x1 - x0), y0 + fraction * (y1 - y0)
        body.append(text(_LEFT + _WIDE * fraction, top + _HIGH + 22, f"{x_here:g}", 15, "middle"))
        body.append(text(_LEFT - 8, top + _HIGH * (1 - fraction) + 5, f"{y_here:g}", 15, "end"))
    for k, (name, path) in enumerate(paths.items()):
        points = np.asarray(path, dtype=float)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points):
            raise ValueError(f"path {name!r} must be (step, 2), got shape {points.shape}")
        places = [at(point) for point in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        colour, dashes = COLOURS[k % 7], ("", "9 5", "3 4")[k % 3]
        look = f'stroke="{colour}" stroke-width="3" stroke-dasharray="{dashes}"'
        (x, y), key = places[-1], _TOP + 26 * k
        body.append(
            f'<g clip-path="url(#nlm-hill-{len(paths)})"><polyline points="{line}" fill="none" {look}/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{colour}" stroke="#fff" stroke-width="2"/></g>'
        )
        body.append(f'<line x1="{_LEFT}" x2="{_LEFT + 36}" y1="{key:.1f}" y2="{key:.1f}" {look}/>')
        body.append(text(_LEFT + 44, key + 5, name, 15))
    middle = top + _HIGH / 2
    body.append(text(_LEFT + _WIDE / 2, top + _HIGH + 46, x_title, 16, "middle"))
    body.append(text(18, middle, y_title, 16, "middle"))
    return svg(_WIDE + _LEFT + 16, top + _HIGH + 56, "".join(body), alt)


def clipped_svg(
    gradient: ArrayLike, clipped: Mapping[str, ArrayLike], n_max: float | int, *, alt: str, reach: float | int = 4.0
) -> str:
    """A gradient of two numbers as an arrow, and what clippings make of it; a circle and a square of size n_max.

    Raises ValueError for a vector that is not (2,), or if alt is empty.
    """
    size, top = 400.0, 38.0 + 26 * (1 + len(clipped))
    unit, cx, cy = size / (2 * reach), size / 2 + 6, top + size / 2
    side = unit * n_max
    body = [
        f'<rect x="6" y="{top}" width="{size}" height="{size}" fill="none" stroke="{FAINT}"/>',
        f'<line x1="6" x2="{size + 6}" y1="{cy}" y2="{cy}" stroke="#ddd"/>',
        f'<line x1="{cx}" x2="{cx}" y1="{top}" y2="{top + size}" stroke="#ddd"/>',
        f'<circle cx="{cx}" cy="{cy}" r="{side:.1f}" fill="none" stroke="{INK}" stroke-width="1.5"/>',
        f'<rect x="{cx - side:.1f}" y="{cy - side:.1f}" width="{2 * side:.1f}" height="{2 * side:.1f}" fill="none"'
        f' stroke="{INK}" stroke-width="1.5" stroke-dasharray="5 4"/>',
        text(0, 20, "a gradient of two numbers (g₁, g₂)", 16, more='font-weight="bold"'),
        text(size + 2, cy - 6, "g₁", 16, "end"),
        text(cx + 6, top + 18, "g₂", 16),
    ]
    for k, (name, vector) in enumerate({"gradient": gradient, **clipped}.items()):
        v = np.asarray(vector, dtype=float)
        if v.shape != (2,):
            raise ValueError(f"{name} must be two numbers, got shape {v.shape}")
        x, y = cx + unit * np.clip(v[0], -reach, reach), cy - unit * np.clip(v[1], -reach, reach)
        colour, key = ("#8a8a8a", *COLOURS[:6])[k], 38 + 26 * k + 8
        look = f'stroke="{colour}" stroke-width="{7 - 1.5 * k}"'
        body.append(f'<line x1="{cx}" y1="{cy}" x2="{x:.1f}" y2="{y:.1f}" {look} stroke-linecap="round"/>')
        body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}" stroke="#fff" stroke-width="1.5"/>')
        body.append(f'<line x1="6" x2="40" y1="{key}" y2="{key}" {look}/>')
        length, angle = float(np.hypot(*v)), float(np.degrees(np.arctan2(v[1], v[0]))) % 360
        body.append(text(48, key + 5, f"{name}: length {length:.2f}, direction {angle:.0f}°", 15))
    return svg(size + 60, top + size + 8, "".join(body), alt)
