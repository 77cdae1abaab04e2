"""A computational graph as on the board: operations as circles, forward values above each edge, gradients below.

Takes plain data, as `nlmcore.autodiff.Value.graph()` gives it: nodes with `id, op, formula, label, value, grad, layer`,
in the order of the forward pass, and edges with `source, target, local, message`.
"""

import html
from collections.abc import Sequence
from typing import Any

from lectures.show.svg import BLUE, DARK_ORANGE, INK, Canvas, Point
from lectures.show.touch import pressable

__all__ = ["circuit_step", "circuit_svg"]

_COLUMN, _ROW, _RADIUS = 128.0, 104.0, 24.0
_FORWARD, _BACKWARD = BLUE, DARK_ORANGE  # blue above, orange below: apart for every kind of colour vision


def circuit_svg(
    nodes: Sequence[Any],
    edges: Sequence[Any],
    *,
    forward: int | None = None,
    backward: int | None = None,
    caption: bool = False,
    slider: str = "",
) -> str:
    """The graph from left to right.

    forward: how many nodes have been computed (None: all); backward: how many, from the last, have received
    their gradient (None: all). So one step of a slider is one step on the board. The node of the last step is filled
    in; `caption` writes below what was done there (`circuit_step`). slider: the name of a widget's slider of steps; a node
    that is pressed sets it to the step that computes the node's value, pressed again to that of its gradient.

    Raises ValueError for a graph without nodes, or a number of steps that it does not have.
    """
    if not nodes:
        raise ValueError("circuit_svg needs at least one node")
    forward = len(nodes) if forward is None else forward
    backward = len(nodes) if backward is None else backward
    for name, steps in (("forward", forward), ("backward", backward)):
        if not 0 <= steps <= len(nodes):
            raise ValueError(f"{name} must lie in [0, {len(nodes)}], the number of nodes, got {steps}")
    known = {node.id for node in nodes[:forward]}
    reached = {node.id for node in nodes[len(nodes) - backward :]}
    places, last = _places(nodes, edges), nodes[-1].id
    canvas, bends = Canvas(), _bends(edges, places)
    for edge, bend in zip(edges, bends, strict=True):
        value = _number(nodes[edge.source].value) if edge.source in known else ""
        # A message is sent when its sender's gradient is known and the receiver's is being added up.
        message = _number(edge.message) if edge.source in reached and edge.target in reached else ""
        _edge(canvas, places[edge.source], places[edge.target], value, message, bend=bend)
    x, y = places[last]
    value = _number(nodes[-1].value) if last in known else ""
    gradient = _number(nodes[-1].grad) if last in reached else ""
    _edge(canvas, (x, y), (x + _COLUMN * 0.75, y), value, gradient, radius_at_end=0.0)
    now = _now(nodes, forward, backward) if caption else None
    for i, node in enumerate(nodes):
        if slider:
            present, computed, back = forward + backward, i + 1, 2 * len(nodes) - i
            aim, what = (back, "gradient") if present == computed else (computed, "value")
            sets = f'data-sets="{slider}={aim}" tabindex="0" role="button" style="cursor:pointer"'
            canvas.add(f'<g {sets} aria-label="{html.escape(_name(node))}: go to its {what}">')
        _node(canvas, node, *places[node.id], node.id in known, node is now, bool(reached))
        if slider:
            canvas.add("</g>")
    width = max(x for x, _ in places.values()) + _COLUMN
    height = max(y for _, y in places.values()) + _ROW * 0.6 + max([0.0, *bends]) * 0.4
    canvas.text(8, height + 18, "value, forward", 15, fill=_FORWARD)
    canvas.text(138, height + 18, "gradient, backward", 15, fill=_BACKWARD)
    if slider:
        canvas.text(312, height + 18, "press a node: its value, then its gradient", 15)
    says = _describe(nodes, known, reached)
    if caption:
        step = circuit_step(nodes, edges, forward=forward, backward=backward)
        canvas.text(8, height + 52, step, 18, bold=True)
        says = f"{step}. {says}" if step else says
    if slider:
        return canvas.svg(says, width=width, more=pressable(), role="group")
    return canvas.svg(says, width=width)


def circuit_step(nodes: Sequence[Any], edges: Sequence[Any], *, forward: int, backward: int) -> str:
    """The last step in a line: "q = x + y = (−2) + 5 = 3", or "gradient of q = (−4) × 1 = −4", upstream × local.

    A value that is used several times gets the sum over its uses. "" before the first step.
    """
    node = _now(nodes, forward, backward)
    if node is None:
        return ""
    if not backward:
        operands = [nodes[edge.source] for edge in edges if edge.target == node.id]
        if not operands:
            return f"{_name(node)} = {_number(node.value)}"
        names, numbers = ([*map(say, operands)] for say in (_name, lambda operand: _bracketed(operand.value)))
        filled = node.formula.format(*numbers).replace("((", "(").replace("))", ")")
        return f"{_name(node)} = {node.formula.format(*names)} = {filled} = {_number(node.value)}"
    uses = [edge for edge in edges if edge.source == node.id]
    if not uses:
        return f"gradient of {_name(node)} = 1: the output, with respect to itself"
    products = " + ".join(f"{_bracketed(nodes[e.target].grad)} × {_bracketed(e.local)}" for e in uses)
    return f"gradient of {_name(node)} = upstream × local = {products} = {_number(node.grad)}"


def _now(nodes: Sequence[Any], forward: int, backward: int) -> Any | None:
    if backward:
        return nodes[len(nodes) - backward]
    return nodes[forward - 1] if forward else None


def _name(node: Any) -> str:
    return node.label or (f"({node.op})" if node.op else f"v{node.id}")


def _bracketed(value: float) -> str:
    return f"({_number(value)})" if value < 0 else _number(value)


def _places(nodes: Sequence[Any], edges: Sequence[Any]) -> dict[int, tuple[float, float]]:
    """Columns by layer, an input just before its first use; rows so that operands surround their operation."""
    operands: dict[int, list[int]] = {node.id: [] for node in nodes}
    users: dict[int, list[int]] = {node.id: [] for node in nodes}
    for edge in edges:
        operands[edge.target].append(edge.source)
        users[edge.source].append(edge.target)
    column = {n.id: n.layer if n.op else min((nodes[u].layer for u in users[n.id]), default=1) - 1 for n in nodes}
    order, seen, stack = [], set(), [nodes[-1].id]  # inputs from top to bottom, as the formula reads
    while stack:
        here = stack.pop()
        if here in seen:
            continue
        seen.add(here)
        if not operands[here]:
            order.append(here)
        stack.extend(reversed(operands[here]))
    row = {node: float(i) for i, node in enumerate(order)}
    taken: set[tuple[int, float]] = {(column[node], row[node]) for node in order}
    for node in nodes:
        if operands[node.id]:
            wanted = sum(row[o] for o in operands[node.id]) / len(operands[node.id])
            while (column[node.id], wanted) in taken:
                wanted += 0.5
            row[node.id] = wanted
            taken.add((column[node.id], wanted))
    return {n.id: (column[n.id] * _COLUMN + 50, row[n.id] * _ROW + 50) for n in nodes}


def _bends(edges: Sequence[Any], places: dict[int, tuple[float, float]]) -> list[float]:
    """How far each edge swerves (pixels, positive is down): two edges of one pair part, none runs through a node."""
    bends = []
    for i, edge in enumerate(edges):
        (x0, y0), (x1, y1) = places[edge.source], places[edge.target]
        pair = [j for j, other in enumerate(edges) if (other.source, other.target) == (edge.source, edge.target)]
        bend = 112.0 * (pair.index(i) - (len(pair) - 1) / 2)
        between = ((x, y) for x, y in places.values() if x0 < x < x1)
        if not bend and any(abs(y0 + (x - x0) / (x1 - x0) * (y1 - y0) - y) < _RADIUS + 8 for x, y in between):
            bend = 190.0
        bends.append(bend)
    return bends


def _edge(
    canvas: Canvas,
    start: Point,
    end: Point,
    value: str,
    message: str,
    radius_at_end: float = _RADIUS,
    bend: float = 0.0,
) -> None:
    """A line, or a curve whose middle lies bend/2 lower, from one circle to another with its two numbers."""
    (x0, y0), (x1, y1) = start, end
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2 + bend / 2
    aim = middle_x, middle_y + bend / 2
    (x0, y0), (x1, y1) = _towards((x0, y0), aim, _RADIUS), _towards((x1, y1), aim, radius_at_end)
    canvas.path(f"M{x0:.1f},{y0:.1f} Q{aim[0]:.1f},{aim[1]:.1f} {x1:.1f},{y1:.1f}", "#666", 1.8)
    canvas.text((x0 + x1) / 2, middle_y - 7, value, 15, "middle", fill=_FORWARD, halo=True)
    canvas.text((x0 + x1) / 2, middle_y + 19, message, 15, "middle", fill=_BACKWARD, halo=True)


def _towards(start: Point, aim: Point, distance: float) -> Point:
    (x0, y0), (x1, y1) = start, aim
    long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    return x0 + distance * (x1 - x0) / long, y0 + distance * (y1 - y0) / long


def _node(canvas: Canvas, node: Any, x: float, y: float, is_known: bool, is_now: bool, going_back: bool) -> None:
    fill = ("#ffd9a8" if going_back else "#a9d1f0") if is_now else "#eef4fa" if is_known else "#ffffff"
    canvas.mark("circle", x, y, fill, _RADIUS, stroke=INK, wide=3.2 if is_now else 1.8)
    inside = (node.op or node.label or f"v{node.id}").replace("-", "−")
    canvas.text(x, y + 6, inside, 17 if len(inside) <= 4 else 15 if len(inside) <= 5 else 12, "middle")
    if node.op and node.label:
        canvas.text(x, y - _RADIUS - 6, node.label, 15, "middle", italic=True)


def _number(value: float) -> str:
    plain = value == 0 or 0.005 <= abs(value) < 100_000
    shown = f"{value:.2f}".rstrip("0").rstrip(".") if plain else f"{value:.2g}"
    return shown.replace("-", "−")


def _describe(nodes: Sequence[Any], known: set[int], reached: set[int]) -> str:
    said = []
    for node in nodes:
        name = node.label or (f"{node.op} ({node.id})" if node.op else f"v{node.id}")
        value = f" value {_number(node.value)}" if node.id in known else ""
        gradient = f" gradient {_number(node.grad)}" if node.id in reached else ""
        said.append(f"{name}:{value}{gradient}")
    return "Computational graph. " + "; ".join(said) + "."
