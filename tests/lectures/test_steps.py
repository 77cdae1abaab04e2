"""The graph as data, and what is written of it."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lectures.steps import backward_steps, draw, forward_steps, trace
from nlmcore.autodiff import Value


def board() -> Value:
    x, y, z = Value(-2, "x"), Value(5, "y"), Value(-4, "z")
    f = ((x + y).named("q") * z).named("f")
    f.backward()
    return f


def test_the_board_as_data() -> None:
    graph = board().graph()
    assert [(n.name, n.op, n.value, n.grad, n.layer) for n in graph.nodes] == [
        ("x", "", -2, -4, 0),
        ("y", "", 5, -4, 0),
        ("q", "+", 3, -4, 1),
        ("z", "", -4, 3, 0),
        ("f", "×", -12, 1, 2),
    ]
    assert [(e.source, e.target, e.local, e.message) for e in graph.edges] == [
        (0, 2, 1, -4),
        (1, 2, 1, -4),
        (2, 4, -4, -4),
        (3, 4, 3, 3),
    ]
    assert graph.output.name == "f"
    assert json.loads(json.dumps(dataclasses.asdict(graph)))["nodes"][4]["op"] == "×"


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=15))
def test_edges_run_forward_and_messages_add_up(program: list[tuple[int, int, int]]) -> None:
    results = [Value(0.5, "a"), Value(-1.5, "b")]
    for kind, i, j in program:
        a, b = results[i % len(results)], results[j % len(results)]
        results.append([a + b, a - b, a * b, a.tanh(), 1 / (1 + b * b)][kind])
    results[-1].backward()
    graph = results[-1].graph()
    assert all(edge.source < edge.target for edge in graph.edges)
    assert all(graph.nodes[e.source].layer < graph.nodes[e.target].layer for e in graph.edges)
    for node in graph.nodes[:-1]:
        arrived = sum(edge.message for edge in graph.edges if edge.source == node.id)
        assert abs(arrived - node.grad) <= 1e-9 * max(1, abs(node.grad))
    assert len(draw(graph).splitlines()) >= len(graph.nodes)
    assert len(forward_steps(graph)) == len(graph.nodes)
    assert len(backward_steps(graph)) == len(graph.edges) + 1


def test_the_board_drawn() -> None:
    assert draw(board().graph()) == (
        "f = q × z = -12   gradient 1\n"
        "├─ q = x + y = 3   gradient 1 × (-4) = -4\n"
        "│  ├─ x = -2   gradient -4 × 1 = -4\n"
        "│  └─ y = 5   gradient -4 × 1 = -4\n"
        "└─ z = -4   gradient 1 × 3 = 3"
    )


def test_the_board_step_by_step() -> None:
    assert trace(board().graph()) == (
        "forward\n"
        "x = -2\n"
        "y = 5\n"
        "q = x + y = (-2) + 5 = 3\n"
        "z = -4\n"
        "f = q × z = 3 × (-4) = -12\n"
        "\n"
        "backward\n"
        "grad(f) = 1\n"
        "grad(q) = grad(f) × ∂f/∂q = 1 × (-4) = -4\n"
        "grad(z) = grad(f) × ∂f/∂z = 1 × 3 = 3\n"
        "grad(x) = grad(q) × ∂q/∂x = -4 × 1 = -4\n"
        "grad(y) = grad(q) × ∂q/∂y = -4 × 1 = -4"
    )


def test_functions_and_numbers_in_a_trace() -> None:
    s = Value(1.0, "s")
    f = (1 / (1 + (-s).exp())).named("f")
    assert forward_steps(f.graph(), digits=2) == [
        "s = 1",
        "v1 = -s = -1 = -1",
        "v2 = exp(v1) = exp(-1) = 0.37",
        "v3 = v2 + 1 = 0.37 + 1 = 1.4",
        "f = 1 / v3 = 1 / 1.4 = 0.73",
    ]


def test_what_is_used_again_is_drawn_once_and_summed() -> None:
    a = Value(3, "a")
    b = (a * a).named("b")
    c = (b + b).named("c")
    c.backward()
    assert draw(c.graph()).splitlines() == [
        "c = b + b = 18   gradient 1",
        "├─ b = a × a = 9   gradient 1 × 1 = 1, in all 2",
        "│  ├─ a = 3   gradient 2 × 3 = 6, in all 12",
        "│  └─ a = 3   gradient 2 × 3 = 6, in all 12",
        "└─ b = 9   gradient 1 × 1 = 1, in all 2 (above)",
    ]
    assert backward_steps(c.graph())[-1] == "grad(a) += grad(b) × ∂b/∂a = 2 × 3 = 6, in all 12"


def test_a_lone_value() -> None:
    x = Value(2.5, "x")
    assert draw(x.graph()) == "x = 2.5   gradient 0"
    assert repr(x) == "Value(x = 2.5, grad=0)"
    assert repr(Value(2.5)) == "Value(2.5, grad=0)"


def test_a_deep_graph_is_drawn_without_recursion() -> None:
    y = Value(0.0, "x")
    for _ in range(3_000):
        y = y + 1
    assert len(draw(y.graph()).splitlines()) == 3_001


@pytest.mark.parametrize("function", [draw, trace, forward_steps, backward_steps])
def test_bad_input_is_named(function) -> None:
    for graph in (None, board(), [1]):
        with pytest.raises(TypeError, match="graph"):
            function(graph)
    for digits in (-1, 0, "a", 1.5, None):
        with pytest.raises((ValueError, TypeError), match="digits"):
            function(board().graph(), digits)
