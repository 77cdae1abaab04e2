"""The graph as data."""

import dataclasses
import json

from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_a_lone_value() -> None:
    graph = Value(2.5, "x").graph()
    assert graph.output.name == "x"
    assert not graph.edges
    assert repr(Value(2.5, "x")) == "Value(x = 2.5, grad=0)"
    assert repr(Value(2.5)) == "Value(2.5, grad=0)"
