"""A text whose characters or words stand on the colour of a number: how surprising each was, in bits."""

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import blue, ink_on, svg, text

_MONO = "font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace"


def surprise_svg(
    characters: Sequence[str],
    bits: ArrayLike,
    *,
    alt: str,
    reach: float | int = 8.0,
    per_line: int = 34,
    title: str = "",
    note: str = "",
) -> str:
    """One cell per character, white at 0 bits, dark blue at `reach` or more, with the number below it.

    A line ends after at most `per_line` cells, after a space where there is one. NaN: a character that was given, grey.

    Raises ValueError if there is not one number per character.
    """
    numbers = np.asarray(bits, dtype=float)
    if numbers.shape != (len(characters),):
        raise ValueError(f"surprise_svg needs one number per character, got {numbers.shape} and {len(characters)}")
    wide, tall, high = 26.0, 36.0, 64.0
    top = 34.0 if title else 4.0
    parts = [text(0, 20, title, 16, more='font-weight="bold"')] if title else []
    rows = lines(characters, per_line)
    for row, (first, last) in enumerate(rows):
        for column, i in enumerate(range(first, last)):
            x, y = wide * column, top + high * row
            given = bool(np.isnan(numbers[i]))
            share = 0.0 if given else numbers[i] / reach
            shown = {" ": "\N{OPEN BOX}", "\n": "\N{DOWNWARDS ARROW WITH TIP LEFTWARDS}"}.get(
                characters[i], characters[i]
            )
            parts.append(
                f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide - 1:.0f}" height="{tall:.0f}"'
                f' fill="{"#e4e4e4" if given else blue(share)}" stroke="#c8c8c8" stroke-width="0.6"/>'
            )
            parts.append(
                f'<text x="{x + wide / 2:.0f}" y="{y + 25:.0f}" font-size="20" text-anchor="middle"'
                f' style="{_MONO};fill:{ink_on(share)}">{html.escape(shown)}</text>'
            )
            if not given:
                parts.append(text(x + wide / 2, y + tall + 17, f"{numbers[i]:.0f}", 15, "middle"))
    bottom = top + high * len(rows)
    if note:
        parts.append(text(0, bottom + 12, note, 16))
        bottom += 24
    width = max(wide * max((last - first for first, last in rows), default=1), len(note) * 8.6, len(title) * 10.2)
    return svg(width, bottom, "".join(parts), alt)


def lines(characters: Sequence[str], per_line: int) -> list[tuple[int, int]]:
    """Where lines begin and end: broken after the last space that fits, else after `per_line` characters."""
    found, first = [], 0
    while first < len(characters):
        last = min(first + per_line, len(characters))
        if last < len(characters):
            spaces = [i + 1 for i in range(first, last) if str(characters[i]).isspace()]
            last = spaces[-1] if spaces else last
        found.append((first, last))
        first = last
    return found


def marked_words_html(
    words: Sequence[str], marks: Sequence[int], names: Sequence[str], *, alt: str, bold: int | None = None
) -> str:
    """Running text in which every word stands on the colour of its mark, with a legend: names[mark].

    Marks are whole numbers from 0; the deeper the blue, the higher. A newline breaks the line. `bold` frames one word.

    Raises ValueError if marks do not fit the words or the names.
    """
    if len(words) != len(marks) or any(not 0 <= mark < len(names) for mark in marks):
        raise ValueError(f"marked_words_html needs a mark from 0 to {len(names) - 1} per word, got {list(marks)[:9]}")
    shades = [0.75 * mark / max(1, len(names) - 1) for mark in range(len(names))]

    def cell(words: str, shade: float, more: str = "") -> str:
        style = f"background:{blue(shade)};color:{ink_on(shade)};padding:1px 3px;border-radius:3px;{more}"
        return f'<span style="{style}">{html.escape(words)}</span>'

    parts = []
    for i, (word, mark) in enumerate(zip(words, marks, strict=True)):
        frame = "outline:3px solid #D55E00;" if i == bold else ""
        parts.append(
            cell("\N{DOWNWARDS ARROW WITH TIP LEFTWARDS}", shades[mark], frame) + "<br>"
            if word == "\n"
            else cell(word, shades[mark], frame)
        )
    legend = " ".join(cell(name, shade, "font-size:15px;") for name, shade in zip(names, shades, strict=True))
    return (
        f'<div role="img" aria-label="{html.escape(alt)}" style="background:#fff;color:#1a1a1a;max-width:820px">'
        f'<p style="font-size:20px;line-height:1.75;margin:4px 0">{" ".join(parts)}</p>'
        f'<p style="font-size:15px;line-height:2;margin:4px 0">{legend}</p></div>'
    )
