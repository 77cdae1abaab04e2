"""Pictures whose captions are known, word by word: two symbols of a font, and where each of them is.

    "a snowman left of an umbrella"        a grey picture of 32 × 32, a box around each symbol

The symbols are glyphs of DejaVu Sans, which comes with matplotlib. Sizes, brightnesses and positions vary. Pairs of
symbols that `HELD_OUT` names never occur together in training, so a caption of such a picture cannot be remembered.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import matplotlib
import numpy as np
import torch
from matplotlib.ft2font import FT2Font
from torch import Tensor

SYMBOLS = {
    "snowman": "☃",
    "umbrella": "☂",
    "cloud": "☁",
    "telephone": "☎",
    "anchor": "⚓",
    "airplane": "✈",
    "cup": "☕",
    "heart": "♥",
    "star": "★",
    "knight": "♞",
    "envelope": "✉",
    "snowflake": "❄",
}
NAMES = tuple(SYMBOLS)
SIDE, CELL, HEIGHTS = 32, 16, (10, 12, 14)
RELATIONS = {"left of": (0, 1), "right of": (0, -1), "above": (1, 0), "below": (-1, 0)}
"""Relation -> (rows, columns) from the first symbol's cell to the second's."""
PAIRS = list(combinations(range(len(NAMES)), 2))
HELD_OUT = frozenset(pair for pair in PAIRS if (3 * pair[0] + pair[1]) % 5 == 0)

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
    """The symbol, about so high and at most 15 pixels wide, brightness from 0 to 1."""
    font = FT2Font(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    for size in range(2 * height, 4, -1):
        font.set_size(size, 72)
        font.set_text(SYMBOLS[name], 0.0)
        font.draw_glyphs_to_bitmap(antialiased=True)
        drawn = np.asarray(font.get_image(), dtype=np.float32) / 255
        rows, columns = np.nonzero(drawn.max(1))[0], np.nonzero(drawn.max(0))[0]
        drawn = drawn[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        if drawn.shape[0] <= height and drawn.shape[1] < CELL:
            break
    return torch.from_numpy(drawn.copy())


def article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def scene(pair: tuple[int, int], chance: np.random.Generator) -> Scene:
    """A picture of two symbols, in random order, places, sizes and brightnesses."""
    order = pair if chance.random() < 0.5 else pair[::-1]
    relation = list(RELATIONS)[chance.integers(len(RELATIONS))]
    down, right = RELATIONS[relation]
    across = int(chance.integers(2))  # the row of a pair beside each other, the column of one on top of another
    first = (across, int(right < 0)) if right else (int(down < 0), across)
    image, boxes = torch.zeros(SIDE, SIDE), []
    names = (NAMES[order[0]], NAMES[order[1]])
    for name, (row, column) in zip(names, (first, (first[0] + down, first[1] + right)), strict=True):
        drawn = glyph(name, int(chance.choice(HEIGHTS)))
        height, width = drawn.shape
        top = CELL * row + int(chance.integers(CELL - height + 1))
        left = CELL * column + int(chance.integers(CELL - width + 1))
        image[top : top + height, left : left + width] = drawn * float(chance.uniform(0.6, 1))
        boxes.append((top, left, top + height, left + width))
    return Scene(image, f"{article(names[0])} {relation} {article(names[1])}", names, (boxes[0], boxes[1]))


def scenes(count: int, seed: int, held_out: bool) -> list[Scene]:
    """Scenes of the pairs that training leaves out, or of the others."""
    chance = np.random.default_rng(seed)
    pairs = [pair for pair in PAIRS if (pair in HELD_OUT) is held_out]
    return [scene(pairs[chance.integers(len(pairs))], chance) for _ in range(count)]


def in_box(box: Box, grid: int) -> Tensor:
    """(grid · grid): which fraction of each square of the picture's grid lies in the box."""
    inside = torch.zeros(SIDE, SIDE)
    inside[box[0] : box[2], box[1] : box[3]] = 1
    step = SIDE // grid
    return inside.unflatten(1, (grid, step)).unflatten(0, (grid, step)).mean((1, 3)).flatten()
