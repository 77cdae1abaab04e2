"""Lecture 7: a gate under a slider, a cell stepped by hand, and the gates of a trained network on a text.

The first two take the function that they demonstrate; `yours`, a student's own, is drawn next to it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lectures.show import Live, Part, beside, cell_svg, choice, lines_svg, live, said, shaded_text_html, slider, tick
from lectures.show.svg import number

__all__ = ["cell_player", "gate_playground", "unit_explorer"]

Mix = Callable[[Any, Any, Any], Any]
"""(h, r, g) -> the new state: what is kept of h and written of r when the gate is g."""
Step = Callable[..., Mapping[str, float]]
"""(x, h) or (x, h, c) -> every number of one step by name, in the order in which they are computed."""


def gate_playground(mix: Mix, *, steps: int = 60, seed: int = 0, yours: Mix | None = None) -> Live:
    """A slider for the gate: what is left of a memory after t steps, and how a state follows a noisy signal."""
    times = np.arange(steps + 1)
    signal = torch.where((torch.arange(steps + 1) // 15) % 2 == 0, 0.0, 1.0)
    noisy = signal + 0.3 * torch.randn(steps + 1, generator=torch.Generator().manual_seed(seed))

    def run(mix: Mix, start: float, written: Tensor, gate: float) -> list[float]:
        h, states = torch.tensor(start), [start]
        for r in written[1:]:
            h = torch.as_tensor(mix(h, r, torch.tensor(gate)))
            states.append(float(h))
        return states

    def draw(mix: Mix, gate: float) -> str:
        left = run(mix, 1.0, torch.zeros(steps + 1), gate)
        follows = run(mix, 0.0, noisy, gate)
        half = "never" if gate >= 1 else "at once" if gate <= 0 else f"{np.log(0.5) / np.log(gate):.1f} steps"
        forgets = lines_svg(
            times,
            {"left of h[0] = 1": left},
            title="nothing new is written",
            x_title="t, steps",
            y_title="h[t]",
            low=0,
            high=1.2,
            width=445,
            level=0.5,
            alt=f"Gate {gate:.2f}: {left[10]:.3f} of a memory is left after 10 steps, {left[-1]:.3f} after {steps}.",
        )
        error = float(np.sqrt(np.mean((np.array(follows) - signal.numpy()) ** 2)))
        tracks = lines_svg(
            times,
            {"R[t], noisy": noisy, "h[t]": follows},
            title="R[t] is written at every step",
            x_title="t, steps",
            y_title="value",
            low=-1,
            high=2,
            width=445,
            alt=f"With a gate of {gate:.2f} the state follows a noisy square wave with an error of {error:.2f}.",
        )
        words = f"gate {gate:.2f}: half of a memory is gone: {half}; after 10 steps {left[10]:.3g} is left"
        return beside(forgets, tracks) + said(words)

    return live(draw, mix, yours=yours, gate=slider(0.9, 0.0, 1.0, 0.01, "gate g", "480px"))


def cell_player(
    step: Step,
    parts: Sequence[Part],
    formulas: Mapping[str, str],
    *,
    title: str,
    x: float = 1.0,
    h: float = 0.5,
    c: float | None = None,
    yours: Step | None = None,
) -> Live:
    """A cell of one unit as a circuit that fills with numbers, one box per step of the first slider.

    parts: the circuit, inputs first; formulas: box -> how its number is computed, `{name}` for another box's number (a
    space in a name is written `_`). c None: a cell with one state.
    """
    inputs = [part.name for part in parts if not part.reads]
    computed = [part.name for part in parts if part.reads]

    def draw(step: Step, done: int, **given: float) -> str:
        found = step(**given)
        if not isinstance(found, Mapping):
            raise ValueError(f"the step must return a dictionary of its numbers by name, not {type(found).__name__}")
        if missing := [name for name in computed if name not in found]:
            raise ValueError(f"the step must give every number by name: {', '.join(computed)}; missing: {missing}")
        values = {name: given[name] for name in inputs} | {name: float(found[name]) for name in computed[:done]}
        written = {name.replace(" ", "_"): number(value, 3) for name, value in values.items()}
        line = "only the inputs are known"
        if done:
            last = computed[done - 1]
            line = f"{formulas[last].format(**written)} = {written[last.replace(' ', '_')]}"
        spoken = ", ".join(f"{name} {value:.3f}" for name, value in values.items())
        return cell_svg(parts, values, title=title, alt=f"Circuit of the {title}: {spoken}.") + said(line)

    states = {"x": slider(x, -2.0, 2.0, 0.1, "x[t]", "230px"), "h": slider(h, -1.0, 1.0, 0.1, "h[t−1]", "230px")}
    if c is not None:
        states["c"] = slider(c, -2.0, 2.0, 0.1, "c[t−1]", "230px")
    done = slider(0, 0, len(computed), 1, "boxes computed", "420px")
    return live(draw, step, yours=yours, rows=[["done"], list(states)], done=done, **states)


def unit_explorer(
    text: str, quantities: Mapping[str, Tensor], *, unit: int = 0, quantity: str | None = None, flip: bool = False
) -> Live:
    """One unit of a trained network over a text, character by character.

    quantities: name -> numbers in [0, 1] (time, unit), one row per character. `flip` begins with 1 − value.

    Raises ValueError if a quantity and the text differ in length.
    """
    for name, values in quantities.items():
        if values.ndim != 2 or len(values) != len(text):
            raise ValueError(f"{name!r} must be (time, unit) with a row per character, {len(text)}, got {values.shape}")
    units = next(iter(quantities.values())).shape[1]

    def draw(unit: int, quantity: str, flip: bool) -> str:
        values = quantities[quantity][:, unit].numpy()
        extent = f"from {values.min():.2f} to {values.max():.2f}, mean {values.mean():.2f}"
        title = f"unit {unit}, {quantity} ({'dark = near 0' if flip else 'dark = near 1'})"
        alt = f"Unit {unit}, {quantity}, over a text of {len(text)} characters: {extent}."
        return shaded_text_html(text, 1 - values if flip else values, alt=alt, title=title, note=extent)

    return live(
        draw,
        unit=slider(unit, 0, units - 1, 1, "unit", "480px"),
        quantity=choice(quantities, "what", value=quantity),
        flip=tick("swap light and dark", bool(flip)),
    )
