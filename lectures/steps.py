"""A graph and its two passes in plain characters: for a terminal, a board, or a screen reader.

`draw` shows the circuit as a tree, the output on top; `trace` lists what happens, one step per line.
All of them read the plain description `Value.graph()`; call `backward` first to see gradients. `digits`, 1 or more,
says how many of each number are shown.
"""

from nlmcore.autodiff.graph import Edge, Graph, Node


def draw(graph: Graph, digits: int = 3) -> str:
    """The circuit as a tree, every value with its gradient, every branch with its message.

        f = q × z = -12   gradient 1
        ├─ q = x + y = 3   gradient 1 × (-4) = -4
        …

    What is used more than once is drawn in full once; later uses end in "(above)", and every use says what
    its messages come to "in all".
    """
    _check(graph, digits)
    operands = graph.operands()
    uses = _uses(graph)
    lines: list[str] = []
    drawn: set[int] = set()
    stack: list[tuple[Node, Edge | None, str, str]] = [(graph.output, None, "", "")]
    while stack:
        node, edge, branch, indent = stack.pop()
        again = node.id in drawn and bool(operands[node.id])
        drawn.add(node.id)
        formula = "" if again or not node.op else f" = {_formula(graph, operands, node)}"
        message = _number(node.grad, digits)
        if edge is not None:
            message = _product(graph.nodes[edge.target].grad, edge.local, edge.message, digits)
        if uses[node.id] > 1:
            message += f", in all {_number(node.grad, digits)}"
        value = _number(node.value, digits)
        lines.append(
            f"{branch}{node.name}{formula} = {value}   gradient {message}{' (above)' if again else ''}"
        )
        if not again:
            last = len(operands[node.id]) - 1
            for i in range(last, -1, -1):
                below = operands[node.id][i]
                corner, rule = ("└─ ", "   ") if i == last else ("├─ ", "│  ")
                stack.append((graph.nodes[below.source], below, indent + corner, indent + rule))
    return "\n".join(lines)


def forward_steps(graph: Graph, digits: int = 3) -> list[str]:
    """One line per node in forward order: "x = -2", then "q = x + y = -2 + 5 = 3"."""
    _check(graph, digits)
    operands = graph.operands()
    steps = []
    for node in graph.nodes:
        value = _number(node.value, digits)
        if not node.op:
            steps.append(f"{node.name} = {value}")
            continue
        numbers = [
            _bracketed(graph.nodes[edge.source].value, digits) for edge in operands[node.id]
        ]
        filled = (
            node.formula.format(*numbers).replace("((", "(").replace("))", ")")
        )  # exp((-1)) is exp(-1)
        steps.append(f"{node.name} = {_formula(graph, operands, node)} = {filled} = {value}")
    return steps


def backward_steps(graph: Graph, digits: int = 3) -> list[str]:
    """One line per message in backward order: "grad(q) += grad(f) × ∂f/∂q = 1 × -4 = -4".

    A value that is used several times gets a line for each use, and the last says what it has come to.
    """
    _check(graph, digits)
    operands = graph.operands()
    uses = _uses(graph)
    received = [0] * len(graph.nodes)
    steps = [f"grad({graph.output.name}) = {_number(graph.output.grad, digits)}"]
    for node in reversed(graph.nodes):
        for edge in operands[node.id]:
            source = graph.nodes[edge.source]
            received[source.id] += 1
            step = (
                f"grad({source.name}) {'=' if uses[source.id] == 1 else '+='} grad({node.name}) × ∂{node.name}/∂"
                f"{source.name} = {_product(node.grad, edge.local, edge.message, digits)}"
            )
            if uses[source.id] > 1 and received[source.id] == uses[source.id]:
                step += f", in all {_number(source.grad, digits)}"
            steps.append(step)
    return steps


def trace(graph: Graph, digits: int = 3) -> str:
    """The forward pass and the backward pass, one step per line."""
    return "\n".join(
        ["forward", *forward_steps(graph, digits), "", "backward", *backward_steps(graph, digits)]
    )


def _check(graph: Graph, digits: int) -> None:
    if not isinstance(graph, Graph):
        raise TypeError(
            f"graph must be a Graph, as value.graph() gives it, got {type(graph).__name__}"
        )
    if not isinstance(digits, int) or isinstance(digits, bool):
        raise TypeError(f"digits must be an integer, got {type(digits).__name__} {digits!r:.60}")
    if digits < 1:
        raise ValueError(f"digits must be at least 1, got {digits}")


def _uses(graph: Graph) -> list[int]:
    uses = [0] * len(graph.nodes)
    for edge in graph.edges:
        uses[edge.source] += 1
    return uses


def _formula(graph: Graph, operands: list[list[Edge]], node: Node) -> str:
    return node.formula.format(*(graph.nodes[edge.source].name for edge in operands[node.id]))


def _product(upstream: float, local: float, message: float, digits: int) -> str:
    return (
        f"{_number(upstream, digits)} × {_bracketed(local, digits)} = {_number(message, digits)}"
    )


def _number(x: float, digits: int) -> str:
    return f"{x:.{digits}g}"


def _bracketed(x: float, digits: int) -> str:
    """Negative numbers after an operator in brackets: 3 × (-4)."""
    return f"({_number(x, digits)})" if x < 0 else _number(x, digits)
