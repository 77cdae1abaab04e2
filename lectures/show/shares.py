"""Shares with their intervals, in panels side by side, as SVG: accuracy against what it depends on."""

import math
from collections.abc import Mapping, Sequence

from lectures.show.picture import COLOURS
from lectures.show.svg import FAINT, svg, text

Share = tuple[float | int, float | int, float | int]
"""(share, low, high), each between 0 and 1."""

_WIDE, _HIGH, _LEFT, _GAP = 230.0, 190.0, 82.0, 22.0


def share_panels_svg(
    x: Sequence[float | int | str],
    panels: Mapping[str, Mapping[str, Sequence[Share]]],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    levels: Mapping[str, float | int] | None = None,
    level_name: str = "",
    title: str = "",
    columns: int = 3,
) -> str:
    """{panel: {line: one (share, low, high) per x}}; lines of one name are drawn alike in every panel.

    A line is told by colour and by its mark, full or hollow; its interval is the upright stroke. x stands at equal
    distances. levels: a dashed line across a panel, which `level_name` explains above.

    Raises ValueError for no panels, a line with another number of points than x, a share outside its interval or
    [0, 1], or an empty alt.
    """
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    if not names or not x:
        raise ValueError("share_panels_svg needs at least one panel with a line, and one x")
    for panel, lines in panels.items():
        for name, shares in lines.items():
            if len(shares) != len(x):
                raise ValueError(f"line {name!r} of {panel!r} has {len(shares)} points, x has {len(x)}")
            if wrong := [s for s in shares if not 0 <= s[1] <= s[0] <= s[2] <= 1]:
                raise ValueError(f"a share must lie in its interval and in [0, 1], got {wrong[0]} in {panel!r}")
    top = 36.0 if title else 8.0
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    across = _LEFT
    for i, name in enumerate(names):
        body += [_whisker(across + 12, top + 2, top + 22, i), _dot(across + 12, top + 12, i)]
        body.append(text(across + 28, top + 18, name, 16))
        across += 58 + len(name) * 9.6
    if levels:
        body.append(_dashes(across, across + 34, top + 12))
        body.append(text(across + 42, top + 18, level_name, 16))
    top += 34
    rows = math.ceil(len(panels) / columns)
    for k, (panel, lines) in enumerate(panels.items()):
        left, up = _LEFT + (k % columns) * (_WIDE + _GAP), top + 30 + (k // columns) * (_HIGH + 76)
        body.append(text(left + _WIDE / 2, up - 9, panel, 16, "middle", 'font-weight="bold"'))
        for share in (0, 0.25, 0.5, 0.75, 1):
            y = up + _HIGH * (1 - share)
            body.append(f'<line x1="{left}" x2="{left + _WIDE}" y1="{y}" y2="{y}" stroke="#e3e3e3"/>')
            if k % columns == 0 and share != 0.25 and share != 0.75:
                body.append(text(left - 7, y + 6, f"{share:.0%}", 16, "end"))
        if levels and panel in levels:
            body.append(_dashes(left, left + _WIDE, up + _HIGH * (1 - levels[panel])))
        places = [left + _WIDE * (n + 0.5) / len(x) for n in range(len(x))]
        for place, label in zip(places, x, strict=True):
            body.append(text(place, up + _HIGH + 21, str(label), 16, "middle"))
        for name, shares in lines.items():
            i, shift = names.index(name), 5.0 * (names.index(name) - (len(names) - 1) / 2)
            points = [(p + shift, up + _HIGH * (1 - s[0])) for p, s in zip(places, shares, strict=True)]
            line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
            body.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[i]}" stroke-width="2"/>')
            for (px, py), (_, low, high) in zip(points, shares, strict=True):
                body += [_whisker(px, up + _HIGH * (1 - high), up + _HIGH * (1 - low), i), _dot(px, py, i)]
        body.append(f'<rect x="{left}" y="{up}" width="{_WIDE}" height="{_HIGH}" fill="none" stroke="{FAINT}"/>')
    height = top + rows * (_HIGH + 76) + 12
    width = _LEFT + min(columns, len(panels)) * (_WIDE + _GAP)
    body.append(text((width + _LEFT) / 2, height - 10, x_title, 16, "middle"))
    middle = (top + height) / 2
    body.append(text(15, middle, y_title, 16, "middle", f'transform="rotate(-90 15 {middle:.1f})"'))
    return svg(max(width, across + 60 + len(level_name) * 9), height, "".join(body), alt)


def _whisker(x: float | int, up: float | int, down: float | int, line: int) -> str:
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{up:.1f}" y2="{down:.1f}" stroke="{COLOURS[line]}" stroke-width="2"'
        ' opacity="0.7"/>'
    )


def _dot(x: float | int, y: float | int, line: int) -> str:
    fill = COLOURS[line] if line % 2 == 0 else "#fff"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{fill}" stroke="{COLOURS[line]}" stroke-width="2.5"/>'


def _dashes(left: float | int, right: float | int, y: float | int) -> str:
    return (
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#555" stroke-width="2"'
        ' stroke-dasharray="7 5"/>'
    )
