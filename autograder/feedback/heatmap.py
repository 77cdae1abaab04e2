"""The difference between expected and actual results, as a picture: blue (too small), white (right), orange (too
large).

Every kind of colour vision distinguishes the two colours; each square also shows its value, and a screen reader gets
the largest difference in words.
"""

import math
from typing import Any

from markupsafe import Markup

from autograder.pages import part

_BLUE, _ORANGE = (0, 90, 160), (200, 90, 0)
_WIDE, _HIGH, _MOST = 46, 26, 12


def heatmap(name: str, difference: Any) -> Markup:
    """yours − expected, one square per value; nothing if a picture would show nothing."""
    if not isinstance(difference, list) or not difference:
        return Markup()
    values = [[None if v is None else float(v) for v in row] for row in difference[:_MOST]]
    largest = max((abs(v) for row in values for v in row if v is not None and math.isfinite(v)), default=0.0)
    if largest == 0:
        return Markup()
    squares = [
        (x * _WIDE, y * _HIGH, *_square(v, largest)) for y, row in enumerate(values) for x, v in enumerate(row[:_MOST])
    ]
    width, height = len(values[0][:_MOST]) * _WIDE, len(values) * _HIGH
    wrong = sum(v is None or abs(v) > 1e-4 for row in values for v in row)
    return part("heatmap", name, squares, width, height, wrong, sum(map(len, values)), f"{largest:.3g}")


def _square(value: float | None, largest: float) -> tuple[str, str, str]:
    if value is None or not math.isfinite(value):
        return "#4a4a4a", "#ffffff", "none"
    share = abs(value) / largest
    colour = _ORANGE if value > 0 else _BLUE
    mixed = tuple(round(255 + (end - 255) * share) for end in colour)
    words = "0" if abs(value) <= 1e-4 else f"{value:+.2f}"[:6]
    return f"rgb{mixed}".replace(" ", ""), _ink(mixed), words


def _ink(colour: tuple[int, ...]) -> str:
    """White or black, whichever is easier to read: the contrast of WCAG 2 is then 4.5 or more on any colour."""
    linear = [v / 3294.6 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if light < 0.179 else "#000000"
