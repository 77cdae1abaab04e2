"""A Transformer as a picture: a pathway from the tokens to the scores, and what branches off it and is added again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lectures.show.svg import DARK_GREEN, FAINT, INK, Canvas, Point

__all__ = ["Branch", "Piece", "Tower", "architecture_svg"]

COLOUR = {
    "table": "#f1f1f1",
    "norm": "#fff3c4",
    "self-attention": "#cfe3f5",
    "causal attention": "#fbd9bf",
    "cross-attention": "#c5ead9",
    "network": "#e6d9ee",
    "other": "#ffffff",
}
"""By the kind of a piece; the three kinds of attention have the same three colours in every lecture."""


@dataclass(frozen=True)
class Piece:
    """One box."""

    key: str
    """What `lit` names; pieces that are lit together have one key."""
    kind: str
    """A key of `COLOUR`."""
    words: str
    note: str = ""
    """A second line: sizes."""


@dataclass(frozen=True)
class Branch:
    """A sublayer: what it takes from the pathway passes through `pieces` and is added."""

    key: str
    """Of the plus."""
    pieces: Sequence[Piece]
    """At most two."""
    beside: str = ""
    """A line at the plus: what is added to what."""
    after: Piece | None = None
    """On the pathway itself, behind the plus: the norm of a post-norm."""
    reads_source: bool = False
    """Cross-attention: an arrow comes from the other tower."""


@dataclass(frozen=True)
class Tower:
    """From tokens, at the bottom, to the vectors or scores at the top."""

    reads: str
    below: Sequence[Piece]
    branches: Sequence[Branch]
    """Of one layer."""
    layers: str
    """How often the layer is repeated: “× 12”."""
    above: Sequence[Piece] = ()
    gives: str = ""


ARROW, SOURCE_ARROW = "#555555", DARK_GREEN

_PATHWAY, _GAP, _HIGH = 34.0, 14.0, 40.0
"""Where the pathway runs from the tower's left edge, the space between rows, the height of a box."""
_NORM, _SUBLAYER, _ROW = 104.0, 206.0, _HIGH + 52
"""Widths of the boxes on a branch, and how much of the pathway a branch takes."""
_WIDE, _INSET, _HEAD, _WORDS = _PATHWAY + 30 + _NORM + 18 + _SUBLAYER + 16, 12.0, 22.0, 24.0
"""Of a tower, how far boxes on its pathway are inside, and room for how often a layer is repeated and for words."""


def architecture_svg(towers: Sequence[Tower], *, alt: str, lit: Collection[str] = (), title: str = "") -> str:
    """Towers from the bottom up, side by side; the first one is the source of the others' cross-attention.

    lit: keys of what is shown in full, all else is pale; none: everything is.

    Raises ValueError if there is no tower, `lit` names a key that nothing has, or alt is empty.
    """
    if not towers:
        raise ValueError("architecture_svg needs at least one tower")
    keys = {key for tower in towers for key in keys_of(tower)}
    if unknown := sorted(set(lit) - keys):
        raise ValueError(f"lit must name pieces of the picture, {sorted(keys)}, got {unknown[0]!r}")
    canvas = Canvas(title)
    heights = [_height(tower) for tower in towers]
    floor = canvas.top + max(heights)
    end: Point | None = None
    for i, tower in enumerate(towers):
        end = _draw(canvas, tower, 2 + i * (_WIDE + 52), floor, set(lit) or keys, end)
    return canvas.svg(alt)


def keys_of(tower: Tower) -> list[str]:
    """What can be lit, in the order in which a vector meets it."""
    found = [piece.key for piece in tower.below]
    for branch in tower.branches:
        found += [*(piece.key for piece in branch.pieces), branch.key, *([branch.after.key] if branch.after else [])]
    return list(dict.fromkeys([*found, *(piece.key for piece in tower.above)]))


def _height(tower: Tower) -> float:
    boxes = len(tower.below) + len(tower.above) + sum(branch.after is not None for branch in tower.branches)
    return boxes * (_HIGH + _GAP) + len(tower.branches) * _ROW + 2 * _WORDS + 2 * _GAP + _HEAD


def _draw(canvas: Canvas, tower: Tower, left: float, floor: float, lit: set[str], source: Point | None) -> Point:
    """One tower whose words stand at `floor`, beside another one that ends at `source`; returns where this one ends."""
    x, y = left + _PATHWAY, floor - _WORDS
    canvas.text(left, floor - 8, tower.reads, 16)

    def on_pathway(piece: Piece) -> None:
        nonlocal y
        canvas.line((x, y), (x, y - _GAP), INK, 3, arrow=True)
        y -= _GAP + _HIGH
        with canvas.pale(piece.key not in lit):
            _box(canvas, piece, left + _INSET, y, _WIDE - 2 * _INSET)

    for piece in tower.below:
        on_pathway(piece)
    low = y - _GAP / 2
    canvas.line((x, y), (x, low), INK, 3)
    y = low
    frame = len(canvas.parts)
    for branch in tower.branches:
        if branch.reads_source and source:
            with canvas.pale(not any(piece.key in lit for piece in branch.pieces)):
                _from_source(canvas, source, left, _middle(y))
        y = _branch(canvas, branch, left, y, lit)
        if branch.after:
            on_pathway(branch.after)
    high = y - _GAP / 2 - _HEAD
    canvas.line((x, y), (x, high), INK, 3)
    canvas.text(left + _WIDE - _INSET, high + 23, tower.layers, 18, "end", bold=True)
    shapes, canvas.parts = canvas.parts[frame:], canvas.parts[:frame]
    canvas.rect(left, high, _WIDE, low - high, "#fbfbfb", FAINT, 1.5, radius=12)  # behind the layer's parts
    canvas.parts += shapes
    y = high
    for piece in tower.above:
        on_pathway(piece)
    canvas.line((x, y), (x, y - _GAP), INK, 3, arrow=True)
    canvas.text(left, y - _GAP - 9, tower.gives, 16)
    return x, y - _GAP


def _from_source(canvas: Canvas, source: Point, left: float, y: float) -> None:
    """From the end of the other tower, between the two, below the pathway's boxes to the cross-attention."""
    between, high = left - 26, y + _HIGH / 2 + 15
    end = left + _PATHWAY + 30 + _NORM + 18 + _SUBLAYER / 2
    corners = [source, (between, source[1]), (between, high), (end, high)]
    for one, other in pairwise(corners):
        canvas.line(one, other, SOURCE_ARROW, 3, stroke_linecap="square")
    canvas.line((end, high), (end, y + _HIGH / 2), SOURCE_ARROW, 3, arrow=True)


def _branch(canvas: Canvas, branch: Branch, left: float, y: float, lit: set[str]) -> float:
    """The pathway from y upwards, past one sublayer; returns where it goes on."""
    x, plus = left + _PATHWAY, y - _ROW + 24
    middle, turn = _middle(y), left + _WIDE - 40
    canvas.line((x, y), (x, plus + 13), INK, 3, arrow=True)
    canvas.line((x, plus - 13), (x, plus - 24), INK, 3)
    places = [(x + 30, _NORM), (x + 30 + _NORM + 18, _SUBLAYER)][-len(branch.pieces) :]
    with canvas.pale(branch.key not in lit and not any(piece.key in lit for piece in branch.pieces)):
        canvas.line((x, middle), (places[0][0], middle), ARROW, 2, arrow=True)
        for (start, wide), (following, _) in pairwise(places):
            canvas.line((start + wide, middle), (following, middle), ARROW, 2, arrow=True)
        canvas.line((turn, middle - _HIGH / 2), (turn, plus), ARROW, 2)
        canvas.line((turn, plus), (x + 13, plus), ARROW, 2, arrow=True)
    for piece, (start, wide) in zip(branch.pieces, places, strict=True):
        with canvas.pale(piece.key not in lit):
            _box(canvas, piece, start, middle - _HIGH / 2, wide)
    with canvas.pale(branch.key not in lit):
        canvas.circle(x, plus, 13, "#ffffff", stroke=INK, wide=2)
        canvas.line((x - 7, plus), (x + 7, plus), INK, 2)
        canvas.line((x, plus - 7), (x, plus + 7), INK, 2)
        canvas.text(x + 26, plus - 7, branch.beside, 14)
    return plus - 24


def _middle(y: float) -> float:
    """Of the boxes of a branch whose part of the pathway begins at y."""
    return y - 18 - _HIGH / 2


def _box(canvas: Canvas, piece: Piece, x: float, y: float, wide: float) -> None:
    canvas.rect(x, y, wide, _HIGH, COLOUR[piece.kind], INK, 1.5, radius=7)
    middle = x + wide / 2
    canvas.text(middle, y + (17 if piece.note else 25), piece.words, 15, "middle", bold=True)
    if piece.note:
        canvas.text(middle, y + 33, piece.note, 14, "middle")
