"""A computational graph as on the board: operations as circles, forward values above each edge, gradients below.

Takes plain data, as `nlmcore.autodiff.Value.graph()` gives it: nodes with `id, op, label, value, grad, layer`,
in the order of the forward pass, and edges with `source, target, message`.
"""

from collections.abc import Sequence
from typing import Any

from nlmcore.show.figures.svg import INK, Pixels, svg, text

_COLUMN, _ROW, _RADIUS = 150.0, 100.0, 25.0
_FORWARD, _BACKWARD = "#0072B2", "#B34700"  # blue above, orange below: apart for every kind of colour vision
_HALO = "paint-order:stroke;stroke:#fff;stroke-width:4px"


def circuit_svg(
    nodes: Sequence[Any], edges: Sequence[Any], *, forward: int | None = None, backward: int | None = None
) -> str:
    """The graph from left to right.

    forward: how many nodes have been computed (None: all); backward: how many, from the last, have received
    their gradient (None: all). So one step of a slider is one step on the board.

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
    places = _places(nodes, edges)
    last = nodes[-1]
    parts = []
    for edge in edges:
        source = nodes[edge.source]
        value = _number(source.value) if edge.source in known else ""
        # A message is sent when its sender's gradient is known and the receiver's is being added up.
        message = _number(edge.message) if edge.source in reached and edge.target in reached else ""
        parts.append(_edge(places[edge.source], places[edge.target], value, message))
    x, y = places[last.id]
    end_value = _number(last.value) if last.id in known else ""
    end_grad = _number(last.grad) if last.id in reached else ""
    parts.append(_edge((x, y), (x + _COLUMN * 0.75, y), end_value, end_grad, radius_at_end=0.0))
    parts += [_node(node, *places[node.id], is_known=node.id in known) for node in nodes]
    width = max(x for x, _ in places.values()) + _COLUMN
    height = max(y for _, y in places.values()) + _ROW * 0.7
    legend = text(8, height + 18, "value, forward", 15, more=f'style="fill:{_FORWARD}"')
    legend += text(138, height + 18, "gradient, backward", 15, more=f'style="fill:{_BACKWARD}"')
    return svg(width, height + 30, "".join(parts) + legend, _describe(nodes, known, reached))


def _places(nodes: Sequence[Any], edges: Sequence[Any]) -> dict[int, tuple[float, float]]:
    """Columns by layer, an input just before its first use; rows so that operands stand around their operation."""
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


def _edge(
    start: tuple[float, float], end: tuple[float, float], value: str, message: str, radius_at_end: float = _RADIUS
) -> str:
    (x0, y0), (x1, y1) = start, end
    long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    dx, dy = (x1 - x0) / long, (y1 - y0) / long
    x0, y0 = x0 + _RADIUS * dx, y0 + _RADIUS * dy
    x1, y1 = x1 - radius_at_end * dx, y1 - radius_at_end * dy
    line = f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="#666" stroke-width="1.8"/>'
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    above = text(middle_x, middle_y - 7, value, 15, "middle", f'style="fill:{_FORWARD};{_HALO}"')
    below = text(middle_x, middle_y + 19, message, 15, "middle", f'style="fill:{_BACKWARD};{_HALO}"')
    return line + above + below


def _node(node: Any, x: Pixels, y: Pixels, is_known: bool) -> str:
    fill = "#eef4fa" if is_known else "#ffffff"
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{fill}" stroke="{INK}" stroke-width="1.8"/>'
    inside = node.op or node.label or f"v{node.id}"
    size = 17 if len(inside) <= 4 else 12
    name = text(x, y - _RADIUS - 6, node.label, 15, "middle", 'font-style="italic"') if node.op and node.label else ""
    return circle + text(x, y + 6, inside, size, "middle") + name


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "\N{MINUS SIGN}")


def _describe(nodes: Sequence[Any], known: set[int], reached: set[int]) -> str:
    said = []
    for node in nodes:
        name = node.label or (f"{node.op} ({node.id})" if node.op else f"v{node.id}")
        value = f" value {_number(node.value)}" if node.id in known else ""
        gradient = f" gradient {_number(node.grad)}" if node.id in reached else ""
        said.append(f"{name}:{value}{gradient}")
    return "Computational graph. " + "; ".join(said) + "."
