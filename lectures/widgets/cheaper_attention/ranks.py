"""A real attention matrix, its best approximation of a rank, and its singular values beside a shuffled matrix's."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import Canvas, Live, beside, choice, lines_svg, live, said, slider

Shuffle = Callable[[np.ndarray], np.ndarray]
"""A matrix (query, key) -> the same weights in another order, row by row."""


class _Taken(NamedTuple):
    """A matrix as u · diag(values) · v, and what its shuffled copy's values are."""

    matrix: np.ndarray
    u: np.ndarray
    values: np.ndarray
    v: np.ndarray
    shuffled: np.ndarray


def rank_player(models: Mapping[str, ArrayLike], shuffle: Mapping[str, Shuffle]) -> Live:
    """models: name -> attention weights (layer, head, query, key); shuffle: for each the control without structure.

    Left a head's matrix, in the middle its best approximation of rank k, right the share of the squares of all singular
    values that the first k hold: what they leave out is the squared error.

    Raises ValueError if weights have not four axes, or a model has no shuffle.
    """
    weights = {name: np.asarray(of, dtype=float) for name, of in models.items()}
    for name, of in weights.items():
        if of.ndim != 4 or name not in shuffle:
            raise ValueError(f"rank_player needs (layer, head, query, key) and a shuffle for {name}, got {of.shape}")

    @lru_cache(maxsize=512)
    def take(model: str, layer: int, head: int) -> _Taken:
        matrix = weights[model][layer, head]
        other = np.linalg.svd(shuffle[model](matrix), compute_uv=False)
        u, values, v = np.linalg.svd(matrix)
        return _Taken(matrix, u, values, v, other)

    def draw(model: str, layer: int, head: int, rank: int) -> str:
        layers, heads, n, _ = weights[model].shape
        if layer >= layers or head >= heads or rank > n:
            raise ValueError(f"{model} has the layers 0 to {layers - 1}, the heads 0 to {heads - 1} and ranks to {n}")
        taken = take(model, layer, head)
        near = (taken.u[:, :rank] * taken.values[:rank]) @ taken.v[:rank]
        lines = {name: held(values) for name, values in (("this head", taken.values), ("shuffled", taken.shuffled))}
        needed = {name: int((line < 0.9).sum()) + 1 for name, line in lines.items()}
        error = np.linalg.norm(taken.matrix - near) / np.linalg.norm(taken.matrix)
        words = (
            f"rank {rank} of {n} holds {lines['this head'][rank - 1]:.0%} of the squares; error {error:.0%}; 90 % need"
            f" {needed['this head']} values, shuffled {needed['shuffled']}"
        )
        chart = lines_svg(
            np.arange(1, n + 1), lines, x_title="k", y_title="share of the squares", low=0, high=1, level=0.9, width=330,
            height=250, title="held by the first k values", alt=f"{model}, layer {layer}, head {head}: {words}.",
        )  # fmt: skip
        return beside(_images({"weights": taken.matrix, f"rank {rank}": near}, words), chart) + said(words)

    deepest, widest = (max(of.shape[axis] for of in weights.values()) - 1 for axis in (0, 1))
    longest = max(of.shape[2] for of in weights.values())
    return live(
        draw,
        rows=[["model"], ["layer", "head", "rank"]],
        model=choice(weights, "model"),
        layer=slider(0, 0, deepest, 1, "layer", "300px"),
        head=slider(0, 0, widest, 1, "head", "260px"),
        rank=slider(min(4, longest), 1, longest, 1, "rank k", "340px"),
    )


def held(values: np.ndarray) -> np.ndarray:
    """The share of the sum of squares that the first k values hold, k = 1, 2, …"""
    squares = np.square(values)
    return np.asarray(squares.cumsum() / squares.sum())


def _images(matrices: Mapping[str, np.ndarray], words: str) -> str:
    """Matrices side by side in one scale: the square root, so that small weights are seen; negative ones are red."""
    canvas, side = Canvas(), 250.0
    reach = float(np.sqrt(max(np.abs(next(iter(matrices.values()))).max(), 1e-9)))
    for i, (name, matrix) in enumerate(matrices.items()):
        left = i * (side + 24)
        canvas.text(left, 20, name, 16, bold=True)
        canvas.image(-np.sign(matrix) * np.sqrt(np.abs(matrix)), left, 30, side, side, reach)
    canvas.notes(["rows: queries, columns: keys; red: below 0"])
    return canvas.svg(f"{' and '.join(matrices)} of an attention matrix: {words}.")
