"""A recurrent cell as a circuit: what goes in at the left, gates in the middle, the new state at the right.

Boxes fill with numbers in the order in which they are computed, so that one step of a slider is one line on the board.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lectures.show.svg import INK, svg, text

_COLUMN, _ROW, _WIDE, _HIGH = 206.0, 88.0, 164.0, 58.0
_FILL = {"state": "#ffffff", "gate": "#dbe9f6", "tanh": "#fde3cf", "product": "#f1f1f1"}
_NUMBER = "#08519c"


@dataclass(frozen=True)
class Part:
    """One box: what stands in it, where it is, and what it reads."""

    name: str
    column: float | int
    row: float | int
    label: str
    """What is computed, as on the board."""
    reads: tuple[str, ...] = ()
    kind: str = "product"
    """"state", "gate" (a number between 0 and 1), "tanh" (what could be written) or "product"."""


UGRNN = (
    Part("h", 0, 0, "h[t−1]", kind="state"),
    Part("x", 0, 2, "x[t]", kind="state"),
    Part("G", 1, 1, "G = σ(…)", ("x", "h"), "gate"),
    Part("R", 1, 2, "R = tanh(…)", ("x", "h"), "tanh"),
    Part("kept", 2, 0, "G ⊙ h[t−1]", ("h", "G")),
    Part("written", 2, 2, "(1 − G) ⊙ R", ("R", "G")),
    Part("new", 3, 0, "h[t] = sum", ("kept", "written"), "state"),
)
GRU = (
    Part("h", 0, 0, "h[t−1]", kind="state"),
    Part("x", 0, 3, "x[t]", kind="state"),
    Part("z", 1, 1, "z = σ(…)", ("x", "h"), "gate"),
    Part("r", 1, 2, "r = σ(…)", ("x", "h"), "gate"),
    Part("reset", 2, 2, "r ⊙ (U h + d)", ("r",)),
    Part("n", 2, 3, "n = tanh(…)", ("x", "reset"), "tanh"),
    Part("kept", 2, 0, "z ⊙ h[t−1]", ("h", "z")),
    Part("written", 3, 1.5, "(1 − z) ⊙ n", ("n", "z")),
    Part("new", 3, 0, "h[t] = sum", ("kept", "written"), "state"),
)
LSTM = (
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
)
CIRCUITS: dict[str, Sequence[Part]] = {"UGRNN": UGRNN, "GRU": GRU, "LSTM": LSTM}
"""The circuits of lecture 7, by the cell's name."""


def cell_svg(parts: Sequence[Part], values: Mapping[str, float | int], *, alt: str, title: str = "") -> str:
    """Boxes and arrows; a box whose name is in `values` shows its number, the one computed last has a thick frame.

    Raises ValueError if a part reads another that is not there, or alt is empty.
    """
    places = {part.name: part for part in parts}
    missing = [(part.name, name) for part in parts for name in part.reads if name not in places]
    if missing:
        raise ValueError(f"{missing[0][0]!r} reads {missing[0][1]!r}, which is no part of the circuit: {list(places)}")
    top = 34.0
    computed = [part.name for part in parts if part.name in values and part.reads]
    body = [
        text(0, 20, title, 16, more='font-weight="bold"'),
        '<defs><marker id="nlm-cell-tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="#555"/></marker></defs>',
    ]
    for part in parts:
        for name in part.reads:
            body.append(_arrow(places[name], part, top, name in values and part.name in values))
    for part in parts:
        x, y = part.column * _COLUMN + 4, top + part.row * _ROW
        known, last = part.name in values, part.name in computed[-1:]
        frame = f'stroke="{"#D55E00" if last else INK}" stroke-width="{4 if last else 1.6}"'
        body.append(
            f'<rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" rx="{22 if part.kind == "gate" else 7}"'
            f' fill="{_FILL[part.kind] if known else "#fff"}" {frame}/>'
        )
        size = 15 if len(part.label) < 17 else 14
        body.append(text(x + _WIDE / 2, y + (23 if known else 35), part.label, size, "middle"))
        if known:
            look = f'font-weight="bold" style="fill:{_NUMBER}"'
            body.append(text(x + _WIDE / 2, y + 46, f"{values[part.name]:.3f}".replace("-", "−"), 17, "middle", look))
    width = max(part.column for part in parts) * _COLUMN + _WIDE + 12
    return svg(width, top + max(part.row for part in parts) * _ROW + _HIGH + 8, "".join(body), alt)


def _arrow(source: Part, target: Part, top: float, known: bool) -> str:
    """From one box's edge to another's: to the right, or up and down within a column."""
    x0, y0 = source.column * _COLUMN + 4, top + source.row * _ROW
    x1, y1 = target.column * _COLUMN + 4, top + target.row * _ROW
    if source.column == target.column:
        below = y1 > y0
        x0, x1 = x0 + _WIDE / 2, x1 + _WIDE / 2
        y0, y1 = (y0 + _HIGH, y1) if below else (y0, y1 + _HIGH)
    else:
        x0, y0, y1 = x0 + _WIDE, y0 + _HIGH / 2, y1 + _HIGH / 2
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{"#555" if known else "#bbb"}"'
        f' stroke-width="{2.2 if known else 1.4}" marker-end="url(#nlm-cell-tip)"/>'
    )
