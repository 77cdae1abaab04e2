"""The board's circuits, drawn; and the curve that follows a training."""

import re

import numpy as np
import pytest

from lectures.formulas import evaluate
from lectures.show import circuit_step, circuit_svg
from tests.lectures.seen import spoken


def graph_of(formula: str):
    result = evaluate(formula)
    result.backward()
    return result.graph()


BOARD = graph_of("x = -2; y = 5; z = -4; q = x + y; f = q * z")


def test_the_circuit_has_every_number_of_the_board() -> None:
    drawing = circuit_svg(BOARD.nodes, BOARD.edges)
    assert spoken(drawing) == (
        "Computational graph. x: value −2 gradient −4; y: value 5 gradient −4; q: value 3 gradient −4;"
        " z: value −4 gradient 3; f: value −12 gradient 1."
    )
    shown = re.findall(r">([−\d.]+)</text>", drawing)
    assert sorted(shown) == sorted(["−2", "−4", "5", "−4", "3", "−4", "−4", "3", "−12", "1"])


def test_it_fills_forward_then_backward() -> None:
    assert not re.findall(r">[−\d.]+</text>", circuit_svg(BOARD.nodes, BOARD.edges, forward=0, backward=0))
    half = spoken(circuit_svg(BOARD.nodes, BOARD.edges, forward=3, backward=0))
    assert "q: value 3;" in half
    assert "z:;" in half
    first_back = spoken(circuit_svg(BOARD.nodes, BOARD.edges, backward=1))
    assert "f: value −12 gradient 1" in first_back
    assert "z: value −4;" in first_back


def test_no_two_nodes_share_a_place() -> None:
    graph = graph_of("a = 2; b = 3; (a * b + a / b) * (a + b) - a * a")
    drawing = circuit_svg(graph.nodes, graph.edges)
    places = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawing)
    assert len(places) == len(set(places)) == len(graph.nodes)


@pytest.mark.parametrize(("arguments", "words"), [({"forward": 6}, "forward"), ({"backward": -1}, "backward")])
def test_steps_that_are_not_there_are_refused(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        circuit_svg(BOARD.nodes, BOARD.edges, **arguments)
    with pytest.raises(ValueError, match="at least one node"):
        circuit_svg([], [])


def test_each_step_says_what_it_computes() -> None:
    said = [circuit_step(BOARD.nodes, BOARD.edges, forward=n, backward=0) for n in range(6)]
    assert said == ["", "x = −2", "y = 5", "q = x + y = (−2) + 5 = 3", "z = −4", "f = q × z = 3 × (−4) = −12"]
    back = [circuit_step(BOARD.nodes, BOARD.edges, forward=5, backward=n) for n in range(1, 6)]
    assert back[0] == "gradient of f = 1: the output, with respect to itself"
    assert back[1] == "gradient of z = upstream × local = 1 × 3 = 3"
    assert back[2:] == [
        "gradient of q = upstream × local = 1 × (−4) = −4",
        "gradient of y = upstream × local = (−4) × 1 = −4",
        "gradient of x = upstream × local = (−4) × 1 = −4",
    ]


def test_a_value_with_several_uses_gets_a_sum() -> None:
    graph = graph_of("x = 3; f = x*x + x")
    assert circuit_step(graph.nodes, graph.edges, forward=3, backward=3).endswith("= 1 × 3 + 1 × 3 + 1 × 1 = 7")
    curves = re.findall(r'<path d="(M[^"]+)"', circuit_svg(graph.nodes, graph.edges))
    assert len(set(curves)) == len(graph.edges) + 1, "two uses by one operation are two lines"


def test_no_line_runs_through_a_node() -> None:
    graph = graph_of("x = 3; f = x*x + x")
    drawing = circuit_svg(graph.nodes, graph.edges)
    circles = [tuple(map(float, c)) for c in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawing)]
    for path in re.findall(r'<path d="(M[^"]+)"', drawing):
        x0, y0, cx, cy, x1, y1 = map(float, re.findall(r"[-\d.]+", path))
        for t in np.linspace(0.1, 0.9, 33):
            at = (1 - t) ** 2 * np.array([x0, y0]) + 2 * t * (1 - t) * np.array([cx, cy]) + t**2 * np.array([x1, y1])
            for circle in circles:
                assert np.hypot(*(at - circle)) > 23.5
