"""Widgets: a slider for a gate, a cell that you step through, and the gates of a trained network on a text and in time.

The first two take the function that they demonstrate; `yours`, a student's own, is drawn next to it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lectures.show import (
    Canvas,
    Live,
    Part,
    beside,
    cell_svg,
    choice,
    lines_svg,
    live,
    said,
    shaded_text_html,
    slider,
    tick,
)
from lectures.show.svg import BLUE, DARK_ORANGE, GREEN, GREY, INK, PALE, number, visible

__all__ = ["cell_player", "gate_playground", "memory_player", "unit_explorer"]

Mix = Callable[[Any, Any, Any], Any]
"""(h, r, g) -> the new state: a mixture of the old state h and the candidate r with gate g."""
Step = Callable[..., Mapping[str, float]]
"""(x, h) or (x, h, c) -> every value in one step by name, in the order of computation."""


def gate_playground(mix: Mix, *, steps: int = 60, seed: int = 0, yours: Mix | None = None) -> Live:
    """A slider for the gate: how much of a memory is left after t steps, and how a state follows a noisy signal."""
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
        half = "infinite" if gate >= 1 else "zero" if gate <= 0 else f"{np.log(0.5) / np.log(gate):.1f} steps"
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
        words = f"gate {gate:.2f}: the half-life is {half}; after 10 steps {left[10]:.3g} is left"
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
    """A cell of one unit as a circuit; each step of the first slider computes one more box.

    parts: the circuit, inputs first; formulas: box -> how its number is computed, `{name}` for another box's number (a
    space in a name is written `_`). c None: a cell with one state.
    """
    inputs = [part.name for part in parts if not part.reads]
    computed = [part.name for part in parts if part.reads]

    def draw(step: Step, done: int, **given: float) -> str:
        found = step(**given)
        if not isinstance(found, Mapping):
            raise ValueError(f"the step must return a dictionary of its values by name, not {type(found).__name__}")
        if missing := [name for name in computed if name not in found]:
            raise ValueError(f"the step must return every value by name: {', '.join(computed)}; missing: {missing}")
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
    return live(draw, step, yours=yours, rows=[["done"], list(states)], play="done", done=done, **states)


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
        title = f"unit {unit}, {quantity} ({'shaded = near 0' if flip else 'shaded = near 1'})"
        alt = f"Unit {unit}, {quantity}, over a text of {len(text)} characters: {extent}."
        return shaded_text_html(text, 1 - values if flip else values, alt=alt, title=title, note=extent)

    return live(
        draw,
        unit=slider(unit, 0, units - 1, 1, "unit", "480px"),
        quantity=choice(quantities, "what", value=quantity),
        flip=tick("reverse the shading", bool(flip)),
    )


_SHOWN, _AHEAD, _WIDE, _LEFT = 30, 5, 24.0, 128.0
"""Characters in the picture, how many of them are not read yet, and the width and left edge of their columns."""


def memory_player(
    text: str, gates: Mapping[str, Tensor], *, unit: int = 0, start: int = 0, length: int | None = None
) -> Live:
    """The cell state of one LSTM unit on its way through a text, and the effect of each gate at each character.

        c[t] = f ⊙ c[t−1] + i ⊙ g,   h[t] = o ⊙ tanh c[t]

    gates: "forget", "input", "candidate" and "output", each (time, unit), of a cell that began with zeros at the
    first character, as `unroll` gives them. start, length: the part of the text to play.

    Raises ValueError if a gate and the text differ in length, or there is nothing to play.
    """
    length = len(text) - start if length is None else length
    for name in ("forget", "input", "candidate", "output"):
        if gates[name].ndim != 2 or len(gates[name]) != len(text):
            raise ValueError(
                f"{name!r} must be (time, unit) with a row per character, {len(text)}, got {gates[name].shape}"
            )
    if not 0 <= start < start + length <= len(text):
        raise ValueError(f"start and length must lie within the text of {len(text)} characters, got {start}, {length}")

    @lru_cache(maxsize=64)
    def run(unit: int) -> dict[str, np.ndarray]:
        numbers = {name: gates[name][:, unit].double().numpy() for name in ("forget", "input", "candidate", "output")}
        written, c = numbers["input"] * numbers["candidate"], [0.0]
        for f, new in zip(numbers["forget"], written, strict=True):
            c.append(f * c[-1] + new)
        numbers |= {"written": written, "before": np.array(c[:-1]), "c": np.array(c[1:])}
        return numbers | {"h": numbers["output"] * np.tanh(numbers["c"])}

    def draw(t: int, unit: int) -> str:
        numbers, now = run(unit), start + t
        first = max(start, min(now + _AHEAD + 1 - _SHOWN, start + length - _SHOWN))
        part = slice(first, min(first + _SHOWN, start + length))
        reach = float(np.abs(numbers["c"][start : start + length]).max()) or 1.0
        at = {name: float(values[now]) for name, values in numbers.items()}
        told = (
            f"“{visible(text[now])}”: c[t] = f · c[t−1] + i · g = {number(at['forget'])} · ({number(at['before'])}) +"
            f" {number(at['input'])} · ({number(at['candidate'])}) = {number(at['c'])};"
            f"  h[t] = o · tanh c[t] = {number(at['output'])} · ({number(np.tanh(at['c']))}) = {number(at['h'])}"
        )
        alt = f"Unit {unit} at character {t + 1} of {length}. {told}. The forget gate is {_openness(at['forget'])}"
        alt += f", the input gate {_openness(at['input'])}, the output gate {_openness(at['output'])}."
        window = {name: values[part] for name, values in numbers.items()}
        return memory_svg(text[part], window, now - first, reach=reach, title=f"unit {unit}", alt=alt) + said(told)

    return live(
        draw,
        rows=[["t", "unit"]],
        play="t",
        t=slider(0, 0, length - 1, 1, "character t", "420px"),
        unit=slider(unit, 0, gates["forget"].shape[1] - 1, 1, "unit", "340px"),
    )


def _openness(gate: float) -> str:
    return "open" if gate > 0.9 else "closed" if gate < 0.1 else "half open"


def memory_svg(
    text: str, numbers: Mapping[str, np.ndarray], now: int, *, alt: str, reach: float = 1.0, title: str = ""
) -> str:
    """A window of a text, the cell state as a path through it, gates as bars above and below.

    The path is as wide as |c|, blue where c is negative, orange where it is positive; a barrier closes it as far as the
    forget gate is closed. New values enter from below. Characters after `now` are not read yet.
    """
    canvas = Canvas(title, size=16)
    top, road, half = canvas.top + 34, canvas.top + 122, 34.0
    rows = (("f, forget", top + 8), ("i · g, written", road + 62), ("o, output", road + 132))
    right = _LEFT + _WIDE * len(text)
    for name, y in rows:
        canvas.text(_LEFT - 10, y + 22, name, 15, "end")
    canvas.text(_LEFT - 10, road + 6, "c, cell state", 16, "end", bold=True)
    canvas.text(_LEFT - 10, road + 190, "h, shown", 15, "end")
    for edge in (road - half - 3, road + half + 3):
        canvas.line((_LEFT - 4, edge), (right, edge), GREY, 2)
    most = max(float(np.abs(numbers["written"]).max()), 1e-9)
    for j, character in enumerate(text):
        x = _LEFT + _WIDE * j
        read = j <= now
        canvas.text(x + _WIDE / 2, top - 8, visible(character), 17, "middle", mono=True, fill=INK if read else GREY)
        if not read:
            continue
        c, f, new, o, h = (float(numbers[name][j]) for name in ("c", "forget", "written", "output", "h"))
        wide = half * min(1.0, abs(c) / reach)
        canvas.rect(x, road - wide, _WIDE, 2 * wide, BLUE if c < 0 else DARK_ORANGE)
        shut = (1 - f) * (half + 3)
        for y in (road - half - 3, road + half + 3 - shut):
            canvas.rect(x - 2, y, 5, shut, INK)
        canvas.rect(x + 3, top + 8 + 30 * (1 - f), _WIDE - 6, 30 * f, BLUE)
        long = 30 * abs(new) / most
        canvas.rect(x + 3, road + 62 + 30 - long, _WIDE - 6, long, DARK_ORANGE if new > 0 else BLUE)
        if long > 6:
            canvas.text(x + _WIDE / 2, road + 110, "+" if new > 0 else "−", 15, "middle")
        canvas.rect(x + 3, road + 132 + 30 * (1 - o), _WIDE - 6, 30 * o, GREEN)
        high = 14 * min(1.0, abs(h))
        canvas.rect(x + 3, road + 185 - high, _WIDE - 6, 2 * high, BLUE if h < 0 else DARK_ORANGE)
    for _, y in rows:
        canvas.line((_LEFT - 4, y + 30), (right, y + 30), PALE)
    canvas.line((_LEFT - 4, road + 185), (right, road + 185), PALE)
    x = _LEFT + _WIDE * now
    canvas.rect(x - 1, top - 26, _WIDE + 2, road + 206 - top + 26, stroke=INK, wide=2.5, radius=4)
    canvas.line((x + _WIDE / 2, road + 58), (x + _WIDE / 2, road + half + 6), INK, 2, arrow=True)
    canvas.notes(["blue: negative, orange: positive; barriers close the path as far as f is closed"], 15)
    return canvas.svg(alt, width=right + 20)
