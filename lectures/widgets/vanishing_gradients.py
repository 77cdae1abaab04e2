"""Widgets: powers of one matrix, products of Jacobians, gradients of real cells against distance, clipping.

Each widget takes the function that it demonstrates; `yours`, a student's own, is drawn next to it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lectures.show import (
    Axis,
    Canvas,
    Live,
    Look,
    Plot,
    beside,
    choice,
    lines_svg,
    live,
    looks,
    menu,
    said,
    slider,
    stops,
)
from lectures.show.svg import COLOURS, FAINT, INK, Pixels, png_address

__all__ = ["cliff_playground", "clipping_playground", "gradient_playground", "jacobian_playground", "matrix_powers"]

# --- powers and products -------------------------------------------------------------------------

PowerNorms = Callable[[Tensor, int], Any]
"""(U, steps) -> ‖U^t‖ for t = 0 … steps."""
Jacobians = Callable[[Tensor, Tensor], Tensor]
"""(U, inputs (time, n)) -> ∂h_t/∂h_{t-1} at every time, (time, n, n)."""
Norms = Callable[[Callable, Tensor], Any]
"""(cell, inputs (batch, time, features)) -> ‖∂L/∂h_t‖ for every time."""


def _log10(values: Any) -> np.ndarray:
    """log₁₀; zeros and NaN are not drawn."""
    numbers = np.asarray([float(v) for v in values], dtype=float)
    return np.log10(np.where(np.isfinite(numbers) & (numbers > 0), numbers, np.nan))


def matrix_powers(
    power_norms: PowerNorms, matrices: Mapping[str, Tensor], *, steps: int = 60, yours: PowerNorms | None = None
) -> Live:
    """A slider for the spectral radius; eigenvalues, and the norm of U^t, which grows, dies, or first grows and then dies.

    matrices: name -> a square matrix of spectral radius 1, which the slider multiplies.
    """
    times = np.arange(steps + 1)
    raised = str(steps).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))

    def draw(power_norms: PowerNorms, radius: float, matrix: str) -> str:
        W = matrices[matrix].double() * radius
        largest = float(torch.linalg.matrix_norm(W, ord=2))
        logs = _log10(power_norms(W, steps))
        peak = int(np.nanargmax(logs))
        plane = eigenvalues_svg(
            {"eigenvalues of U": torch.linalg.eigvals(W).numpy()},
            title=matrix,
            size=290,
            alt=f"Eigenvalues of U, {matrix}: the largest has |λ| = {radius:.2f}.",
        )
        lines = lines_svg(
            times,
            {
                "‖Uᵗ‖": logs,
                "|λ|ᵗ, largest |λ|": times * np.log10(radius),
                "sᵗ, largest singular value s = ‖U‖": times * np.log10(largest),
            },
            x_title="t, the power of U",
            y_title="norm",
            low=-9,
            high=9,
            powers=True,
            level=0,
            width=540,
            height=335,
            alt=f"Norm of Uᵗ: {10 ** logs[1]:.3g} at t = 1, {10 ** logs[-1]:.3g} at {steps}, largest at {peak}.",
        )
        return beside(plane, lines) + said(
            f"largest |λ| = {radius:.2f}, largest singular value s = {largest:.2f};"
            f" ‖U{raised}‖ = {10 ** logs[-1]:.2g}, its largest value {10 ** logs[peak]:.2g} at t = {peak}"
        )

    return live(
        draw,
        power_norms,
        yours=yours,
        radius=slider(0.9, 0.5, 1.5, 0.05, "largest |λ|", "380px"),
        matrix=menu(matrices, "U", "380px"),
    )


def jacobian_playground(jacobians: Jacobians, U: Tensor, inputs: Tensor, *, yours: Jacobians | None = None) -> Live:
    """A tanh network's Jacobians multiplied back from the last step: sliders for U's radius, the inputs, the distance.

    U (n, n) of spectral radius 1; inputs (time, n): what is added inside the tanh at every time.
    """
    U, inputs, T = U.double(), inputs.double(), len(inputs)
    own = torch.linalg.eigvals(U).numpy()

    @lru_cache(maxsize=256)
    def products(jacobians: Jacobians, radius: float, size: float) -> tuple[Tensor, np.ndarray, np.ndarray]:
        each = jacobians(radius * U, size * inputs)
        chain = [torch.eye(len(U), dtype=torch.float64)]
        for J in each.flip(0):
            chain.append(chain[-1] @ J)
        found = torch.stack(chain[1:])
        bound = np.cumsum(_log10(torch.linalg.matrix_norm(each, ord=2).flip(0)))
        return found, _log10(torch.linalg.matrix_norm(found, ord=2)), bound

    def draw(jacobians: Jacobians, radius: float, size: float, distance: int) -> str:
        chain, logs, bound = products(jacobians, radius, size)
        values = torch.linalg.eigvals(chain[distance - 1]).numpy()
        per_step = np.abs(values) ** (1 / distance) * np.exp(1j * np.angle(values))
        largest = f"{np.abs(per_step).max():.2f}"
        plane = eigenvalues_svg(
            {"eigenvalues of U": radius * own, f"product of {distance} J, |λ| per step": per_step},
            title="eigenvalues",
            size=250,
            reach=2.2,
            alt=f"Eigenvalues of U, radius {radius:.2f}, and of the product of {distance} Jacobians: the largest has"
            f" |λ| = {largest} per step.",
        )
        far = np.arange(1, T + 1)
        lines = lines_svg(
            far,
            {
                "‖product of Jacobians‖": logs,
                "product of the norms": bound,
                "without tanh: radiusᵈ": far * np.log10(radius),
            },
            x_title="distance d, steps back",
            y_title="norm",
            low=-12,
            high=12,
            powers=True,
            level=0,
            columns=1,
            width=460,
            height=320,
            alt=f"Norm of the product of Jacobians: {10 ** logs[0]:.3g} at distance 1, {10 ** logs[-1]:.3g} at {T}.",
        )
        return beside(plane, lines) + said(
            f"after {distance} steps: ‖∂h_T/∂h_{{T−{distance}}}‖ = {10 ** logs[distance - 1]:.2g};"
            f" largest |λ| per step {largest}, of U {radius:.2f}"
        )

    return live(
        draw,
        jacobians,
        yours=yours,
        radius=slider(1.5, 0.5, 2.0, 0.1, "largest |λ| of U"),
        size=slider(0.2, 0.0, 3.0, 0.1, "size of the inputs"),
        distance=slider(10, 1, T, 1, "distance d"),
    )


def _plane(canvas: Canvas, reach: float | int, size: Pixels, keys: int, names: tuple[str, str]) -> Plot:
    """A square around 0 with its two axes, and space above it for `keys` lines of a legend."""
    axis = Axis(-reach, reach, ticks={})
    plot = Plot(canvas, axis, axis, left=10, top=canvas.top + 24 * keys, across=size, down=size, inner=True)
    canvas.line(plot.at(-reach, 0), plot.at(reach, 0), "#ddd")
    canvas.line(plot.at(0, -reach), plot.at(0, reach), "#ddd")
    canvas.text(plot.right - 4, plot.down(0) - 6, names[0], 15, "end")
    canvas.text(plot.across(0) + 6, plot.top + 18, names[1], 15)
    return plot


def eigenvalues_svg(
    values: Mapping[str, ArrayLike], *, alt: str, reach: float | int = 1.6, title: str = "", size: Pixels = 380
) -> str:
    """Complex numbers as rings (the first set) and dots (the next ones), with the unit circle: inside it powers die out,
    outside they grow. The plane ends at ±reach; what lies further out is drawn on the edge.

    Raises ValueError if alt is empty, or reach is not above 1, so that the circle fits in.
    """
    if not reach > 1:
        raise ValueError(f"reach must be above 1, so that the picture contains the unit circle, got {reach}")
    canvas = Canvas(title, size=16)
    plot = _plane(canvas, reach, float(size) - 20, len(values), ("real", "imaginary"))
    unit = plot.across(1) - plot.across(0)
    canvas.circle(*plot.at(0, 0), unit, "#0072B2", fill_opacity=0.06, stroke=INK, wide=2)
    canvas.text(plot.across(0.72), plot.down(0.72), "|λ| = 1", 15)
    for k, (name, numbers) in enumerate(values.items()):
        colour = COLOURS[k % 7]
        look: Any = {"fill": colour, "opacity": 0.8} if k else {"stroke": colour, "wide": 2.5}
        canvas.text(34, canvas.top + 24 * k + 13, name, 15)
        canvas.circle(20, canvas.top + 24 * k + 8, 4.5 if k else 6.5, **look)
        for value in np.asarray(numbers, dtype=complex):
            place = plot.at(*np.clip([value.real, value.imag], -0.98 * reach, 0.98 * reach))
            canvas.circle(*place, 4.5 if k else 6.5, **look)
    return canvas.svg(alt)


# --- gradients of cells --------------------------------------------------------------------------


def gradient_playground(
    norms: Norms,
    build: Callable[[str, str, float], Callable],
    cells: Mapping[str, str],
    initialisations: Sequence[str],
    inputs: Tensor,
    *,
    gains: Sequence[float] = (0.5, 1.0, 1.5, 2.0, 3.0),
    yours: Norms | None = None,
) -> Live:
    """Gradient norm against distance for a cell under every initialisation; you choose gain, cell and length.

    build(cell, initialisation, gain) makes a cell; cells: title -> its name for `build`. A gradient that reaches back d
    steps is the same whatever came before, so the length only says how much of the line is shown. All lines of the
    reference are computed here, once.
    """

    @lru_cache(maxsize=512)
    def line(norms: Norms, cell: str, initialisation: str, gain: float) -> np.ndarray:
        logs = _log10(norms(build(cells[cell], initialisation, gain), inputs))[::-1]
        return logs - logs[0]

    for cell in cells:
        for initialisation in initialisations:
            for gain in gains:
                line(norms, cell, initialisation, gain)

    def draw(norms: Norms, gain: float, length: int, cell: str) -> str:
        lines = {name: line(norms, cell, name, gain)[:length] for name in initialisations}
        shown = {name: "no gradient" if np.isnan(logs[-1]) else f"{10 ** logs[-1]:.1e}" for name, logs in lines.items()}
        ends = "; ".join(f"{name}: {size}" for name, size in shown.items())
        return lines_svg(
            np.arange(length),
            lines,
            title=f"{cell}, recurrent weights times {gain:g}",
            x_title="distance d from the loss, in steps",
            y_title="gradient norm, d = 0 is 1",
            low=-24,
            high=8,
            powers=True,
            level=0,
            width=780,
            height=400,
            columns=3,
            alt=f"Gradient norm against distance, {cell}, weights times {gain:g}. At distance {length - 1}, {ends}.",
        ) + said(f"at distance {length - 1}: {ends}")

    return live(
        draw,
        norms,
        yours=yours,
        rows=[["cell"], ["gain", "length"]],
        cell=choice(cells, "cell"),
        gain=stops(gains, 1.0, "gain", "360px"),
        length=slider(inputs.shape[1], 11, inputs.shape[1], 10, "length of the text"),
    )


# --- clipping ------------------------------------------------------------------------------------

Clip = Callable[[list[Tensor], float], Any]
"""(gradients, n_max) -> the gradients after clipping, as many tensors of the same shapes."""
LossAndGradient = Callable[[Any, Any], tuple[Any, Any, Any]]
"""(w, b) -> (loss, ∂loss/∂w, ∂loss/∂b), also for arrays of them."""
Range = tuple[float | int, float | int]


def _checked(clip: Clip, gradient: Tensor, n_max: float) -> Tensor:
    """The gradients of two scalar parameters after a rule has clipped them."""
    clipped = clip([gradient[:1].clone(), gradient[1:].clone()], n_max)
    if not isinstance(clipped, list | tuple) or len(clipped) != 2:
        raise ValueError("a clipping function must return as many gradients as it receives, here a list of two tensors")
    parts = [torch.as_tensor(part, dtype=torch.float64) for part in clipped]
    if any(part.numel() != 1 for part in parts):
        shapes = ", ".join(str(tuple(part.shape)) for part in parts)
        raise ValueError(f"a clipped gradient must keep its shape, here (1,) each, got shapes {shapes}")
    return torch.cat([part.reshape(1) for part in parts])


def clipping_playground(clip: Clip, others: Mapping[str, Clip], *, yours: Clip | None = None) -> Live:
    """A gradient of two parameters, with sliders for direction and length, and the result of each clipping rule."""

    def draw(clip: Clip, n_max: float, length: float, angle: int) -> str:
        radians = math.radians(angle)
        g = torch.tensor([math.cos(radians), math.sin(radians)], dtype=torch.float64) * length
        clipped = {name: _checked(rule, g, n_max).numpy() for name, rule in {"by its norm": clip, **others}.items()}
        spoken = "; ".join(f"{name}: ({v[0]:.2f}, {v[1]:.2f})" for name, v in clipped.items())
        alt = f"Gradient ({g[0]:.2f}, {g[1]:.2f}), n_max {n_max:g}. Clipped {spoken}."
        return clipped_svg(g.numpy(), clipped, n_max, alt=alt)

    return live(
        draw,
        clip,
        yours=yours,
        n_max=slider(1.0, 0.2, 3.0, 0.1, "n_max"),
        length=slider(3.0, 0.0, 4.0, 0.1, "length of the gradient"),
        angle=slider(20, 0, 355, 5, "direction (°)"),
    )


def clipped_svg(
    gradient: ArrayLike, clipped: Mapping[str, ArrayLike], n_max: float | int, *, alt: str, reach: float | int = 4.0
) -> str:
    """A gradient with two entries as an arrow, and its clipped versions; a circle and a square of size n_max.

    Raises ValueError for a vector that is not (2,), or if alt is empty.
    """
    canvas = Canvas("a gradient with two entries (g₁, g₂)", size=16)
    plot = _plane(canvas, reach, 290, 1 + len(clipped), ("g₁", "g₂"))
    (cx, cy), side = plot.at(0, 0), plot.across(n_max) - plot.across(0)
    canvas.circle(cx, cy, side, stroke=INK, wide=1.5)
    canvas.rect(cx - side, cy - side, 2 * side, 2 * side, stroke=INK, wide=1.5, dashes="5 4")
    for k, (name, vector) in enumerate({"gradient": gradient, **clipped}.items()):
        v = np.asarray(vector, dtype=float)
        if v.shape != (2,):
            raise ValueError(f"{name} must have two entries, got shape {v.shape}")
        tip, colour, wide = plot.at(*np.clip(v, -reach, reach)), (FAINT, *COLOURS)[k], 7 - 1.5 * k
        canvas.line((cx, cy), tip, colour, wide, stroke_linecap="round")
        canvas.mark("circle", *tip, colour)
        y = canvas.top + 24 * k + 8
        canvas.line((10, y), (44, y), colour, wide)
        length, angle = float(np.hypot(*v)), float(np.degrees(np.arctan2(v[1], v[0]))) % 360
        canvas.text(52, y + 5, f"{name}: length {length:.2f}, direction {angle:.0f}°", 15)
    return canvas.svg(alt)


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
    """Gradient descent on the loss of two weights, step by step, from the same start with each clipping rule."""
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
        spoken = [
            f"{name}: loss {values[k, step]:.4f} at w = {paths[k, step, 0]:.2f}, b = {paths[k, step, 1]:.2f}"
            for k, name in enumerate(rules)
        ]
        picture = cliff_svg(
            surface,
            w_range,
            b_range,
            {name: paths[k, : step + 1] for k, name in enumerate(rules)},
            title=f"{step} steps, n_max {n_max:g}, learning rate {rate:g}; shaded means a large loss",
            alt=f"Loss of a network of one unit over w and b, with a sharp edge. After {step} steps {'; '.join(spoken)}.",
        )
        return beside(picture, "".join(map(said, spoken)))

    return live(
        draw,
        clip,
        yours=yours,
        step=slider(0, 0, steps, 1, "steps of descent"),
        n_max=slider(0.3, 0.1, 3.0, 0.1, "n_max"),
        rate=slider(1.0, 0.1, 1.5, 0.1, "learning rate"),
    )


def grey_png(image: ArrayLike) -> str:
    """Values in [0, 1] (row, column), 0 white and 1 dark grey, as a data address that an <image> shows."""
    values = np.asarray(image, dtype=float)
    return png_address((255 - 190 * np.clip(values, 0, 1)).round().astype(np.uint8))


def cliff_svg(
    surface: str,
    x_range: Range,
    y_range: Range,
    paths: Mapping[str, ArrayLike],
    *,
    alt: str,
    x_title: str = "w",
    y_title: str = "b",
    title: str = "",
) -> str:
    """`surface` is a data address of `grey_png`, its first row at the top (the largest y); paths: name -> (step, 2).

    A path that leaves the frame is cut off there. Raises ValueError for a path of another shape, or if alt is empty.
    """
    canvas, keys = Canvas(title, size=16), looks(paths)
    axes = [Axis(*of, name, grid=False) for of, name in ((x_range, x_title), (y_range, y_title))]
    plot = Plot(canvas, *axes, across=640, down=420, keys=keys, columns=2)
    canvas.picture(surface, plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top)
    for name, path in paths.items():
        points = np.asarray(path, dtype=float)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points):
            raise ValueError(f"path {name!r} must be (step, 2), got shape {points.shape}")
        plot.line(points[:, 0], points[:, 1], keys[name])
        if plot.contains(*points[-1]):
            plot.marks(points[-1:, 0], points[-1:, 1], Look(keys[name].colour), 7)
    return canvas.svg(alt)
