"""Pictures whose captions are known, word by word: two symbols of a font, and where each of them is.

    "a snowman left of an umbrella"        a grey picture of 16 × 32, a box around each symbol

The symbols are glyphs of DejaVu Sans, which comes with matplotlib. Sizes, brightnesses and positions vary. Pairs of
symbols that `HELD_OUT` names never occur together in training, so a caption of such a picture cannot be remembered.
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
ROWS, COLUMNS, HEIGHTS = 16, 32, (12, 13)
PAIRS = list(combinations(range(len(NAMES)), 2))
HELD_OUT = frozenset(pair for pair in PAIRS if (2 * pair[0] + pair[1]) % 5 == 0)

Box = tuple[int, int, int, int]
"""(first row, first column, row after the last, column after the last)."""


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
        if drawn.shape[0] <= height and drawn.shape[1] <= COLUMNS // 2:
            break
    return torch.from_numpy(drawn.copy())


def article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def scene(pair: tuple[int, int], chance: np.random.Generator) -> Scene:
    """A picture of two symbols in random order, each anywhere in its half, in a random size and brightness."""
    order = pair if chance.random() < 0.5 else pair[::-1]
    names = (NAMES[order[0]], NAMES[order[1]])
    image, boxes = torch.zeros(ROWS, COLUMNS), []
    for half, name in enumerate(names):
        drawn = glyph(name, int(chance.choice(HEIGHTS)))
        height, width = drawn.shape
        top = int(chance.integers(ROWS - height + 1))
        left = half * COLUMNS // 2 + int(chance.integers(COLUMNS // 2 - width + 1))
        image[top : top + height, left : left + width] = drawn * float(chance.uniform(0.8, 1))
        boxes.append((top, left, top + height, left + width))
    return Scene(image, f"{article(names[0])} left of {article(names[1])}", names, (boxes[0], boxes[1]))


def scenes(count: int, seed: int, held_out: bool) -> list[Scene]:
    """Scenes of the pairs that training leaves out, or of the others."""
    chance = np.random.default_rng(seed)
    pairs = [pair for pair in PAIRS if (pair in HELD_OUT) is held_out]
    return [scene(pairs[chance.integers(len(pairs))], chance) for _ in range(count)]


def by_location(pixels: Tensor, step: int) -> Tensor:
    """(row, column) to the mean of every square of step × step, row by row: (location)."""
    return to_patches(pixels.unsqueeze(0), step)[0].mean(-1)


def in_box(box: Box, step: int) -> Tensor:
    """True for the locations that the box touches."""
    inside = torch.zeros(ROWS, COLUMNS)
    inside[box[0] : box[2], box[1] : box[3]] = 1
    return by_location(inside, step) > 0
