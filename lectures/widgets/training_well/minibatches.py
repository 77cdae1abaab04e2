"""Minibatches: their gradients around the full one, and how the noise falls with their size."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from lectures.show import Axis, Canvas, Live, Look, Plot, beside, lines_svg, live, said, slider, stops
from lectures.show.svg import BLUE, ORANGE


Minibatch = Callable[[Tensor, int, torch.Generator], Tensor]
"""(gradients (example, parameter), size, generator) -> the mean gradient of a minibatch drawn from them."""
SIZES = tuple(2**k for k in range(11))
DRAWN = 60


def minibatch_cloud(minibatch: Minibatch, gradients: Tensor, *, yours: Minibatch | None = None) -> Live:
    """A slider for the size of a minibatch: 60 of their gradients around the full one, and their mean error.

    The plane is that of the full gradient (to the right) and the direction in which single examples differ most.
    """
    full = gradients.mean(dim=0)
    right = full / full.norm()
    rest = gradients - (gradients @ right)[:, None] * right
    up = torch.linalg.eigh(rest.T @ rest).eigenvectors[:, -1]
    up = (up - (up @ right) * right) / (up - (up @ right) * right).norm()
    spread = float(((gradients - full).norm(dim=1) ** 2).mean().sqrt() / full.norm())

    @lru_cache(maxsize=256)
    def drawn(minibatch: Minibatch, size: int, seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(1000 * seed + size)
        found = [torch.as_tensor(minibatch(gradients, size, generator)) for _ in range(DRAWN)]
        if found[0].shape != full.shape:
            raise ValueError(f"a minibatch's gradient must have shape {tuple(full.shape)}, got {tuple(found[0].shape)}")
        return torch.stack(found)

    @lru_cache(maxsize=256)
    def error(minibatch: Minibatch, size: int, seed: int) -> float:
        off = (drawn(minibatch, size, seed) - full).norm(dim=1)
        return float((off**2).mean().sqrt() / full.norm())

    def draw(minibatch: Minibatch, size: int, seed: int) -> str:
        cloud, here = drawn(minibatch, size, seed) / full.norm(), error(minibatch, size, seed)
        canvas = Canvas(f"{DRAWN} minibatches of {size}", size=16)
        axes = Axis(-2, 4, "along the full gradient"), Axis(-3, 3, "noisiest direction")
        plot = Plot(canvas, *axes, across=390, down=380)
        for point in torch.stack([cloud @ right, cloud @ up], dim=1).tolist():
            tip = [min(max(v, axis.low), axis.high) for v, axis in zip(point, axes, strict=True)]
            canvas.line(plot.at(0, 0), plot.at(*tip), BLUE, 1, opacity=0.5)
        canvas.line(plot.at(0, 0), plot.at(1, 0), ORANGE, 5)
        plot.marks([1], [0], Look(ORANGE), 7)
        backward = int((cloud @ right < 0).sum())
        alt = f"Gradients of {DRAWN} minibatches of {size}: relative error {here:.2f}, {backward} point backwards."
        errors = [error(minibatch, one, seed) for one in SIZES]
        law = {"measured": np.log10(np.maximum(errors, 1e-9)), "1/√size": np.log10(spread / np.sqrt(SIZES))}
        lines = lines_svg(
            np.log2(SIZES), law, x_title="log₂ of the size", y_title="relative error", low=-2, high=2, powers=True,
            width=450, height=380, title="error of a minibatch's gradient",
            alt=f"Relative error against size: {errors[0]:.2f} at 1, {errors[-1]:.2f} at {SIZES[-1]}.",
        )  # fmt: skip
        words = f"size {size}: the error is {here:.2f} times the full gradient; {backward} of {DRAWN} point backwards"
        return beside(canvas.svg(alt), lines) + said(words)

    sizes, again = stops(SIZES, 1, "examples in a minibatch"), slider(1, 1, 20, 1, "draw again")
    return live(draw, minibatch, yours=yours, size=sizes, seed=again)
