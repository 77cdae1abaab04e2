"""The board of Shannon's guessing game, and bits per character as intervals between his two bounds."""

import html
from collections.abc import Mapping, Sequence

from lectures.show.bar_list import BLUE, ORANGE
from lectures.show.surprise import lines
from lectures.show.svg import FAINT, Pixels, label_width, svg, text

_MONO = "font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace"
Row = tuple[float | None, float | None, float | None, float | None]
"""Lower bound, upper bound, bits from probabilities, share of first guesses that were right; None: not known."""


def guessing_svg(
    shown: str,
    given: int,
    guesses: Sequence[int],
    wrong: Sequence[str],
    rows: Mapping[str, Row],
    *,
    done: bool = False,
    most: int = 28,
    per_line: int = 40,
) -> str:
    """The text found so far with the number of guesses below each character, and a gap for the next; then the score.

    shown: the characters to be seen, of which the first `given` were not guessed. wrong: tried in vain for the next.

    Raises ValueError if there is not one number per guessed character.
    """
    if len(guesses) != len(shown) - given:
        raise ValueError(
            f"guessing_svg needs a number per guessed character, got {len(guesses)} for {len(shown) - given}"
        )
    wide, high = 19.0, 52.0
    cells = [*shown] if done else [*shown, "_"]
    numbers: list[int | None] = [None] * given + list(guesses) + ([] if done else [None])
    parts = []
    board = lines(cells, per_line)
    for row, (first, last) in enumerate(board):
        for column, i in enumerate(range(first, last)):
            x, y = wide * column, 24 + high * row
            number = numbers[i]
            ink = "#6a6a6a" if i < given else "#000000"
            sign = {"\n": "\N{DOWNWARDS ARROW WITH TIP LEFTWARDS}", " ": "\N{OPEN BOX}" if i >= given else " "}.get(
                cells[i], cells[i]
            )
            if i == len(shown):
                parts.append(
                    f'<rect x="{x:.0f}" y="{y - 19:.0f}" width="{wide}" height="27" fill="none" stroke="{ORANGE}"'
                    ' stroke-width="3"/>'
                )
                continue
            parts.append(
                f'<text x="{x + wide / 2:.1f}" y="{y:.0f}" font-size="20" text-anchor="middle"'
                f' style="{_MONO};fill:{ink}">{html.escape(sign)}</text>'
            )
            if number is not None:
                colour = ORANGE if number > 1 else "#333333"
                weight = "bold" if number > 1 else "normal"
                parts.append(
                    text(x + wide / 2, y + 19, str(number), 15, "middle", f'style="fill:{colour};font-weight:{weight}"')
                )
    bottom = 24 + high * len(board) - 8
    tried = "" if not wrong else "not: " + " ".join({" ": "space", ".": "other sign"}.get(key, key) for key in wrong)
    state = "the end of the passage" if done else tried or "which key is next?"
    parts.append(text(0, bottom + 8, state, 18, more=f'style="fill:{"#B34700" if tried else "#1a1a1a"}"'))
    bottom += 26
    width, below = wide * per_line, 0.0
    if rows:
        drawing, below, width_of = intervals(rows, bottom)
        parts.append(drawing)
        width = max(width, width_of)
    at_once = sum(n == 1 for n in guesses)
    said = f"Guessing game: {len(guesses)} characters found, {at_once} with the first guess; {state}. "
    said += " ".join(_said(name, row) for name, row in rows.items())
    return svg(width, bottom + below + 8, "".join(parts), said)


def intervals_svg(rows: Mapping[str, Row], *, alt: str, note: str = "") -> str:
    """Bits per character: for each name a bar between its bounds, and a diamond where its probabilities put it."""
    drawing, height, width = intervals(rows, 0.0)
    words = ""
    for line in note.splitlines():
        height += 24
        words += text(0, height - 4, line, 16)
    return svg(max(width, *(len(line) * 8.6 for line in note.splitlines() or [""])), height + 8, drawing + words, alt)


def intervals(rows: Mapping[str, Row], top: Pixels) -> tuple[str, float, float]:
    """The bars as text of an SVG, their height, and their width."""
    left, reach, room, step = label_width(list(rows), 16), 5.0, 400.0, 28.0
    ends = [value for row in rows.values() for value in row[:3] if value is not None]
    reach = max(reach, *ends)

    def at(bits: Pixels) -> float:
        return left + room * max(float(bits), 0.0) / reach

    base = top + 50 + step * len(rows)
    parts = [
        text(left, top + 18, "bits per character: bar = Shannon's bounds", 16, more='font-weight="bold"'),
        _diamond(left + 434, top + 12)
        + text(left + 446, top + 18, "= from probabilities", 16, more='font-weight="bold"'),
    ]
    for tick in range(int(reach) + 1):
        parts.append(
            f'<line x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{top + 30}" y2="{base - 14}" stroke="#dddddd"/>'
        )
        parts.append(text(at(tick), base + 4, str(tick), 15, "middle"))
    for i, (name, (low, high, bits, first)) in enumerate(rows.items()):
        y = top + 48 + step * i
        weight = 'font-weight="bold"' if i == 0 and bits is None else ""
        parts.append(text(left - 8, y + 6, name, 16, "end", weight))
        if low is not None and high is not None:
            colour = ORANGE if bits is None else BLUE
            parts.append(
                f'<rect x="{at(low):.1f}" y="{y - 8:.1f}" width="{max(at(high) - at(low), 2):.1f}" height="16"'
                f' fill="{colour}" opacity="0.8"/>'
            )
        if bits is not None:
            parts.append(_diamond(at(bits), y))
        words = f"{bits:.2f}" if bits is not None else f"{low:.2f} to {high:.2f}"
        words += "" if first is None else f" · first guess right {first:.0%}"
        parts.append(text(left + room + 12, y + 6, words, 16))
    parts.append(f'<line x1="{left}" x2="{left + room}" y1="{base - 14}" y2="{base - 14}" stroke="{FAINT}"/>')
    return "".join(parts), base + 14 - top, left + room + 12 + 300


def _diamond(x: Pixels, y: Pixels) -> str:
    return f'<path d="M{x:.1f},{y - 9:.1f} l9,9 l-9,9 l-9,-9 z" fill="#000" stroke="#fff" stroke-width="1.5"/>'


def _said(name: str, row: Row) -> str:
    low, high, bits, first = row
    words = (
        [] if low is None or high is None else [f"between {low:.2f} and {high:.2f} bits per character by its guesses"]
    )
    words += [] if bits is None else [f"{bits:.2f} by its probabilities"]
    words += [] if first is None else [f"first guess right {first:.0%}"]
    return f"{name}: {', '.join(words)}."
