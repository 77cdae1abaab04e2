"""The distribution of marks: a picture with words for who does not see it, and the numbers for the table beside it."""

import html
import statistics
from collections.abc import Sequence

BINS = 10
_WIDTH, _HEIGHT, _BOTTOM = 420, 180, 28


def counts(parts: Sequence[float]) -> list[int]:
    """How many in each tenth of the points: [0, 10 %), … [90 %, 100 %]; more than all (extra credit) in the last."""
    made = [0] * BINS
    for part in parts:
        made[min(max(int(part * BINS + 1e-9), 0), BINS - 1)] += 1
    return made


def histogram(parts: Sequence[float]) -> str:
    """Inline SVG."""
    heights = counts(parts)
    most = max(heights, default=0) or 1
    step = _WIDTH / BINS
    bars = []
    for i, count in enumerate(heights):
        tall = count / most * (_HEIGHT - _BOTTOM - 18)
        x, y = i * step, _HEIGHT - _BOTTOM - tall
        bars.append(f'<rect x="{x + 3:g}" y="{y:.1f}" width="{step - 6:g}" height="{tall:.1f}" fill="#0072b2"/>')
        bars.append(f'<text x="{x + step / 2:g}" y="{y - 4:.1f}" text-anchor="middle">{count or ""}</text>')
        bars.append(f'<text x="{x + step / 2:g}" y="{_HEIGHT - 8}" text-anchor="middle">{i * 10}</text>')
    middle = f" The median is {statistics.median(parts):.0%}." if parts else ""
    alt = html.escape(
        f"Histogram of the marks of {len(parts)} students, in tenths of all points, from lowest to highest: "
        f"{', '.join(map(str, heights))}.{middle}"
    )
    line = f'<line x1="0" x2="{_WIDTH}" y1="{_HEIGHT - _BOTTOM}" y2="{_HEIGHT - _BOTTOM}" stroke="#1c2126"/>'
    return (
        f'<figure><svg role="img" aria-label="{alt}" width="{_WIDTH}" height="{_HEIGHT}" font-size="14"'
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{alt}</title>{line}{"".join(bars)}</svg>'
        "<figcaption>Students by per cent of all points, in tenths (0 means 0 to under 10).</figcaption></figure>"
    )


def bar(part: float) -> str:
    """A small bar beside a number; the number is what says it."""
    wide = round(100 * min(max(part, 0.0), 1.0))
    return (
        f'<svg aria-hidden="true" width="100" height="12" viewBox="0 0 100 12">'
        '<rect width="100" height="12" fill="#e3e7ea"/>'
        f'<rect width="{wide}" height="12" fill="#0072b2"/></svg>'
    )
