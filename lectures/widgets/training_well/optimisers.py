"""Optimisers on one surface, step by step."""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, beside, lines_svg, live, looks, said, slider, stops, tick
from lectures.show.svg import png_address


Step = Callable[[Any, Any, dict, float], Any]
"""(weights, gradient, memory, rate) -> the weights after one step; `memory` is a dictionary that the step may keep."""
RACE_STEPS = 120


def optimiser_race(optimiser: Step, others: Mapping[str, Step], *, name: str, yours: Step | None = None) -> Live:
    """Optimisers walk down ½ (u²/κ + v²), a valley κ times flatter along its floor than across it.

    An angle rotates the valley, and with it the start, which all share.

    `name` is what the first one is called; `yours` replaces it. Adam and AdamW have a rate slider of their own.
    """
    across, up = np.meshgrid(np.linspace(-5, 5, 130), np.linspace(4, -4, 104))

    def valley(x: Any, y: Any, kappa: float, angle: float) -> tuple[Any, Any, Any]:
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        u, v = c * x + s * y, -s * x + c * y
        return 0.5 * (u * u / kappa + v * v), c * u / kappa - s * v, s * u / kappa + c * v

    @lru_cache(maxsize=128)
    def walk(step: Step, rate: float, kappa: float, angle: float, noise: bool) -> tuple[np.ndarray, np.ndarray]:
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        here: Any = np.array([-4 * c - 2.5 * s, -4 * s + 2.5 * c])
        memory: dict[str, Any] = {}
        draws, path, losses = np.random.default_rng(0), [here], []
        for _ in range(RACE_STEPS):
            loss, *gradient = valley(here[0], here[1], kappa, angle)
            losses.append(loss)
            g = np.array(gradient) + (draws.normal(0, 0.3, 2) if noise else 0)
            here = np.clip(np.asarray(step(here, g, memory, rate), dtype=float), -1e6, 1e6)
            path.append(here)
        return np.array(path), np.array([*losses, valley(here[0], here[1], kappa, angle)[0]])

    @lru_cache(maxsize=64)
    def surface(kappa: float, angle: float) -> str:
        height = np.sqrt(valley(across, up, kappa, angle)[0])
        return png_address((255 - 150 * height / height.max()).round().astype(np.uint8), level=1)

    def draw(optimiser: Step, step: int, kappa: int, angle: int, noise: bool, rate: float, adam_rate: float) -> str:
        racers = {name: optimiser, **others}
        found = {
            title: walk(one, adam_rate if "Adam" in title else rate, float(kappa), float(angle), noise)
            for title, one in racers.items()
        }
        canvas, keys = Canvas(size=16), looks(racers)
        plot = Plot(
            canvas, Axis(-5, 5, "w₁", grid=False), Axis(-4, 4, "w₂", grid=False), across=470, down=400, keys=keys
        )
        canvas.picture(surface(kappa, angle), plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top)
        plot.marks([0], [0], Look("#000000", mark="diamond"), 7)
        for title, (path, _) in found.items():
            plot.line(path[: step + 1, 0], path[: step + 1, 1], keys[title])
            if plot.contains(*path[step]):
                plot.marks(path[step : step + 1, 0], path[step : step + 1, 1], Look(keys[title].colour), 7)
        spoken = "; ".join(f"{title} {losses[step]:.3g}" for title, (_, losses) in found.items())
        times = np.arange(RACE_STEPS + 1)
        logs = {
            title: np.where(times <= step, np.log10(np.maximum(losses, 1e-12)), np.nan)
            for title, (_, losses) in found.items()
        }
        curves = lines_svg(
            times, logs, x_title="step", y_title="loss", low=-8, high=2, powers=True, width=420,
            height=400, alt=f"Loss by step. After {step} steps: {spoken}.",
        )  # fmt: skip
        picture = canvas.svg(
            f"A valley, {kappa} times flatter along its floor than across, rotated by {angle}°. After {step} steps: {spoken}."
        )
        return beside(picture, curves) + said(f"loss after {step} steps: {spoken}")

    return live(
        draw,
        optimiser,
        yours=yours,
        rows=[["step", "kappa", "angle"], ["rate", "adam_rate", "noise"]],
        step=slider(10, 0, RACE_STEPS, 1, "steps", "300px"),
        kappa=stops((1, 3, 10, 30, 100), 30, "κ, flatness of floor", "300px"),
        angle=slider(0, 0, 45, 5, "rotated by (°)", "280px"),
        rate=stops((0.01, 0.03, 0.1, 0.3, 1.0, 1.9, 2.1), 0.3, "rate of SGD, momentum", "300px"),
        adam_rate=stops((0.001, 0.01, 0.03, 0.1, 0.3, 1.0), 0.1, "rate of Adam", "300px"),
        noise=tick("noisy gradients"),
    )
