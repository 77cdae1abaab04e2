"""Expected against got on a public input: tables side by side, and a picture of the difference.

It reads the plain data that `Report.machine` wrote. The picture goes from blue (too small) through
white (right) to orange (too large), a pair that every kind of colour vision tells apart; each square says its number
too, and a screen reader gets the largest difference in words.
"""

import html
import math
from typing import Any

_BLUE, _ORANGE = (0, 90, 160), (200, 90, 0)
_SIDE = 46


def example_html(example: Any) -> str:
    """The example, as HTML; "" if there is none to show."""
    if not isinstance(example, dict):
        return ""
    inputs = "".join(_input(value) for value in example.get("inputs", []))
    outputs = "".join(_output(value) for value in example.get("outputs", []))
    return (
        f"<h3>An example: {html.escape(str(example.get('title', '')))}</h3>"
        f'<p>The function was called with</p><div class="side">{inputs}</div>{outputs}'
    )


def _input(value: dict[str, Any]) -> str:
    name = str(value.get("name", ""))
    if "rows" in value:
        return _grid(name, value)
    return f"<p><code>{html.escape(f'{name} = ' + str(value.get('text', '')))}</code></p>"


def _output(value: dict[str, Any]) -> str:
    name = str(value.get("name", ""))
    tables = _grid(f"{name}, expected", value["expected"]) + _grid(f"{name}, yours", value["yours"])
    return f'<div class="side">{tables}{heatmap(name, value.get("difference"))}</div>'


def _grid(title: str, table: dict[str, Any]) -> str:
    rows = []
    for values, marks in zip(table["rows"], table["marked"], strict=False):
        cells = (
            f'<td class="d">{html.escape(str(v))}<span aria-label="differs">*</span></td>'
            if m
            else f"<td>{html.escape(str(v))}</td>"
            for v, m in zip(values, marks, strict=False)
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    words = (
        f"<code>{html.escape(title + str(table.get('part', '')))}</code><br>{html.escape(str(table.get('about', '')))}"
    )
    label = html.escape(title)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table class="grid">'
        f"<caption>{words}</caption><tbody>{''.join(rows)}</tbody></table></div>"
    )


def heatmap(name: str, difference: Any) -> str:
    """yours − expected, one square per number."""
    if not isinstance(difference, list) or not difference:
        return ""
    values = [[None if v is None else float(v) for v in row] for row in difference[:12]]
    largest = max((abs(v) for row in values for v in row if v is not None and math.isfinite(v)), default=0.0)
    if largest == 0:
        return ""
    squares = []
    for y, row in enumerate(values):
        for x, v in enumerate(row[:12]):
            fill, ink, words = _square(v, largest)
            squares.append(
                f'<rect x="{x * _SIDE}" y="{y * 26}" width="{_SIDE}" height="26" fill="{fill}" stroke="#8a949c"/>'
                f'<text x="{x * _SIDE + _SIDE / 2:g}" y="{y * 26 + 17}" fill="{ink}" text-anchor="middle">'
                f"{words}</text>"
            )
    width, height = len(values[0][:12]) * _SIDE, len(values) * 26
    wrong = sum(v is None or abs(v) > 1e-4 for row in values for v in row)
    of = sum(map(len, values))
    alt = html.escape(f"{name}: yours minus expected. {wrong} of {of} numbers differ, by {largest:.3g} at most.")
    return (
        f'<figure><svg role="img" aria-label="{alt}" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13">'
        f"<title>{alt}</title>{''.join(squares)}</svg>"
        "<figcaption>Yours minus expected: blue is too small, orange too large, white is right.</figcaption></figure>"
    )


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
