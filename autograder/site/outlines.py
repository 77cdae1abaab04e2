"""The words of a figure of matplotlib in another language. Its SVG draws letters as outlines, with a comment each."""

import base64
import html
import re
from collections.abc import Callable

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import TextPath, text_to_path

_WORDS = re.compile(
    r"<!-- (?P<words>.*?) -->(?P<head>\s*<g [^>]*>\s*(?:<defs>.*?</defs>)?\s*)(?P<uses>(?:<use [^>]*>\s*)+)", re.S
)
_FONT = get_font(findfont(FontProperties(family="DejaVu Sans")))
_WIDER = 1.08
"""How much wider than the original an entry of a legend may be; the next one begins there."""


def redrawn(picture: str, translate: Callable[[str], str]) -> str:
    """An SVG in base64, with its words translated: titles stay centred, entries of a legend start where they did."""
    drawing = base64.b64decode(picture).decode("utf-8")
    legend = drawing.find('id="legend_')

    def written(found: re.Match[str]) -> str:
        words = html.unescape(found["words"])
        other = translate(words)
        if other == words or not all(map(_FONT.get_char_index, map(ord, other))):
            return found[0]  # nothing to draw, or not with this font
        font = FontProperties(family="DejaVu Sans", weight="bold" if "Bold" in found["uses"] else "normal", size=100)
        old, new = (text_to_path.get_text_width_height_descent(text, font, False)[0] for text in (words, other))
        in_legend = 0 <= legend < found.start()
        size = min(1.0, _WIDER * old / new) if in_legend else 1.0
        left = 0.0 if in_legend else (old - new) / 2
        outline = _path(TextPath((0, 0), other, size=100, prop=font))
        said = html.escape(other, quote=False).replace("--", "- -")
        return (
            f'<!-- {said} -->{found["head"]}<path d="{outline}" transform="translate({left:.1f} 0) scale({size:.3f})"/>'
        )

    return base64.b64encode(_WORDS.sub(written, drawing).encode()).decode()


def _path(outline: TextPath) -> str:
    letters = {1: "M", 2: "L", 3: "Q", 4: "C"}
    return " ".join(
        "Z" if code == TextPath.CLOSEPOLY else letters[int(code)] + " ".join(f"{value:.1f}" for value in points)
        for points, code in outline.iter_segments(curves=True, simplify=False)
    )
