"""Pictures whose captions are known, word by word: two symbols of a font, and where each of them is.

    "a snowman left of an umbrella"        a grey picture of 16 × 32, a box around each symbol

The symbols are glyphs of DejaVu Sans, which comes with matplotlib. Sizes, brightnesses and positions vary. Pairs of
symbols that `HELD_OUT` names never occur together in training, so a caption of such a picture cannot be remembered.

Where the symbols are may give the answer away. In `HALVES` each half has one large symbol: looking at the left half for
the first noun and at the right half for the second puts nine tenths of the attention into the right box, whatever the
picture shows. In `SCATTERED` the symbols are smaller and the picture is wider, and both may be in one half.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import torch
from nlmcore.corpora.packaged import data_file, imported
from nlmcore.vision import to_patches
from torch import Tensor

SYMBOLS = {
    "snowman": "☃",
    "umbrella": "☂",
    "telephone": "☎",
    "airplane": "✈",
    "cup": "☕",
    "heart": "♥",
    "star": "★",
    "anchor": "⚓",
}
NAMES = tuple(SYMBOLS)
ROWS, COLUMNS, WIDEST = 16, 32, 16
PAIRS = list(combinations(range(len(NAMES)), 2))
HELD_OUT = frozenset(pair for pair in PAIRS if (2 * pair[0] + pair[1]) % 5 == 0)

Box = tuple[int, int, int, int]
"""(first row, first column, row after the last, column after the last)."""


@dataclass(frozen=True)
class Layout:
    """How pictures are laid out."""

    columns: int
    heights: tuple[int, ...]
    """Of symbols, in pixels."""
    halves: bool
    """Each symbol in its half; otherwise anywhere, one left of the other."""


HALVES = Layout(COLUMNS, (12, 13), halves=True)
SCATTERED = Layout(48, (7, 8, 9, 10), halves=False)


@dataclass(frozen=True)
class Scene:
    """A picture, its caption, and the boxes of the symbols in the order in which the caption names them."""

    image: Tensor
    caption: str
    names: tuple[str, str]
    boxes: tuple[Box, Box]


@lru_cache(maxsize=64)
def glyph(name: str, height: int) -> Tensor:
    """The symbol, about so high and at most 16 pixels wide, brightness from 0 to 1."""
    package, file = "matplotlib>=3.9,<4", "matplotlib/mpl-data/fonts/ttf/DejaVuSans.ttf"
    font = imported(package, "matplotlib.ft2font").FT2Font(str(data_file(package, file)))
    for size in range(2 * height, 4, -1):
        font.set_size(size, 72)
        font.set_text(SYMBOLS[name], 0.0)
        font.draw_glyphs_to_bitmap(antialiased=True)
        drawn = np.asarray(font.get_image(), dtype=np.float32) / 255
        rows, columns = np.nonzero(drawn.max(1))[0], np.nonzero(drawn.max(0))[0]
        drawn = drawn[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        if drawn.shape[0] <= height and drawn.shape[1] <= WIDEST:
            break
    return torch.from_numpy(drawn.copy())


def article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def scene(pair: tuple[int, int], chance: np.random.Generator, layout: Layout = HALVES) -> Scene:
    """A picture of two symbols in random order, in random sizes, places and brightnesses."""
    order = pair if chance.random() < 0.5 else pair[::-1]
    names = (NAMES[order[0]], NAMES[order[1]])
    image, boxes, end = torch.zeros(ROWS, layout.columns), [], 0
    for which, name in enumerate(names):
        drawn = glyph(name, int(chance.choice(layout.heights)))
        height, width = drawn.shape
        top = int(chance.integers(ROWS - height + 1))
        if layout.halves:
            low, room = which * layout.columns // 2, layout.columns // 2
        else:  # right of the one before; the first leaves room for the second
            low, room = end, layout.columns - end - (WIDEST if which == 0 else 0)
        left = low + int(chance.integers(room - width + 1))
        end = left + width
        image[top : top + height, left:end] = drawn * float(chance.uniform(0.8, 1))
        boxes.append((top, left, top + height, end))
    return Scene(image, f"{article(names[0])} left of {article(names[1])}", names, (boxes[0], boxes[1]))


def scenes(count: int, seed: int, held_out: bool, layout: Layout = HALVES) -> list[Scene]:
    """Scenes of the pairs that training leaves out, or of the others."""
    chance = np.random.default_rng(seed)
    pairs = [pair for pair in PAIRS if (pair in HELD_OUT) is held_out]
    return [scene(pairs[chance.integers(len(pairs))], chance, layout) for _ in range(count)]


def by_location(pixels: Tensor, step: int) -> Tensor:
    """(row, column) to the mean of every square of step × step, row by row: (location)."""
    return to_patches(pixels.unsqueeze(0), step)[0].mean(-1)


def in_box(box: Box, step: int, columns: int = COLUMNS) -> Tensor:
    """True for the locations that the box touches, in a picture of so many columns."""
    inside = torch.zeros(ROWS, columns)
    inside[box[0] : box[2], box[1] : box[3]] = 1
    return by_location(inside, step) > 0
