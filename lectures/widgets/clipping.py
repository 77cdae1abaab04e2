"""Clipping a gradient: in the plane, and on a loss with a cliff.

Both are handed the clipping that they demonstrate; `yours`, the student's own, is drawn beside it.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lectures.show import beside, cliff_svg, clipped_svg, grey_png, said
from lectures.show.live import Live, live, slider, swapped

Clip = Callable[[list[Tensor], float], Any]
"""(gradients, n_max) -> the gradients after clipping, as many tensors of the same shapes."""
LossAndGradient = Callable[[Any, Any], tuple[Any, Any, Any]]
"""(w, b) -> (loss, ∂loss/∂w, ∂loss/∂b), also for arrays of them."""
Range = tuple[float, float]


def clipping_playground(clip: Clip, others: Mapping[str, Clip], *, yours: Clip | None = None) -> Live:
    """A gradient of two parameters, one number each, turned and stretched; what each way of clipping makes of it."""

    def draw(clip: Clip, n_max: float, length: float, angle: int) -> str:
        radians = math.radians(angle)
        g = torch.tensor([math.cos(radians), math.sin(radians)], dtype=torch.float64) * length
        clipped = {name: _checked(rule, g, n_max).numpy() for name, rule in {"by its norm": clip, **others}.items()}
        spoken = "; ".join(f"{name}: ({v[0]:.2f}, {v[1]:.2f})" for name, v in clipped.items())
        alt = f"Gradient ({g[0]:.2f}, {g[1]:.2f}), n_max {n_max:g}. Clipped {spoken}."
        return clipped_svg(g.numpy(), clipped, n_max, alt=alt)

    return live(
        partial(draw, clip),
        yours=swapped(draw, yours),
        n_max=slider(1.0, 0.2, 3.0, 0.1, "n_max"),
        length=slider(3.0, 0.0, 4.0, 0.1, "length of the gradient"),
        angle=slider(20, 0, 355, 5, "its direction (°)"),
    )


def cliff_playground(
    clip: Clip,
    loss_and_gradient: LossAndGradient,
    others: Mapping[str, Clip],
    *,
    start: tuple[float, float],
    w_range: Range,
    b_range: Range,
    steps: int = 60,
    yours: Clip | None = None,
) -> Live:
    """Gradient descent from one start on the loss of two weights, step by step, under each way of clipping."""
    w, b = np.meshgrid(np.linspace(*w_range, 160), np.linspace(b_range[1], b_range[0], 120))
    losses = np.asarray(loss_and_gradient(w, b)[0])
    surface = grey_png(losses / losses.max())

    @lru_cache(maxsize=256)
    def descend(rules: tuple[Clip, ...], n_max: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
        """Every rule's path (rule, step, 2) and losses (rule, step)."""
        here = np.tile(np.array(start, dtype=float), (len(rules), 1))
        paths, values = [], []
        for _ in range(steps + 1):
            loss, dw, db = loss_and_gradient(here[:, 0], here[:, 1])
            paths.append(here)
            values.append(loss)
            gradients = torch.from_numpy(np.stack([dw, db], axis=1))
            stepped = [_checked(rule, g, n_max).numpy() for rule, g in zip(rules, gradients, strict=True)]
            here = here - rate * np.stack(stepped)
        return np.stack(paths, axis=1), np.stack(values, axis=1)

    def draw(clip: Clip, step: int, n_max: float, rate: float) -> str:
        rules = {"clipped by its norm": clip, **others}
        paths, values = descend(tuple(rules.values()), n_max, rate)
        shown = {name: paths[k, : step + 1] for k, name in enumerate(rules)}
        spoken = "; ".join(
            f"{name}: loss {values[k, step]:.4f} at w = {paths[k, step, 0]:.2f}, b = {paths[k, step, 1]:.2f}"
            for k, name in enumerate(rules)
        )
        picture = cliff_svg(
            surface,
            w_range,
            b_range,
            shown,
            title=f"{step} steps, n_max {n_max:g}, learning rate {rate:g}; dark is a large loss",
            alt=f"Loss of a network of one unit over w and b, with a sharp edge. After {step} steps {spoken}.",
        )
        return beside(picture, "".join(said(part) for part in spoken.split("; ")))

    return live(
        partial(draw, clip),
        yours=swapped(draw, yours),
        step=slider(0, 0, steps, 1, "steps of descent"),
        n_max=slider(0.3, 0.1, 3.0, 0.1, "n_max"),
        rate=slider(1.0, 0.1, 1.5, 0.1, "learning rate"),
    )


def _checked(clip: Clip, gradient: Tensor, n_max: float) -> Tensor:
    """The two numbers that a rule makes of two parameters' gradients."""
    clipped = clip([gradient[:1].clone(), gradient[1:].clone()], n_max)
    if not isinstance(clipped, list | tuple) or len(clipped) != 2:
        raise ValueError("a clipping function must return as many gradients as it is given: here a list of two tensors")
    parts = [torch.as_tensor(part, dtype=torch.float64) for part in clipped]
    if any(part.numel() != 1 for part in parts):
        shapes = ", ".join(str(tuple(part.shape)) for part in parts)
        raise ValueError(f"a clipped gradient must keep its shape, here (1,) each: shapes {shapes}")
    return torch.cat([part.reshape(1) for part in parts])
