"""Captions word by word: where a captioner looks before each word, and how much of it lies in the named symbol's box."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lectures.show import Canvas, Live, choice, live, said, slider, stops
from lectures.show.svg import BLUE, ORANGE
from lectures.widgets.beyond_text.images import grey

Box = tuple[int, int, int, int]
WIDE = 420


class Shown(NamedTuple):
    """One picture as read by one model."""

    image: np.ndarray
    """Brightness (row, column)."""
    words: Sequence[str]
    weights: np.ndarray
    """Attention (word, row, column) over a grid of locations."""
    boxes: Mapping[str, Box]
    """Symbol -> (first row, first column, row after the last, column after the last)."""


def caption_explorer(pictures: Mapping[str, Sequence[Shown]]) -> Live:
    """pictures: model -> the same pictures, each as that model captions it. A slider steps through the words."""
    count, longest = len(next(iter(pictures.values()))), max(len(one.words) for of in pictures.values() for one in of)

    def draw(model: str, picture: int, word: int) -> str:
        one = pictures[model][picture - 1]
        at = min(word, len(one.words)) - 1
        weights = one.weights[at]
        told = " ".join(f"[{w}]" if i == at else w for i, w in enumerate(one.words))
        masses = {name: mass_in(weights, box, one.image.shape) for name, box in one.boxes.items()}
        shares = ", ".join(f"{mass:.0%} in the box of the {name}" for name, mass in masses.items())
        return caption_svg(one, weights, f"{model}: {told}. Attention: {shares}") + said(f"{told}: {shares}")

    return live(
        draw,
        model=choice(pictures, "encoder"),
        picture=stops(range(1, count + 1), 1, "picture", "240px"),
        word=slider(min(2, longest), 1, longest, 1, "word", "260px"),
        rows=[["model"], ["picture", "word"]],
        play="word",
    )


def mass_in(weights: np.ndarray, box: Box, shape: Sequence[int]) -> float:
    """The sum of the weights whose part of the picture the box touches."""
    high, wide = shape[0] // len(weights), shape[1] // weights.shape[1]
    rows = slice(box[0] // high, -(-box[2] // high))
    columns = slice(box[1] // wide, -(-box[3] // wide))
    return float(weights[rows, columns].sum())


def caption_svg(one: Shown, weights: np.ndarray, alt: str) -> str:
    """The picture with its boxes, and the same picture with the weights over it."""
    canvas = Canvas()
    cell = WIDE / one.image.shape[1]
    high = cell * one.image.shape[0]
    for panel, title in enumerate(("the picture, with the boxes", "attention before this word")):
        x, y = 4 + panel * (WIDE + 36), 32
        canvas.text(x, 20, title, 16, bold=True)
        canvas.photograph(grey(one.image), x, y, WIDE, high)
        if panel:
            for (i, j), weight in np.ndenumerate(weights):
                side = WIDE / weights.shape[1]
                look: Any = {"opacity": f"{min(0.85, 0.05 + 1.6 * float(weight)):.2f}", "says": f"{weight:.3f}"}
                if weight >= 0.01:
                    canvas.rect(x + side * j, y + side * i, side, side, ORANGE, **look)
        for name, (top, left, bottom, right) in one.boxes.items():
            across, down = x + cell * left, y + cell * top
            canvas.rect(across, down, cell * (right - left), cell * (bottom - top), stroke=BLUE, wide=2.5)
            if not panel:
                canvas.text(across + 2, y + high + 20, name, 15, bold=True)
    return canvas.svg(alt)
