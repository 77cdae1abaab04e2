"""From a source through one vector to a target: words in boxes, vectors as stripes, what is wrong marked."""

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.raster import image_svg
from lectures.show.svg import Pixels, svg, text

_WIDE, _SIZE, _LINE, _PAD = 860.0, 17, 38.0, 9.0
_BLUE, _ORANGE, _GREEN = "#0072B2", "#B34700", "#00694D"


def wrong_places(written: Sequence[str], reference: Sequence[str]) -> list[bool]:
    """For each written word: does it fall out of the longest common runs with the reference?"""
    wrong = [True] * len(written)
    for block in SequenceMatcher(None, list(written), list(reference), autojunk=False).get_matching_blocks():
        wrong[block.a : block.a + block.size] = [False] * block.size
    return wrong


def translation_svg(
    source: Sequence[str],
    stripes: Sequence[tuple[str, ArrayLike]],
    written: Sequence[str],
    *,
    reference: Sequence[str] | None = None,
    title: str = "",
    note: str = "",
) -> str:
    """Source words, one stripe of colours per (label, vector), the words written, and the reference if they differ.

    A written word that the reference does not have there is orange, framed by dashes. Blue in a stripe is negative,
    red positive, full colour at ±1.

    Raises ValueError if there is no source word, or a stripe is no vector.
    """
    if not source:
        raise ValueError("translation_svg needs at least one source word")
    wrong = [False] * len(written) if reference is None else wrong_places(written, reference)
    right = reference is not None and list(written) == list(reference)
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    y = 36.0 if title else 8.0
    drawn, y = _words(source, [_BLUE] * len(source), [False] * len(source), y, "source")
    body.append(drawn)
    for label, vector in stripes:
        numbers = np.asarray(vector, dtype=float)
        if numbers.ndim != 1:
            raise ValueError(f"a stripe needs a vector, got shape {numbers.shape} for {label!r}")
        body.append(text(112, y + 22, label, 15, "end"))
        body.append(image_svg(numbers[None], 120, y + 4, _WIDE - 130, 26))
        y += 38
    colours = [_ORANGE if bad else _GREEN for bad in wrong]
    drawn, y = _words(written or ["…"], colours or ["#767676"], wrong or [False], y + 4, "written")
    body.append(drawn)
    if reference is not None and not right:
        drawn, y = _words(reference, ["#767676"] * len(reference), [False] * len(reference), y, "should be")
        body.append(drawn)
    verdict = "right in every word" if right else f"do not fit: {sum(wrong)} of {len(written)}" if reference else ""
    for line in filter(None, (verdict, note)):
        body.append(text(112 if line == verdict else 0, y + 20, line, 16))
        y += 26
    alt = f"Source: {' '.join(source)}. Written: {' '.join(written) or 'nothing yet'}."
    if reference is not None:
        alt += " It is right." if right else f" It should be: {' '.join(reference)}."
    return svg(_WIDE, y + 6, "".join(body), f"{alt} {note}".strip())


def _words(
    words: Sequence[str], colours: Sequence[str], dashed: Sequence[bool], y: Pixels, label: str
) -> tuple[str, float]:
    """Boxes with words, in as many lines as they take; where the next row begins."""
    parts = [text(112, y + 22, label, 15, "end", 'font-style="italic"')]
    x, top = 120.0, float(y)
    for word, colour, gap in zip(words, colours, dashed, strict=True):
        wide = len(word) * _SIZE * 0.63 + 2 * _PAD
        if x + wide > _WIDE and x > 120:
            x, top = 120.0, top + _LINE
        dashes = 'stroke-dasharray="6 4"' if gap else ""
        parts.append(
            f'<rect x="{x:.1f}" y="{top + 2:.1f}" width="{wide:.1f}" height="30" rx="6" fill="#fff" stroke="{colour}"'
            f' stroke-width="2" {dashes}/>'
        )
        parts.append(text(x + wide / 2, top + 23, word, _SIZE, "middle", f'style="fill:{colour}"'))
        x += wide + 8
    return "".join(parts), top + _LINE + 4
