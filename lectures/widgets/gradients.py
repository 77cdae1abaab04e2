"""Time as depth under a slider: powers of one matrix, products of Jacobians, gradients of real cells against distance.

Each is handed the function that it demonstrates; `yours`, the student's own, is drawn beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import ipywidgets
import numpy as np
import torch
from torch import Tensor

from lectures.show import beside, eigenvalues_svg, lines_svg, said
from lectures.show.live import Live, live, slider, swapped

PowerNorms = Callable[[Tensor, int], Any]
"""(W, steps) -> ‖W^t‖ for t = 0 … steps."""
Jacobians = Callable[[Tensor, Tensor], Tensor]
"""(U, inputs (time, n)) -> ∂h_t/∂h_{t-1} at every time, (time, n, n)."""
Norms = Callable[[Callable, Tensor], Any]
"""(cell, inputs (batch, time, features)) -> ‖∂L/∂h_t‖ for every time."""


def matrix_powers(
    power_norms: PowerNorms, matrices: Mapping[str, Tensor], *, steps: int = 60, yours: PowerNorms | None = None
) -> Live:
    """A slider for the spectral radius; eigenvalues beside the norm of W^t, which grows, dies, or does both in turn.

    matrices: name -> a square matrix of spectral radius 1, which the slider multiplies.
    """
    times = np.arange(steps + 1)

    def draw(power_norms: PowerNorms, radius: float, matrix: str) -> str:
        W = matrices[matrix].double() * radius
        largest = float(torch.linalg.matrix_norm(W, ord=2))
        logs = _log10(power_norms(W, steps))
        plane = eigenvalues_svg(
            {"eigenvalues of W": torch.linalg.eigvals(W).numpy()},
            title=matrix,
            size=320,
            alt=f"Eigenvalues of W, {matrix}: the largest has |λ| = {radius:.2f}.",
        )
        peak = int(np.nanargmax(logs))
        lines = lines_svg(
            times,
            {
                "‖Wᵗ‖": logs,
                "|λ|ᵗ, largest |λ|": times * np.log10(radius),
                "σᵗ, largest σ = ‖W‖": times * np.log10(largest),
            },
            x_title="t, how often W is multiplied",
            y_title="norm",
            low=-9,
            high=9,
            powers=True,
            level=0,
            width=540,
            alt=f"Norm of Wᵗ: {10 ** logs[1]:.3g} at t = 1, {10 ** logs[-1]:.3g} at {steps}, largest at {peak}.",
        )
        return beside(plane, lines) + said(
            f"largest |λ| = {radius:.2f}, largest singular value σ = {largest:.2f};"
            f" ‖W{_raised(steps)}‖ = {10 ** logs[-1]:.2g}, its largest value {10 ** logs[peak]:.2g} at t = {peak}"
        )

    return live(
        partial(draw, power_norms),
        yours=swapped(draw, yours),
        radius=slider(0.9, 0.5, 1.5, 0.05, "largest |λ|", "380px"),
        matrix=ipywidgets.Dropdown(options=list(matrices), description="W", layout=ipywidgets.Layout(width="380px")),
    )


def jacobian_playground(jacobians: Jacobians, U: Tensor, inputs: Tensor, *, yours: Jacobians | None = None) -> Live:
    """A tanh network's Jacobians multiplied back from the last step: sliders for U's radius, the inputs, the distance.

    U (n, n) of spectral radius 1; inputs (time, n): what is added inside the tanh at every time.
    """
    U, inputs, T = U.double(), inputs.double(), len(inputs)
    own = torch.linalg.eigvals(U).numpy()

    def products(jacobians: Jacobians, radius: float, size: float) -> tuple[Tensor, np.ndarray, np.ndarray]:
        each = jacobians(radius * U, size * inputs)
        chain, so_far = [], torch.eye(len(U), dtype=torch.float64)
        for J in each.flip(0):
            so_far = so_far @ J
            chain.append(so_far)
        bound = np.cumsum(_log10(torch.linalg.matrix_norm(each, ord=2).flip(0)))
        return torch.stack(chain), _log10(torch.linalg.matrix_norm(torch.stack(chain), ord=2)), bound

    cached = lru_cache(maxsize=256)(products)

    def draw(jacobians: Jacobians, radius: float, size: float, distance: int) -> str:
        chain, logs, bound = cached(jacobians, radius, size)
        values = torch.linalg.eigvals(chain[distance - 1]).numpy()
        per_step = np.abs(values) ** (1 / distance) * np.exp(1j * np.angle(values))
        plane = eigenvalues_svg(
            {"eigenvalues of U": radius * own, f"of the product of {distance}, |λ| per step": per_step},
            title="eigenvalues",
            size=320,
            reach=2.2,
            alt=f"Eigenvalues of U, radius {radius:.2f}, and of the product of {distance} Jacobians: the largest has"
            f" |λ| = {np.abs(per_step).max():.2f} per step.",
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
            width=540,
            alt=f"Norm of the product of Jacobians: {10 ** logs[0]:.3g} at distance 1, {10 ** logs[-1]:.3g} at {T}.",
        )
        return beside(plane, lines) + said(
            f"after {distance} steps: ‖∂h_T/∂h_{{T−{distance}}}‖ = {10 ** logs[distance - 1]:.2g};"
            f" largest |λ| per step {np.abs(per_step).max():.2f}, of U {radius:.2f}"
        )

    return live(
        partial(draw, jacobians),
        yours=swapped(draw, yours),
        radius=slider(1.5, 0.5, 2.0, 0.1, "largest |λ| of U"),
        size=slider(0.2, 0.0, 3.0, 0.1, "size of the inputs"),
        distance=slider(10, 1, T, 1, "distance d"),
    )


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
    """Gradient norm against distance for a cell under every initialisation: gain, cell and length are chosen.

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
        ends = "; ".join(f"{name}: {_spoken(values[-1])}" for name, values in lines.items())
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
            width=820,
            height=430,
            columns=3,
            alt=f"Gradient norm against distance, {cell}, weights times {gain:g}. At distance {length - 1}, {ends}.",
        ) + said(f"at distance {length - 1}: {ends}")

    wide = ipywidgets.Layout(width="360px")
    return live(
        partial(draw, norms),
        yours=swapped(draw, yours),
        rows=[["cell"], ["gain", "length"]],
        cell=ipywidgets.ToggleButtons(options=list(cells), description="cell", style={"button_width": "auto"}),
        gain=ipywidgets.SelectionSlider(options=list(gains), value=1.0, description="gain", layout=wide),
        length=slider(inputs.shape[1], 11, inputs.shape[1], 10, "length of the text"),
    )


def _log10(values: Any) -> np.ndarray:
    """log₁₀, with 0 and what is not a number drawn nowhere."""
    numbers = np.asarray([float(v) for v in values], dtype=float)
    return np.log10(np.where(np.isfinite(numbers) & (numbers > 0), numbers, np.nan))


def _spoken(log: float) -> str:
    return "no gradient" if np.isnan(log) else f"{10**log:.1e}"


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
