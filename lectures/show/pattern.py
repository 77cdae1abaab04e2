"""Who may read whom, in one layer and through several: a mask, and how many layers a word's news takes to arrive."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.raster import diverging_rgb, image_svg
from lectures.show.svg import FAINT, svg, text

_SIDE, _TOP, _GAP, _LEFT = 320.0, 62.0, 96.0, 26.0


def pattern_svg(
    mask: ArrayLike, layers_needed: ArrayLike, query: int, *, layers: int, title: str = "", notes: Sequence[str] = ()
) -> str:
    """Left a mask (query, key), blue where a query may read a key; right after how many layers it has news of it.

    layers_needed (query, key): 1, 2, … up to `layers`, the darker the fewer; NaN, or more than `layers`, is grey: not
    yet. Row `query` is framed in both.

    Raises ValueError if the two are not square and of one size, there is no such row, or layers is below 1.
    """
    allowed, needed = np.asarray(mask, dtype=bool), np.asarray(layers_needed, dtype=float)
    n = len(allowed)
    if allowed.shape != (n, n) or needed.shape != (n, n) or not 0 <= query < n or layers < 1:
        raise ValueError(
            "pattern_svg needs two matrices (position, position) of one size, one of their rows and at least one layer,"
            f" got {allowed.shape} and {needed.shape}, query={query}, layers={layers}"
        )
    shade = -1 + 0.65 * (np.arange(layers) / max(1, layers - 1))  # −1 is the darkest blue
    arrived = np.where(needed <= layers, needed, np.nan)
    late = np.where(np.isnan(arrived), np.nan, shade[np.nan_to_num(arrived, nan=1.0).astype(int) - 1])
    cell = _SIDE / n
    body = [text(0, 20, title, 17, more='font-weight="bold"')]
    panels = {
        "one layer reads": np.where(allowed, -1.0, np.nan),
        f"after {layers} layer{'s' * (layers > 1)}: has news of": late,
    }
    for i, (name, matrix) in enumerate(panels.items()):
        left, y = _LEFT + i * (_SIDE + _GAP), _TOP + cell * query
        body.append(text(left, _TOP - 12, name, 16))
        body.append(image_svg(matrix, left, _TOP, _SIDE, _SIDE))
        frame = f'x="{left - 3:.1f}" y="{y - 2:.1f}" width="{_SIDE + 6:.1f}" height="{cell + 4:.1f}"'
        body.append(f'<rect {frame} fill="none" stroke="{COLOURS[1]}" stroke-width="3"/>')
        for place in sorted({0, n - 1}):
            body.append(text(left - 5, _TOP + cell * (place + 0.5) + 5, str(place), 14, "end"))
            body.append(text(left + cell * (place + 0.5), _TOP + _SIDE + 18, str(place), 14, "middle"))
    key_x, key_y = _LEFT + 2 * _SIDE + _GAP + 18, _TOP + 6
    for i, colour in enumerate([*diverging_rgb(shade), diverging_rgb(np.array(np.nan))]):
        y, rgb = key_y + 26 * i, ",".join(str(int(c)) for c in colour)
        name = "not yet" if i == layers else f"{i + 1} layer{'s' * (i > 0)}"
        body.append(
            f'<rect x="{key_x}" y="{y}" width="20" height="18" fill="rgb({rgb})" stroke="{FAINT}"/>'
            + text(key_x + 27, y + 15, name, 15)
        )
    reads, knows = int(allowed[query].sum()), int(np.isfinite(arrived[query]).sum())
    lines = [
        f"rows: who reads; columns: who is read. One layer scores {int(allowed.sum()):,} of {n * n:,} pairs",
        f"position {query} reads {reads} of {n}; after {layers} layer{'s' * (layers > 1)} it has news of {knows}",
        *notes,
    ]
    bottom = _TOP + max(_SIDE + 20, 26.0 * (layers + 1))
    body += [text(0, bottom + 26 + 25 * i, line, 16) for i, line in enumerate(lines)]
    wide = max(key_x + 110, *(9.2 * len(line) for line in (title, *lines)))
    return svg(wide, bottom + 14 + 25 * len(lines), "".join(body), f"{title}. {'. '.join(lines)}.")
