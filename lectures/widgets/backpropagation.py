"""Widgets: neurons that divide the plane, circuits that fill in step by step, gradient descent on a curve."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import ipywidgets
import numpy as np
from numpy.typing import ArrayLike

from lectures.show import (
    Axis,
    Canvas,
    Live,
    Look,
    Plot,
    choice,
    circuit_svg,
    decision_svg,
    field,
    live,
    menu,
    slider,
    stops,
)
from lectures.show.svg import DARK_ORANGE, ORANGE, Pixels, number

__all__ = [
    "Slope",
    "boundary_player",
    "circuit_player",
    "circuit_playground",
    "descent_playground",
    "neuron_playground",
]

# --- neurons -------------------------------------------------------------------------------------

Neuron = Callable[[np.ndarray, np.ndarray, float], ArrayLike]
"""(x (point, 2), w (2,), b) -> one output per point: 0, 1, or a probability."""

_CELLS, _LOW, _HIGH = 60, -1.0, 2.0


def _grid() -> np.ndarray:
    """The centres of _CELLS × _CELLS small squares, (point, 2), the lowest row first."""
    at = _LOW + (np.arange(_CELLS) + 0.5) / _CELLS * (_HIGH - _LOW)
    return np.stack([axis.ravel() for axis in np.meshgrid(at, at)], axis=1)


def _on_grid(outputs: ArrayLike) -> np.ndarray:
    p = np.asarray(outputs, dtype=float)
    if p.size != _CELLS * _CELLS:
        raise ValueError(f"the neuron must return one output per point, {_CELLS * _CELLS} in all; got shape {p.shape}")
    return p.reshape(_CELLS, _CELLS)


def neuron_playground(
    neuron: Neuron, points: ArrayLike, tasks: Mapping[str, Sequence[int]], *, yours: Neuron | None = None
) -> Live:
    """Two weights and a bias on three sliders; the half-plane where the neuron outputs 1, and the points it gets right.

    points (point, 2); tasks: name -> a target, 0 or 1, per point.
    """
    at, everywhere = np.asarray(points, dtype=float), _grid()

    def draw(neuron: Neuron, task: str, w1: float, w2: float, b: float) -> str:
        w = np.array([w1, w2])
        says = np.asarray(neuron(at, w, b), dtype=float).ravel() > 0.5
        right = int((says == np.array(tasks[task], dtype=bool)).sum())
        formula = f"w·x + b = {number(w1, 1)} x1 {_signed(w2)} x2 {_signed(b)}"
        heard = ", ".join(f"{int(s)} at ({x:g}, {y:g})" for s, (x, y) in zip(says, at, strict=True))
        return decision_svg(
            _on_grid(neuron(everywhere, w, b)),
            at,
            tasks[task],
            low=_LOW,
            high=_HIGH,
            line=(w1, w2, b),
            drag=True,
            title=task,
            notes=[f"{right} of {len(at)} right", "", formula, "", "blue: output 1", "drag the line, or its arrow"],
            alt=f"{task}: the neuron outputs 1 where {formula} is positive. {right} of {len(at)} points are right; it outputs"
            f" {heard}.",
        )

    return live(
        draw,
        neuron,
        yours=yours,
        rows=[["task"], ["w1", "w2", "b"]],
        task=choice(tasks, "task"),
        w1=slider(1.0, -2.0, 2.0, 0.1, "w1", "300px"),
        w2=slider(-0.5, -2.0, 2.0, 0.1, "w2", "300px"),
        b=slider(0.3, -2.0, 2.0, 0.1, "bias b", "300px"),
    )


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {abs(value):.1f}"


def boundary_player(
    runs: Mapping[str, Mapping[int, Callable[[np.ndarray], ArrayLike]]], points: ArrayLike, targets: Sequence[int]
) -> Live:
    """Training runs on a slider: each network's output at every point of the plane after a number of steps.

    runs: name -> {step: function (point, 2) -> P(class 1) of each point}, with the same steps in every run.

    Raises ValueError if there are no runs or their steps differ.
    """
    steps = list(next(iter(runs.values()), {}))
    if not steps or any(list(run) != steps for run in runs.values()):
        raise ValueError("boundary_player needs runs that share their steps, at least one")
    at, everywhere, truth = np.asarray(points, dtype=float), _grid(), np.array(targets, dtype=float)

    def draw(run: str, step: int) -> str:
        p = np.clip(np.asarray(runs[run][step](at), dtype=float).ravel(), 1e-12, 1 - 1e-12)
        loss = float(-(truth * np.log(p) + (1 - truth) * np.log(1 - p)).mean())
        right = int(((p > 0.5) == truth.astype(bool)).sum())
        says = ", ".join(f"{v:.2f} at ({x:g}, {y:g})" for v, (x, y) in zip(p, at, strict=True))
        return decision_svg(
            _on_grid(runs[run][step](everywhere)),
            at,
            targets,
            low=_LOW,
            high=_HIGH,
            title=run,
            notes=[f"after {step:,} steps", f"loss {loss:.3f}", f"{right} of {len(at)} right"],
            alt=f"{run} after {step:,} steps: loss {loss:.3f}, {right} of {len(at)} points right; P(1) is {says}.",
        )

    step = stops(steps, steps[0], "steps taken", "min(560px, 95%)")
    return live(draw, rows=[["run"], ["step"]], play="step", run=choice(runs, "network"), step=step)


# --- circuits ------------------------------------------------------------------------------------

_MOST = 40
"""The largest number of nodes in a picture."""

Backward = Callable[[Sequence[Any], Sequence[Any]], Sequence[float]]
"""(nodes, edges) -> the gradient of every node, in the order of the nodes."""


def circuit_player(nodes: Sequence[Any], edges: Sequence[Any], *, yours: Backward | None = None) -> Live:
    """One graph, step by step, first forward and then backward; below it, the computation of this step.

    nodes, edges: from `Value.graph()` of nlmcore.autodiff, after `backward`. `yours(nodes, edges)` receives them
    with every gradient 0 and returns the gradients, one per node; its picture is drawn next to the reference.
    """

    def draw(backward: Backward | None, step: int) -> str:
        return _at_step(*((nodes, edges) if backward is None else _with_gradients(backward, nodes, edges)), step)

    return live(draw, None, yours=yours, play="step", step=_steps(nodes))


def _steps(nodes: Sequence[Any]) -> ipywidgets.IntSlider:
    return slider(0, 0, 2 * len(nodes), 1, "step", "min(620px, 95%)")


def _at_step(nodes: Sequence[Any], edges: Sequence[Any], step: int) -> str:
    n = len(nodes)
    back = max(min(step, 2 * n) - n, 0)
    return circuit_svg(nodes, edges, forward=min(step, n), backward=back, caption=True, slider="step")


def _with_gradients(backward: Backward, nodes: Sequence[Any], edges: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The graph with the gradients that `backward` returns, and the resulting messages."""
    bare = [dataclasses.replace(node, grad=0.0) for node in nodes]
    gradients = list(backward(bare, [dataclasses.replace(edge, message=0.0) for edge in edges]))
    if len(gradients) != len(nodes):
        raise ValueError(f"the function must return one gradient per node, {len(nodes)} in all; got {len(gradients)}")
    filled = [dataclasses.replace(node, grad=float(g)) for node, g in zip(nodes, gradients, strict=True)]
    return filled, [dataclasses.replace(edge, message=filled[edge.target].grad * edge.local) for edge in edges]


def circuit_playground(build: Callable[[str], Any], formulas: Mapping[str, str]) -> Live:
    """Choose or type a formula, then step through its circuit.

    build: text -> a graph with `nodes` and `edges`, including gradients; the widget shows the text of its ValueError.
    formulas: name in the menu -> the text.

    Raises ValueError if there is no formula.
    """
    if not formulas:
        raise ValueError("circuit_playground needs at least one formula")
    graph_of = lru_cache(maxsize=32)(build)
    first = next(iter(formulas.values()))
    example, formula = menu(formulas, "example"), field("formula", "", first)
    step = _steps(graph_of(first).nodes)

    def draw(example: str, formula: str, step: int) -> str:
        graph = graph_of(formula)
        if len(graph.nodes) > _MOST:
            raise ValueError(
                f"this circuit has {len(graph.nodes)} nodes; the picture has room for {_MOST}, so shorten the formula"
            )
        return _at_step(graph.nodes, graph.edges, step)

    player = live(
        draw, rows=[["example"], ["formula"], ["step"]], play="step", example=example, formula=formula, step=step
    )

    def renew(_change: object) -> None:
        try:
            step.max = 2 * len(graph_of(formula.value).nodes)
            step.value = 0
        except ValueError:
            pass  # the picture says what is wrong

    example.observe(lambda _: setattr(formula, "value", formulas[example.value]), names="value")
    formula.observe(renew, names="value")
    return player


# --- gradient descent ----------------------------------------------------------------------------

Step = Callable[[float, float, float], float]
"""(w, gradient, rate) -> the next w."""


@dataclasses.dataclass(frozen=True)
class Slope:
    """A loss with one parameter: the function, its derivative, the starting point and the range of the picture."""

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
        slope = slopes[curve]
        visited = [(float(slope.start), slope.loss(float(slope.start)))]
        for _ in range(steps):
            w = float(step(visited[-1][0], slope.gradient(visited[-1][0]), rate))
            if not abs(w) < 1e6:  # not a number, or diverging
                visited.append((math.copysign(1e6, w), math.inf))
                break
            visited.append((w, slope.loss(w)))
        w, loss = visited[-1]
        note = f"after {len(visited) - 1} steps: w = {w:.3f}, loss {loss:.4f}" if abs(w) < 1000 else "it diverges"
        return descent_svg(*curves[curve], visited, title=f"{curve}, learning rate {rate:.2f}", note=note)

    return live(
        draw,
        step,
        yours=yours,
        rows=[["curve"], ["rate", "steps"]],
        play="steps",
        curve=choice(slopes, "loss"),
        rate=slider(0.05, 0.01, 1.2, 0.01, "learning rate", "420px"),
        steps=slider(10, 0, 30, 1, "steps"),
    )


def descent_svg(
    x: ArrayLike,
    y: ArrayLike,
    visited: Sequence[tuple[Pixels, Pixels]],
    *,
    title: str = "",
    note: str = "",
    x_title: str = "w",
    y_title: str = "loss",
) -> str:
    """The curve y over x, and (w, loss) after every step, the first point hollow, the last one large.

    A point outside the picture is drawn as a triangle at its edge. Raises ValueError for a curve of fewer than two
    points or an empty list of visited points.
    """
    across, up = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if across.ndim != 1 or across.shape != up.shape or len(across) < 2 or not visited:
        raise ValueError(
            "descent_svg needs as many y as x, at least two, and at least one visited point,"
            f" got {across.shape}, {up.shape} and {len(visited)} points"
        )
    left, right, low, high = (float(v) for v in (across[0], across[-1], up.min(), up.max()))
    canvas, high = Canvas(title), high if high > low else low + 1
    axes = Axis(left, right, x_title, grid=False), Axis(low, high, y_title)
    plot = Plot(canvas, *axes, across=740, down=410, padding=10)
    plot.line(across, up)
    steps = np.clip(np.nan_to_num(np.array(visited, dtype=float)), [left, low], [right, high])
    plot.line(steps[:, 0], steps[:, 1], Look(ORANGE, wide=1.8))
    for i, (w, loss) in enumerate(visited):
        inside = left <= w <= right and low - 0.02 * (high - low) <= loss <= high
        fill = "#ffffff" if i == 0 and len(steps) > 1 else ORANGE
        kind, size = "circle" if inside else "triangle", 9.0 if i == len(steps) - 1 else 5.5
        canvas.mark(kind, *plot.at(*steps[i]), fill, size, stroke=DARK_ORANGE, wide=2)
    canvas.notes([note], 17)
    w, loss = visited[-1]
    says = (
        f"{title}. After {len(visited) - 1} steps w is {_number(w)} and the loss {_number(loss)}; the initial loss was"
    )
    return canvas.svg(f"{says} {_number(visited[0][1])}. {note}")


def _number(value: Pixels) -> str:
    value = float(value)
    if not math.isfinite(value):
        return "infinite"
    shown = f"{value:.2f}" if value == 0 or 0.01 <= abs(value) < 1000 else f"{value:.1e}"
    return shown.replace("-", "−")
