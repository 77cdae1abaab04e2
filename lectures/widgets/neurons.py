"""Neurons that divide the plane: one whose weights are moved by hand, and networks that learn where to divide."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import ipywidgets
import numpy as np
from numpy.typing import ArrayLike

from lectures.show import decision_svg
from lectures.show.live import Live, live, slider, swapped

Neuron = Callable[[np.ndarray, np.ndarray, float], ArrayLike]
"""(x (point, 2), w (2,), b) -> one output per point: 0, 1, or a probability."""

_CELLS = 60


def _grid(low: float | int, high: float | int) -> np.ndarray:
    """The middles of _CELLS × _CELLS small squares, (point, 2), the lowest row first."""
    at = low + (np.arange(_CELLS) + 0.5) / _CELLS * (high - low)
    x, y = np.meshgrid(at, at)
    return np.stack([x.ravel(), y.ravel()], axis=1)


def _on_grid(outputs: ArrayLike) -> np.ndarray:
    p = np.asarray(outputs, dtype=float)
    if p.size != _CELLS * _CELLS:
        raise ValueError(f"one output per point is needed, {_CELLS * _CELLS} of them, got an array of shape {p.shape}")
    return p.reshape(_CELLS, _CELLS)


def neuron_playground(
    neuron: Neuron, points: ArrayLike, tasks: Mapping[str, Sequence[int]], *, yours: Neuron | None = None
) -> Live:
    """Two weights and a bias under three sliders; the half-plane that the neuron calls 1, and the points it gets right.

    points (point, 2); tasks: name -> a target, 0 or 1, per point.
    """
    low, high = -1.0, 2.0
    at, everywhere = np.asarray(points, dtype=float), _grid(low, high)

    def draw(neuron: Neuron, task: str, w1: float, w2: float, b: float) -> str:
        w = np.array([w1, w2])
        says = np.asarray(neuron(at, w, b), dtype=float).ravel() > 0.5
        right = int((says == np.array(tasks[task], dtype=bool)).sum())
        formula = f"w·x + b = {w1:.1f} x1 {_signed(w2)} x2 {_signed(b)}"
        alt = (
            f"{task}: the neuron says 1 where {formula} is positive. {right} of {len(at)} points are right; it says "
            + ", ".join(f"{int(s)} at ({x:g}, {y:g})" for s, (x, y) in zip(says, at, strict=True))
        )
        return decision_svg(
            _on_grid(neuron(everywhere, w, b)),
            at,
            tasks[task],
            low=low,
            high=high,
            line=(w1, w2, b),
            title=task,
            notes=[f"{right} of {len(at)} right", "", formula.replace("-", "\N{MINUS SIGN}"), "", "blue: it says 1"],
            alt=alt + ".",
        )

    return live(
        partial(draw, neuron),
        yours=swapped(draw, yours),
        rows=[["task"], ["w1", "w2", "b"]],
        task=ipywidgets.ToggleButtons(options=list(tasks), description="task", style={"button_width": "80px"}),
        w1=slider(1.0, -2.0, 2.0, 0.1, "w1", "300px"),
        w2=slider(-0.5, -2.0, 2.0, 0.1, "w2", "300px"),
        b=slider(0.3, -2.0, 2.0, 0.1, "bias b", "300px"),
    )


def _signed(number: float) -> str:
    return f"{'-' if number < 0 else '+'} {abs(number):.1f}"


def boundary_player(
    runs: Mapping[str, Mapping[int, Callable[[np.ndarray], ArrayLike]]], points: ArrayLike, targets: Sequence[int]
) -> Live:
    """Trainings under a slider: what each network says of every point of the plane after so many steps.

    runs: name -> {step: function (point, 2) -> P(class 1) of each point}, with the same steps in every run.

    Raises ValueError if the runs do not share their steps, or there is none.
    """
    steps = list(next(iter(runs.values()), {}))
    if not steps or any(list(run) != steps for run in runs.values()):
        raise ValueError("boundary_player needs runs that share their steps, at least one")
    low, high = -1.0, 2.0
    at, everywhere = np.asarray(points, dtype=float), _grid(low, high)
    truth = np.array(targets, dtype=float)

    def draw(run: str, step: int) -> str:
        p = np.clip(np.asarray(runs[run][step](at), dtype=float).ravel(), 1e-12, 1 - 1e-12)
        loss = float(-(truth * np.log(p) + (1 - truth) * np.log(1 - p)).mean())
        right = int(((p > 0.5) == truth.astype(bool)).sum())
        says = ", ".join(f"{v:.2f} at ({x:g}, {y:g})" for v, (x, y) in zip(p, at, strict=True))
        return decision_svg(
            _on_grid(runs[run][step](everywhere)),
            at,
            targets,
            low=low,
            high=high,
            title=run,
            notes=[f"after {step:,} steps", f"loss {loss:.3f}", f"{right} of {len(at)} right"],
            alt=f"{run} after {step:,} steps: loss {loss:.3f}, {right} of {len(at)} points right; P(1) is {says}.",
        )

    return live(
        draw,
        rows=[["run"], ["step"]],
        run=ipywidgets.ToggleButtons(options=list(runs), description="network", style={"button_width": "auto"}),
        step=ipywidgets.SelectionSlider(
            options=steps, description="steps taken", layout=ipywidgets.Layout(width="min(560px, 95%)")
        ),
    )
