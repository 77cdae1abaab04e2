"""Text with marks: words and characters on the colour of a number each, pieces in boxes."""

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FLIPPED, FONT, ORANGE, Canvas, blue, flips, ink_on, visible

__all__ = ["marked_words_html", "pieces_html", "shaded_text_html", "shaded_words_svg", "surprise_svg"]


def shaded_words_svg(
    words: Sequence[str],
    weights: ArrayLike,
    *,
    alt: str,
    title: str = "",
    note: str = "",
    width: float | int = 900,
    size: float | int = 18,
    gap: float | int = 5,
) -> str:
    """Words from left to right, wrapped; weights (word,) between 0 (white) and 1 (dark blue).

    A line end ("\\n") is drawn as ↵ and begins a new line; a word keeps its own spaces, which a typewriter font shows.
    Resting the pointer on a word tells its number.

    Raises ValueError if there is not one finite weight per word, or alt is empty.
    """
    values = _weights(weights, words, "shaded_words_svg needs a finite weight per word")
    canvas = Canvas(title, size=16)
    across, down, high = 0.0, canvas.top, size * 1.55
    for word, value in zip(words, values, strict=True):
        shown = "↵" if word == "\n" else word
        wide = size * 0.605 * len(shown) + gap
        if across + wide > width:
            across, down = 0.0, down + high
        canvas.box(across, down, wide, high - 3, shown, blue(value), size=size, mono=True, says=f"{shown}: {value:.3f}")
        across, down = (0.0, down + high) if word == "\n" else (across + wide, down)
    canvas.notes([note], gap=4)
    return canvas.svg(alt, width=width)


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
    canvas, wide = Canvas(title, size=16), 26.0
    for row, (first, last) in enumerate(text_lines(characters, per_line)):
        for i in range(first, last):
            x, y, given = wide * (i - first), canvas.top + 64 * row, bool(np.isnan(numbers[i]))
            fill = "#e4e4e4" if given else blue(numbers[i] / reach)
            canvas.box(x, y, wide - 1, 36, visible(characters[i]), fill, "#c8c8c8", 0.6, size=20, mono=True)
            if not given:
                canvas.text(x + wide / 2, y + 53, f"{numbers[i]:.0f}", 15, "middle")
    canvas.notes([note])
    return canvas.svg(alt)


def text_lines(characters: Sequence[str], per_line: int) -> list[tuple[int, int]]:
    """Where lines begin and end: broken after the last space that fits, else after `per_line` characters."""
    found, first = [], 0
    while first < len(characters):
        last = min(first + per_line, len(characters))
        if last < len(characters):
            last = next((i + 1 for i in range(last - 1, first - 1, -1) if str(characters[i]).isspace()), last)
        found.append((first, last))
        first = last
    return found


# --- running text, lighter than a drawing --------------------------------------------------------


def shaded_text_html(text: str, weights: ArrayLike, *, alt: str, title: str = "", note: str = "") -> str:
    """A text character by character, in a typewriter font and with its own line ends; weights between 0 and 1.

    Raises ValueError if there is not one finite weight per character, or alt is empty.
    """
    values = _weights(weights, text, "shaded_text_html needs a finite weight per character")
    if not alt.strip():
        raise ValueError("a drawing needs alternative text: alt='what the picture shows'")
    parts = []
    for character, value in zip(text, values, strict=True):
        fill = blue(round(value, 2))
        ink = ";color:#ffffff" if ink_on(fill) == "#ffffff" else ""
        shown = '<span style="opacity:.7">↵</span>' if character == "\n" else html.escape(character)
        parts.append(
            f'<span{_class(fill)} style="background:{fill}{ink}">{shown}</span>' + ("\n" if character == "\n" else "")
        )
    look = "font-size:17px;line-height:1.45;background:#fff;color:#000;white-space:pre-wrap;margin:0"
    return (
        f'<div role="img" aria-label="{html.escape(alt)}">'
        f'<p style="font-size:16px;margin:4px 0"><b>{html.escape(title)}</b></p>'
        f'<pre style="{look}">{"".join(parts)}</pre>'
        f'<p style="font-size:16px;margin:6px 0">{html.escape(note)}</p></div>'
    )


def _class(fill: str) -> str:
    return f' class="{FLIPPED}"' if flips(fill) else ""


def marked_words_html(
    words: Sequence[str], marks: Sequence[int], names: Sequence[str], *, alt: str, bold: int | None = None
) -> str:
    """Running text; the background of every word is the colour of its mark, with a legend: names[mark].

    Marks are integers from 0; the deeper the blue, the higher. A newline breaks the line. `bold` frames one word.

    Raises ValueError if marks do not fit the words or the names.
    """
    if len(words) != len(marks) or any(not 0 <= mark < len(names) for mark in marks):
        raise ValueError(f"marked_words_html needs a mark from 0 to {len(names) - 1} per word, got {list(marks)[:9]}")

    def cell(words: str, mark: int, more: str = "") -> str:
        fill = blue(0.75 * mark / max(1, len(names) - 1))
        style = f"background:{fill};color:{ink_on(fill)};padding:1px 3px;border-radius:3px;{more}"
        return f'<span{_class(fill)} style="{style}">{html.escape(words)}</span>'

    parts = []
    for i, (word, mark) in enumerate(zip(words, marks, strict=True)):
        frame = f"outline:3px solid {ORANGE};" if i == bold else ""
        parts.append(cell("↵" if word == "\n" else word, mark, frame) + ("<br>" if word == "\n" else ""))
    legend = " ".join(cell(name, mark, "font-size:15px;") for mark, name in enumerate(names))
    return (
        f'<div role="img" aria-label="{html.escape(alt)}" style="background:#fff;color:#1a1a1a;max-width:820px">'
        f'<p style="font-size:20px;line-height:1.75;margin:4px 0">{" ".join(parts)}</p>'
        f'<p style="font-size:15px;line-height:2;margin:4px 0">{legend}</p></div>'
    )


def pieces_html(
    words: Sequence[Sequence[str]], *, alt: str, framed: Sequence[str] = (), title: str = "", note: str = ""
) -> str:
    """One group of boxes per word, one box per piece; those in `framed` have an orange frame. A space is shown as ␣.

    Raises ValueError if there is no word, or a word without a piece.
    """
    if not words or not all(words):
        raise ValueError("pieces_html needs at least one word, and at least one piece per word")
    groups = []
    for word in words:
        boxes = []
        for i, piece in enumerate(word):
            frame = f"outline:3px solid {ORANGE};" if piece in framed else ""
            style = f"background:{blue(0.12 + 0.16 * (i % 2))};{frame}padding:2px 4px;margin:0 1px;border-radius:3px"
            boxes.append(f'<span style="{style}">{html.escape(visible(piece))}</span>')
        groups.append(f'<span style="white-space:nowrap;margin-right:9px">{"".join(boxes)}</span>')
    head = f'<p style="font-size:17px;margin:4px 0"><b>{html.escape(title)}</b></p>' if title else ""
    lines = "".join(f'<p style="font-size:17px;margin:4px 0">{html.escape(line)}</p>' for line in note.splitlines())
    return (
        f'<div role="img" aria-label="{html.escape(alt)}"'
        f' style="background:#fff;color:#1a1a1a;max-width:860px;{FONT}">{head}'
        f"<p style=\"font-size:20px;line-height:2.0;margin:4px 0;font-family:'DejaVu Sans Mono',monospace\">"
        f"{' '.join(groups)}</p>{lines}</div>"
    )


def _weights(weights: ArrayLike, words: Sequence[str], needs: str) -> np.ndarray:
    values = np.asarray(weights, dtype=float)
    if values.shape != (len(words),) or not np.isfinite(values).all():
        raise ValueError(f"{needs}, got {values.shape} for {len(words)}")
    return values
