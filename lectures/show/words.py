"""A text whose words are shaded by a number each: dark is much."""

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import INK, Pixels, blue, ink_on, svg, text


def shaded_words_svg(
    words: Sequence[str],
    weights: ArrayLike,
    *,
    alt: str,
    title: str = "",
    note: str = "",
    width: Pixels = 900,
    size: Pixels = 18,
    gap: Pixels = 5,
) -> str:
    """Words from left to right, wrapped; weights (word,) between 0 (white) and 1 (dark blue).

    A line end ("\\n") is drawn as ↵ and begins a new line; other white space as ␣ is not: a word keeps its own
    spaces, which a typewriter font shows. Resting the pointer on a word tells its number.

    Raises ValueError if there is not one finite weight per word, or alt is empty.
    """
    values = np.asarray(weights, dtype=float)
    if values.shape != (len(words),) or not np.isfinite(values).all():
        raise ValueError(f"shaded_words_svg needs a finite weight per word, got {values.shape} for {len(words)} words")
    body = [text(0, 20, title, 16, more='font-weight="bold"')] if title else []
    across, down, high = 0.0, 36.0 if title else 6.0, size * 1.55
    for word, value in zip(words, values, strict=True):
        shown = "↵" if word == "\n" else word
        wide = size * 0.605 * len(shown) + gap
        if across + wide > width:
            across, down = 0.0, down + high
        body.append(
            f'<rect x="{across:.1f}" y="{down:.1f}" width="{wide:.1f}" height="{high - 3:.1f}" fill="{blue(value)}">'
            f"<title>{html.escape(shown)}: {value:.3f}</title></rect>"
            f'<text x="{across + gap / 2:.1f}" y="{down + size * 1.08:.1f}" font-size="{size}" xml:space="preserve"'
            f' fill="{ink_on(value) if value > 0.67 else INK}" style="font-family:\'DejaVu Sans Mono\',monospace"'
            f' pointer-events="none">{html.escape(shown)}</text>'
        )
        across += wide
        if word == "\n":
            across, down = 0.0, down + high
    height = down + high + 4
    if note:
        body.append(text(0, height + 18, note, 16))
        height += 28
    return svg(width, height, "".join(body), alt)


def shaded_text_html(text: str, weights: ArrayLike, *, alt: str, title: str = "", note: str = "") -> str:
    """A text character by character, in a typewriter font and with its own line ends; weights between 0 and 1.

    Lighter than a drawing: hundreds of characters are redrawn at every key press.

    Raises ValueError if there is not one finite weight per character, or alt is empty.
    """
    values = np.asarray(weights, dtype=float)
    if values.shape != (len(text),) or not np.isfinite(values).all():
        raise ValueError(f"shaded_text_html needs a finite weight per character, got {values.shape} for {len(text)}")
    if not alt.strip():
        raise ValueError("a drawing needs alternative text: alt='what is to be seen'")
    parts = []
    for character, value in zip(text, values, strict=True):
        ink = f";color:{ink_on(value)}" if value > 0.67 else ""
        shown = '<span style="opacity:.5">↵</span>' if character == "\n" else html.escape(character)
        parts.append(f'<span style="background:{blue(round(value, 2))}{ink}">{shown}</span>')
        if character == "\n":
            parts.append("\n")
    look = "font-size:17px;line-height:1.45;background:#fff;color:#000;white-space:pre-wrap;margin:0"
    return (
        f'<div role="img" aria-label="{html.escape(alt)}">'
        f'<p style="font-size:16px;margin:4px 0"><b>{html.escape(title)}</b></p>'
        f'<pre style="{look}">{"".join(parts)}</pre>'
        f'<p style="font-size:16px;margin:6px 0">{html.escape(note)}</p></div>'
    )
