"""Drawing with text: SVG that is small enough to be sent to the browser at every key press.

A `Canvas` collects shapes and grows with them, so a picture is its shapes and its alternative text:

    canvas = Canvas("half of it")
    canvas.rect(0, canvas.top, 60, 20, fill=BLUE)
    canvas.svg(alt="A bar of length one half.")

Ours, because a figure of matplotlib takes half a second and a key press has a tenth.
"""

import base64
import html
import math
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Canvas", "beside", "power_of_ten", "said", "scientific", "stacked_svg"]

Pixels = float | int | np.floating
Point = tuple[Pixels, Pixels]

# Okabe & Ito's palette: eight colours that stay apart for every kind of colour vision.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
BLUE, ORANGE, GREEN, AMBER = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[4]
DARK_ORANGE, DARK_GREEN = "#B34700", "#00694D"  # for words: readable on white
FLIPPED = "nlm-flip"
"""The class of words that are black in the light theme and, because their ground stays light when inverted, in the dark one too."""
PHOTOGRAPH = "nlm-photo"
"""The class of pictures that look the same in both themes."""
INK, GREY, FAINT, PALE = "#000000", "#636363", "#8a8a8a", "#e3e3e3"
"""The two for words are readable on PALE too, and on what `pale` makes of a colour, in both themes."""
MASKED = "#d9d9d9"

FONT = "font-family:'DejaVu Sans',Verdana,sans-serif"
MONO = "font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace"

# ColorBrewer's "Blues", and its "RdBu" reversed: both keep their order for every kind of colour vision.
_BLUES = np.array(
    [[255, 255, 255], [222, 235, 247], [158, 202, 225], [66, 146, 198], [8, 81, 156], [8, 48, 107]], dtype=float
)
_DIVERGING = np.array(
    [[5, 48, 97], [67, 147, 195], [209, 229, 240], [255, 255, 255], [253, 219, 199], [214, 96, 77], [103, 0, 31]],
    dtype=float,
)
_LUMA = np.array([0.2126, 0.7152, 0.0722])


# --- colours -------------------------------------------------------------------------------------


def blue(weight: Pixels) -> str:
    """The colour of a number between 0 (white) and 1 (dark blue); darker is more, also in grey."""
    return _blue(round(min(max(float(weight), 0.0), 1.0), 3))


@cache
def _blue(weight: float) -> str:
    return _hex(_between(_BLUES, weight))


def diverging_rgb(values: ArrayLike, reach: float | int = 1.0) -> np.ndarray:
    """Colours (…, 3) of numbers between −reach (blue), 0 (white) and reach (red); NaN is grey."""
    array = np.asarray(values, dtype=float)
    rgb = _between(_DIVERGING, (np.clip(np.nan_to_num(array) / reach, -1, 1) + 1) / 2)
    rgb[np.isnan(array)] = (217, 217, 217)
    return np.rint(rgb).astype(np.uint8)


def diverging(value: Pixels, reach: float | int = 1.0) -> str:
    """The colour of one number between −reach (blue), 0 (white) and reach (red)."""
    share = float(value) / reach
    return MASKED if math.isnan(share) else _diverging(round(min(max(share, -1.0), 1.0), 3))


@cache
def _diverging(share: float) -> str:
    return _hex(diverging_rgb(np.array(share)))


@cache
def ink_on(colour: str) -> str:
    """Black or white, whichever can be read on a colour `#rrggbb`: a contrast of at least 4.5 : 1 (WCAG 2, 1.4.3)."""
    if len(colour) != 7:
        return "#000000"
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return "#ffffff" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 else "#000000"


@cache
def flips(colour: str) -> bool:
    """Whether black words on a colour are to be white in the dark theme, which inverts both and turns the hue back.

    It is `filter: invert(1) hue-rotate(180deg)` of the presenter's look.css; white words are always readable there.
    """
    if len(colour) != 7 or ink_on(colour) == "#ffffff":
        return False
    inverted = np.array([1 - int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    shown = np.clip(2 * inverted @ _LUMA - inverted, 0, 1)
    linear = np.where(shown <= 0.03928, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
    return bool(linear @ _LUMA > 0.179)  # as in `ink_on`


def _between(colours: np.ndarray, share: Any) -> np.ndarray:
    """The colour at a share of the way along `colours`, interpolated."""
    place = np.asarray(share) * (len(colours) - 1)
    low = np.minimum(place.astype(int), len(colours) - 2)
    return np.asarray(colours[low] + (place - low)[..., None] * (colours[low + 1] - colours[low]))


def _hex(rgb: np.ndarray) -> str:
    return "#{:02x}{:02x}{:02x}".format(*(round(float(c)) for c in rgb))


# --- words ---------------------------------------------------------------------------------------


def number(value: Pixels, digits: int = 2) -> str:
    """A number with a proper minus sign, and none before a zero."""
    return f"{float(value):z.{digits}f}".replace("-", "−")


def power_of_ten(exponent: Pixels) -> str:
    """10 with a raised number; 1 for 10⁰."""
    return "10" + f"{exponent:g}".translate(str.maketrans("-0123456789.", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹·")) if exponent else "1"


def scientific(log: float) -> str:
    """The number with this logarithm to base ten, in one or two digits: 0.025, 320, 2·10⁻⁸."""
    if -3.5 < log < 4:
        return f"{10**log:.0f}" if log >= 1 else f"{10**log:.2g}"
    exponent = math.floor(log + 0.022)  # 9.5 is rounded to 10
    digit = round(10 ** (log - exponent))
    return power_of_ten(exponent) if digit == 1 else f"{digit}·{power_of_ten(exponent)}"


def subscript(index: int) -> str:
    """12 -> ₁₂."""
    return str(index).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def visible(text: str) -> str:
    """A text whose spaces and line ends can be seen."""
    return text.replace(" ", "␣").replace("\n", "↵")


def label_width(labels: Iterable[str], size: Pixels = 15) -> float:
    """Pixels that the longest label takes, a little generously."""
    return max((len(label) for label in labels), default=0) * float(size) * 0.66 + 8


# --- a drawing -----------------------------------------------------------------------------------


class Canvas:
    """Shapes in the order in which they are drawn; `right` and `bottom` are how far they reach.

    `top` is where a picture may begin: below the title, if there is one. Every shape takes further attributes of SVG by
    name: `opacity=0.5`, `stroke_linecap="round"`; `wide` is the stroke's width, `dashes` and `radius` speak for
    themselves, and `says` shows words when the pointer rests on the shape.
    """

    def __init__(self, title: str = "", size: Pixels = 17) -> None:
        self.parts: list[str] = []
        self.right = self.bottom = 0.0
        self.top = 6.0
        if title:
            self.text(0, 20, title, size, bold=True)
            self.top = 36.0

    def add(self, part: str, right: Pixels = 0, bottom: Pixels = 0) -> None:
        """An element of SVG, and how far it reaches."""
        self.parts.append(part)
        self.right, self.bottom = max(self.right, float(right)), max(self.bottom, float(bottom))

    def text(
        self,
        x: Pixels,
        y: Pixels,
        words: str,
        size: Pixels = 15,
        anchor: str = "start",
        *,
        fill: str = INK,
        bold: bool = False,
        italic: bool = False,
        mono: bool = False,
        halo: bool = False,
        turn: Pixels = 0,
        **look: Any,
    ) -> None:
        """Words at a base line; `turn`: clockwise, in degrees; `halo`: a white rim, to be read over lines."""
        weight, style = "bold" if bold else "", "italic" if italic else ""
        if halo:
            look |= {"paint_order": "stroke", "stroke": "#fff", "wide": 4}
        if mono:
            look |= {"style": MONO, "xml:space": "preserve"}
        if turn:
            look["transform"] = f"rotate({turn} {x:.1f} {y:.1f})"
        font: Any = {"font_size": size, "text_anchor": anchor, "font_weight": weight, "font_style": style}
        long = len(words) * float(size) * (0.66 if bold else 0.6)
        ends = [long * share for share in {"start": (0, 1), "middle": (-0.5, 0.5), "end": (-1, 0)}[anchor]]
        across, down = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        self.add(
            _element("text", html.escape(words), x=x, y=y, **font, fill=fill, **look),
            float(x) + max(end * across for end in ends),
            float(y) + max(end * down for end in ends) + 5,
        )

    def rect(
        self,
        x: Pixels,
        y: Pixels,
        width: Pixels,
        height: Pixels,
        fill: str = "none",
        stroke: str = "",
        wide: Pixels = 1,
        **look: Any,
    ) -> None:
        look = {"fill": fill, "stroke": stroke, "wide": wide if stroke else "", **look}
        element = _element("rect", x=x, y=y, width=width, height=height, **look)
        self.add(element, x + width + wide / 2, y + height + wide / 2)

    def box(
        self,
        x: Pixels,
        y: Pixels,
        width: Pixels,
        height: Pixels,
        words: str,
        fill: str = "#ffffff",
        stroke: str = "",
        wide: Pixels = 1,
        *,
        size: Pixels = 16,
        ink: str = "",
        struck: bool = False,
        mono: bool = False,
        **look: Any,
    ) -> None:
        """A rectangle with words in its middle, black or white unless `ink` is given."""
        self.rect(x, y, width, height, fill, stroke, wide, **look)
        if words:
            more: Any = {"pointer_events": "none"} if "says" in look else {}
            more |= {"text_decoration": "line-through"} if struck else {}
            more |= {"class": FLIPPED} if ink in ("", INK, "#000000") and flips(fill) else {}
            at = float(x) + float(width) / 2, float(y) + float(height) / 2 + 0.36 * float(size)
            self.text(*at, words, size, "middle", fill=ink or ink_on(fill), mono=mono, **more)

    def line(
        self, start: Point, end: Point, stroke: str = FAINT, wide: Pixels = 1, *, arrow: bool = False, **look: Any
    ) -> None:
        """A straight line; `arrow`: with a head at its end."""
        (x0, y0), (x1, y1) = start, end
        if arrow:
            long = math.hypot(x1 - x0, y1 - y0) or 1.0
            across, down = (x1 - x0) / long, (y1 - y0) / long
            tip = 6 + 2 * float(wide)
            x, y, half = x1 - tip * across, y1 - tip * down, 0.55 * tip
            corners = [(x1, y1), (x - half * down, y + half * across), (x + half * down, y - half * across)]
            self.polygon(corners, stroke)
            x1, y1 = x + across, y + down
        element = _element("line", x1=x0, y1=y0, x2=x1, y2=y1, stroke=stroke, wide=wide, **look)
        self.add(element, max(x0, x1), max(y0, y1))

    def polyline(self, points: Iterable[Point], stroke: str = BLUE, wide: Pixels = 3, **look: Any) -> None:
        """A line through points; it does not make the drawing larger (it may be clipped)."""
        self.add(_element("polyline", points=_pairs(points), fill="none", stroke=stroke, wide=wide, **look))

    def path(self, d: str, stroke: str, wide: Pixels = 2, **look: Any) -> None:
        """Any path, not filled; it does not make the drawing larger."""
        self.add(_element("path", d=d, fill="none", stroke=stroke, wide=wide, **look))

    def polygon(self, points: Sequence[Point], fill: str, **look: Any) -> None:
        right, bottom = max(x for x, _ in points), max(y for _, y in points)
        self.add(_element("polygon", points=_pairs(points), fill=fill, **look), right, bottom)

    def circle(self, x: Pixels, y: Pixels, r: Pixels, fill: str = "none", **look: Any) -> None:
        self.add(_element("circle", cx=x, cy=y, r=r, fill=fill, **look), x + r, y + r)

    def mark(self, kind: str, x: Pixels, y: Pixels, colour: str, size: Pixels = 6, **look: Any) -> None:
        """A point as one of MARKS: told apart by shape as well as by colour. A ring is hollow."""
        look = {"stroke": "#fff", "wide": 1.5, **look}
        if kind == "ring":
            self.circle(x, y, size, "#fff", stroke=colour, wide=3)
        elif kind == "circle":
            self.circle(x, y, size, colour, **look)
        else:
            self.polygon([(x + size * dx, y + size * dy) for dx, dy in _CORNERS[kind]], colour, **look)

    def image(self, matrix: ArrayLike, x: Pixels, y: Pixels, width: Pixels, height: Pixels, reach: Pixels = 1) -> None:
        """A matrix (row, column) as one small image that fills a rectangle: −reach is blue, 0 white, reach red.

        A cell of SVG costs a hundred characters; here thousands of cells are redrawn at every key press.

        Raises ValueError if it is not a matrix.
        """
        array = np.asarray(matrix, dtype=float)
        if array.ndim != 2 or not array.size:
            raise ValueError(f"an image needs a matrix (row, column), got shape {array.shape}")
        address = png_address(diverging_rgb(array, float(reach)), level=1)
        self.picture(address, x, y, width, height, style="image-rendering:pixelated")
        self.rect(x, y, width, height, stroke="#999")

    def picture(self, address: str, x: Pixels, y: Pixels, width: Pixels, height: Pixels, **look: Any) -> None:
        """An image at an address, stretched to a rectangle."""
        look = {"preserveAspectRatio": "none", "href": address, **look}
        self.add(_element("image", x=x, y=y, width=width, height=height, **look), x + width, y + height)

    def photograph(self, address: str, x: Pixels, y: Pixels, width: Pixels, height: Pixels) -> None:
        """Pixels of the world, enlarged: what is bright stays bright in a dark theme, which inverts drawings."""
        self.picture(address, x, y, width, height, **{"class": PHOTOGRAPH, "style": "image-rendering:pixelated"})

    @contextmanager
    def pale(self, when: bool, opacity: float = 0.3) -> Iterator[None]:
        """Shapes drawn inside are pale, as one group, if `when`; words are grey, over all of them."""
        start = len(self.parts)
        yield
        if when:
            shapes: list[str] = []
            words: list[str] = []
            for part in self.parts[start:]:
                (words if part.startswith("<text") else shapes).append(part)
            words = [
                re.sub(rf' class="{FLIPPED}"', "", re.sub(' fill="#[^"]*"', ' fill="#4a4a4a"', part)) for part in words
            ]
            self.parts[start:] = [f'<g opacity="{opacity}">', *shapes, "</g>", *words]

    def notes(self, lines: Iterable[str], size: Pixels = 16, *, gap: Pixels = 8) -> None:
        """Lines of words below everything drawn so far; an empty one is left out."""
        y = self.bottom + float(gap)
        for line in filter(None, lines):
            y += float(size) + 9
            self.text(0, y - 5, line, size)

    def svg(self, alt: str, *, width: Pixels = 0, more: str = "", role: str = "img") -> str:
        """The drawing on white, which scales down with the page; `alt` is what a screen reader says.

        Raises ValueError if alt is empty.
        """
        if not alt.strip():
            raise ValueError("a drawing needs alternative text: alt='what the picture shows'")
        wide, high = math.ceil(max(self.right + 4, float(width))), math.ceil(self.bottom + 4)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="{role}" aria-label="{html.escape(alt)}" {more}'
            f' width="{wide}" viewBox="0 0 {wide} {high}" style="max-width:100%;height:auto;background:#fff;{FONT}">'
            f"{''.join(self.parts)}</svg>"
        )


MARKS = ("circle", "square", "triangle", "diamond", "ring")
_CORNERS = {
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "triangle": [(0, -1.3), (1.1, 0.85), (-1.1, 0.85)],
    "diamond": [(0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)],
}
_PLACES = {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height"}
_WIDTH = re.compile(r'<svg [^>]* width="(\d+)"')
_NAMES = {"wide": "stroke-width", "dashes": "stroke-dasharray", "radius": "rx"}


def _element(name: str, inside: str = "", *, says: str = "", **attributes: Any) -> str:
    """`<name …>`; places have one decimal, what is empty is left out, `stroke_width` is written stroke-width."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value != "":
            key = _NAMES.get(key) or key.replace("_", "-")
            parts.append(f'{key}="{value:.1f}"' if key in _PLACES else f'{key}="{value}"')
    inside += f"<title>{html.escape(says)}</title>" if says else ""
    return " ".join(parts) + (f">{inside}</{name}>" if inside else "/>")


def _pairs(points: Iterable[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def png_address(pixels: np.ndarray, level: int = 9) -> str:
    """Bytes (row, column), grey, or (row, column, 3), red, green and blue, as a data address that an <image> shows.

    A PNG is header, one compressed block, end (ISO/IEC 15948). `level` is zlib's: 1 is fast, 9 is small.
    """
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # 0: no filter
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), level)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


# --- several drawings ----------------------------------------------------------------------------


def beside(*pictures: str) -> str:
    """Drawings next to each other, at least at 80 % of their size; below each other where the page is too narrow. Text
    takes the room that a drawing leaves."""
    parts = []
    for picture in pictures:
        wide = _WIDTH.match(picture)
        flex = f"{wide[1]} 1 {0.8 * int(wide[1]):.0f}px;max-width:{wide[1]}px" if wide else "1 1 20em"
        parts.append(f'<div style="flex:{flex}">{picture}</div>')
    style = "display:flex;flex-wrap:wrap;gap:18px;align-items:flex-start"
    return f'<div class="nlm-side" style="{style}">{"".join(parts)}</div>'


def said(words: str) -> str:
    """A line of text below a drawing, large enough for the back row."""
    return f'<p role="status" style="font-size:17px;margin:6px 0">{html.escape(words)}</p>'


def stacked_svg(*pictures: str, alt: str, gap: Pixels = 26) -> str:
    """Drawings one below the other as one drawing, each at its own size.

    Raises ValueError if one of them is none of this package's drawings, or alt is empty.
    """
    canvas, down = Canvas(), 0.0
    for picture in pictures:
        head, frame, rest = picture.partition(' viewBox="0 0 ')
        size, closed, _ = rest.partition('"')
        if not (head.startswith("<svg ") and frame and closed):
            raise ValueError(f"pictures must be drawings that begin with <svg, got {picture[:60]!r}")
        width, height = map(float, size.split())
        canvas.add(f'<svg y="{down:.0f}" height="{height:.0f}" {picture.removeprefix("<svg ")}', width, down + height)
        down += height + float(gap)
    return canvas.svg(alt)
