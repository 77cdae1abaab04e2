"""Named bars under each other with their numbers: probabilities of words, shares, bits."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, Pixels, label_width, svg, text

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#B8B8B8"


def bar_list_svg(
    values: ArrayLike,
    labels: Sequence[str],
    *,
    alt: str,
    title: str = "",
    says: Sequence[str] | None = None,
    highlight: Sequence[int] = (),
    reach: float | int | None = None,
    note: str = "",
    width: Pixels = 640,
) -> str:
    """One horizontal bar per value, its label to the left and what it `says` (its value, by default) to the right.

    Highlighted bars are orange with bold words. The longest bar that fits is `reach` (the largest value, by default);
    a longer one is cut off, its number tells. `note`: lines below, separated by newlines.

    Raises ValueError if lengths do not fit, or a value is negative or no number.
    """
    sizes = np.asarray(values, dtype=float)
    told = [f"{value:.3f}" for value in sizes.ravel()] if says is None else list(says)
    if sizes.shape != (len(labels),) or len(told) != len(labels):
        raise ValueError(
            f"bar_list_svg needs a value, a label and words per bar, got {sizes.shape}, {len(labels)} and {len(told)}"
        )
    if not np.isfinite(sizes).all() or (sizes < 0).any():
        raise ValueError(f"values must be finite and at least 0, got {sizes.tolist()}")
    longest = float(reach if reach is not None else (sizes.max(initial=0) or 1.0))
    left, right = label_width(labels, 16) + 10, label_width(told, 16)
    room = max(width - left - right - 8, 60.0)
    top, step, thick = (32.0 if title else 4.0), 30.0, 20.0
    parts = [text(0, 19, title, 16, more='font-weight="bold"')] if title else []
    bottom = top + step * len(labels)
    parts.append(f'<line x1="{left:.1f}" x2="{left:.1f}" y1="{top}" y2="{bottom}" stroke="{FAINT}"/>')
    for i, (size, label, words) in enumerate(zip(sizes, labels, told, strict=True)):
        y = top + step * i + (step - thick) / 2
        chosen = i in highlight
        more = 'font-weight="bold"' if chosen else ""
        long = room * min(size / longest, 1.0)
        parts.append(text(left - 8, y + 15, label, 16, "end", more))
        parts.append(
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{max(long, 0.5):.1f}" height="{thick}"'
            f' fill="{ORANGE if chosen else BLUE}"/>'
        )
        parts.append(text(left + long + 8, y + 15, words, 16, "start", more))
    for line in note.splitlines():
        bottom += 25
        parts.append(text(0, bottom, line, 16))
    return svg(left + room + right + 8, bottom + 8, "".join(parts), alt)
