"""The learning rate under a slider: gradient descent on a curve that one can see."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import ipywidgets
import numpy as np

from lectures.show import descent_svg
from lectures.show.live import Live, live, slider, swapped

Step = Callable[[float, float, float], float]
"""(w, gradient, rate) -> the next w."""


@dataclass(frozen=True)
class Slope:
    """A loss with one parameter: what it is, its derivative, where one begins, and what the picture shows."""

    loss: Callable[[float], float]
    gradient: Callable[[float], float]
    start: float | int
    low: float | int = -2.5
    high: float | int = 2.5


def descent_playground(step: Step, slopes: Mapping[str, Slope], *, yours: Step | None = None) -> Live:
    """Choose a curve, a learning rate and a number of steps; see where `step(w, gradient, rate)` leads."""
    curves = {}
    for name, slope in slopes.items():
        x = np.linspace(slope.low, slope.high, 161)
        curves[name] = x, np.array([slope.loss(float(w)) for w in x])

    def draw(step: Step, curve: str, rate: float, steps: int) -> str:
        slope, (x, y) = slopes[curve], curves[curve]
        visited = [(float(slope.start), slope.loss(float(slope.start)))]
        for _ in range(steps):
            w = float(step(visited[-1][0], slope.gradient(visited[-1][0]), rate))
            if not abs(w) < 1e6:  # not a number, or on the way to infinity
                visited.append((math.copysign(1e6, w), math.inf))
                break
            visited.append((w, slope.loss(w)))
        w, loss = visited[-1]
        note = f"after {len(visited) - 1} steps: w = {w:.3f}, loss {loss:.4f}" if abs(w) < 1000 else "it diverges"
        return descent_svg(x, y, visited, title=f"{curve}, learning rate {rate:.2f}", note=note)

    return live(
        partial(draw, step),
        yours=swapped(draw, yours),
        rows=[["curve"], ["rate", "steps"]],
        curve=ipywidgets.ToggleButtons(options=list(slopes), description="loss", style={"button_width": "auto"}),
        rate=slider(0.05, 0.01, 1.2, 0.01, "learning rate", "420px"),
        steps=slider(10, 0, 30, 1, "steps", "340px"),
    )
