"""Recurrent networks as boxes and arrows: one cell as a circuit of gates, and a network unrolled over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lectures.show.svg import AMBER, BLUE, DARK_ORANGE, INK, ORANGE, Canvas, label_width, number, subscript

__all__ = ["CIRCUITS", "Part", "cell_svg", "unrolled_svg"]


# --- a cell --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One box: its words, its place, and what it reads."""

    name: str
    column: float | int
    row: float | int
    label: str
    """What is computed, as on the board."""
    reads: tuple[str, ...] = ()
    kind: str = "product"
    """"state", "gate" (a number between 0 and 1), "tanh" (what could be written) or "product"."""


CIRCUITS: dict[str, Sequence[Part]] = {
    "UGRNN": (
        Part("h", 0, 0, "h[t−1]", kind="state"),
        Part("x", 0, 2, "x[t]", kind="state"),
        Part("G", 1, 1, "G = σ(…)", ("x", "h"), "gate"),
        Part("R", 1, 2, "R = tanh(…)", ("x", "h"), "tanh"),
        Part("kept", 2, 0, "G ⊙ h[t−1]", ("h", "G")),
        Part("written", 2, 2, "(1 − G) ⊙ R", ("R", "G")),
        Part("new", 3, 0, "h[t] = sum", ("kept", "written"), "state"),
    ),
    "GRU": (
        Part("h", 0, 0, "h[t−1]", kind="state"),
        Part("x", 0, 3, "x[t]", kind="state"),
        Part("z", 1, 1.35, "z = σ(…)", ("x", "h"), "gate"),
        Part("r", 1, 2.35, "r = σ(…)", ("x", "h"), "gate"),
        Part("reset", 2, 1.15, "r ⊙ (U h + d)", ("r", "h")),
        Part("n", 2, 3, "n = tanh(…)", ("x", "reset"), "tanh"),
        Part("kept", 2, 0, "z ⊙ h[t−1]", ("h", "z")),
        Part("written", 3, 2.2, "(1 − z) ⊙ n", ("n", "z")),
        Part("new", 3, 0, "h[t] = sum", ("kept", "written"), "state"),
    ),
    "LSTM": (
        Part("c", 0, 0, "c[t−1]", kind="state"),
        Part("h", 0, 2, "h[t−1]", kind="state"),
        Part("x", 0, 4, "x[t]", kind="state"),
        Part("f", 1, 1, "f = σ(…)", ("x", "h"), "gate"),
        Part("i", 1, 2, "i = σ(…)", ("x", "h"), "gate"),
        Part("g", 1, 3, "g = tanh(…)", ("x", "h"), "tanh"),
        Part("o", 1, 4, "o = σ(…)", ("x", "h"), "gate"),
        Part("kept", 2, 0, "f ⊙ c[t−1]", ("c", "f")),
        Part("written", 2, 2.5, "i ⊙ g", ("i", "g")),
        Part("new c", 3, 0, "c[t] = sum", ("kept", "written"), "state"),
        Part("new h", 3, 4, "h[t] = o ⊙ tanh c[t]", ("o", "new c"), "state"),
    ),
}
"""The circuits of the lecture on gates, by the cell's name."""

_COLUMN, _ROW, _WIDE, _HIGH = 206.0, 88.0, 164.0, 58.0
_FILL = {"state": "#ffffff", "gate": "#dbe9f6", "tanh": "#fde3cf", "product": "#f1f1f1"}


def cell_svg(parts: Sequence[Part], values: Mapping[str, float | int], *, alt: str, title: str = "") -> str:
    """A recurrent cell: what goes in at the left, gates in the middle, the new state at the right.

    A box whose name is in `values` shows its number; the one computed last has a thick frame. So one step of a slider
    is one line on the board.

    Raises ValueError if a part reads another that is not there, or alt is empty.
    """
    places = {part.name: part for part in parts}
    if missing := [(part.name, name) for part in parts for name in part.reads if name not in places]:
        raise ValueError(
            f"{missing[0][0]!r} reads {missing[0][1]!r}, which is not a part of the circuit: {list(places)}"
        )
    canvas = Canvas(title, size=16)
    corner = {part.name: (part.column * _COLUMN + 4, canvas.top + part.row * _ROW) for part in parts}
    for part in parts:
        for name in part.reads:
            (x0, y0), (x1, y1) = corner[name], corner[part.name]
            if x0 == x1:  # within a column: up or down
                start, end = (x0 + _WIDE / 2, max(y0, y1)), (x0 + _WIDE / 2, min(y0, y1) + _HIGH)
                start, end = (end, start) if y1 > y0 else (start, end)
            else:
                start, end = (x0 + _WIDE, y0 + _HIGH / 2), (x1, y1 + _HIGH / 2)
            known = name in values and part.name in values
            canvas.line(start, end, "#555" if known else "#bbb", 2.2 if known else 1.4, arrow=True)
    last = [part.name for part in parts if part.name in values and part.reads][-1:]
    for part in parts:
        (x, y), known = corner[part.name], part.name in values
        frame = (ORANGE, 4) if part.name in last else (INK, 1.6)
        fill, radius = _FILL[part.kind] if known else "#fff", 22 if part.kind == "gate" else 7
        canvas.rect(x, y, _WIDE, _HIGH, fill, *frame, radius=radius)
        size = 15 if len(part.label) < 17 else 14
        canvas.text(x + _WIDE / 2, y + (23 if known else 35), part.label, size, "middle")
        if known:
            canvas.text(x + _WIDE / 2, y + 46, number(values[part.name], 3), 17, "middle", fill="#08519c", bold=True)
    return canvas.svg(alt)


# --- unrolled over time --------------------------------------------------------------------------


def unrolled_svg(
    inputs: Sequence[str],
    outputs: Sequence[str | None],
    *,
    alt: str,
    layers: int = 1,
    both: bool = False,
    feedback: bool = False,
    weights: bool = True,
    title: str = "",
) -> str:
    """One column per input, read from left to right; outputs are above, None where there is none.

    both: a second row of states reads the same inputs from right to left, and both rows lead to the output. feedback:
    an arrow leads from each output to the next input. weights: write U, W and V at the first arrows of their kind.

    Raises ValueError if there is not one output (or None) per input, no layer, or both directions in several layers.
    """
    if len(inputs) != len(outputs) or not inputs:
        raise ValueError(f"unrolled_svg needs one output or None per input, got {len(inputs)} and {len(outputs)}")
    if layers < 1:
        raise ValueError(f"layers must be at least 1, got {layers}")
    if both and layers > 1:
        raise ValueError(f"both directions are drawn for one layer, got layers={layers}")
    said = {t: word for t, word in enumerate(outputs) if word is not None}
    wide, tall, pitch_y = 54.0, 40.0, 92.0
    pitch = max(wide + 42, label_width(inputs, 17) + 6, label_width(said.values(), 16) + 6)
    rows = 2 if both else layers
    canvas = Canvas(title)
    above = canvas.top + 48 + 0.75 * pitch_y  # the highest row of states
    first = above + (rows - 1) * pitch_y

    def arrow(x: float, y: float, to_x: float, to_y: float) -> None:
        canvas.line((x, y), (to_x, to_y), "#555555", 2, arrow=True)

    def around(x: float, y: float, lane: float, turn: float, end: tuple[float, float], **look: str) -> None:
        """An arrow from (x, y) that passes the boxes in a lane between two columns."""
        canvas.polyline([(x, y), (lane, y - 10 if turn < y else y + 10), (lane, turn)], "#555555", 2, **look)
        canvas.line((lane, turn), end, "#555555", 2, arrow=True)

    for t, word in enumerate(inputs):
        x = 40 + pitch * (t + 0.5)
        canvas.text(x, first + pitch_y, word, 17, "middle")
        for row in range(rows):
            y, backward = first - pitch_y * row, both and row % 2 == 1
            name = f"{'h′' if backward else 'h'}{subscript(t + 1)}"
            bottom = y + tall / 2 + 3
            colour = DARK_ORANGE if backward else BLUE
            canvas.box(x - wide / 2, y - tall / 2, wide, tall, name, colour, size=18, ink="#ffffff", radius=7)
            if backward:  # past the row below, from the word itself
                around(x + 10, first + pitch_y - 18, x + wide / 2 + 13, y + tall / 2 + 16, (x + 12, bottom))
            else:
                arrow(x, y + pitch_y - (tall / 2 + 2 if row else 18), x, bottom)
            if t:
                ends = x - pitch + wide / 2 + 2, x - wide / 2 - 3
                arrow(ends[backward], y, ends[not backward], y)
        if t in said:
            arrow(x, above - tall / 2 - 2, x, above - pitch_y * 0.75 + 14)
            if both:  # the lower row's state, past the upper row
                end = (x - 12, above - pitch_y * 0.75 + 14)
                around(x - 10, first - tall / 2 - 2, x - wide / 2 - 13, above - tall / 2 - 6, end)
            if feedback and t + 1 < len(inputs):
                end = (x + pitch - label_width([inputs[t + 1]], 17) / 2 - 4, first + pitch_y - 5)
                fed_back(canvas, (x + 16, above - pitch_y * 0.75 - 3), x + pitch / 2, end)
            room = max(wide, label_width([said[t]], 16))
            canvas.box(x - room / 2, above - pitch_y * 0.75 - 18, room, 30, said[t], AMBER, radius=6)
    if weights:
        x = 40 + pitch * 0.5
        canvas.text(x + 9, first + pitch_y / 2 + 4, "W", 18, italic=True)
        if len(inputs) > 1:
            canvas.text(x + pitch / 2, first - 10, "U", 18, "middle", italic=True)
        if said:
            canvas.text(x + pitch * min(said) + 9, above - pitch_y * 0.75 + 36, "V", 18, italic=True)
    return canvas.svg(alt, width=80 + pitch * len(inputs))


def fed_back(canvas: Canvas, start: tuple[float, float], lane: float, end: tuple[float, float]) -> None:
    """The arrow from an output, `start`, to the input of the next step, `end`; dashed where it passes states."""
    corner, below = (lane, start[1]), (lane, end[1])
    canvas.line(start, corner, ORANGE, 2)
    canvas.line(corner, below, ORANGE, 2, dashes="6 4")
    canvas.line(below, end, ORANGE, 2, arrow=True)
