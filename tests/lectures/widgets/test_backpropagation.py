"""The board's circuits, drawn; and the curve that follows a training."""

import re
import xml.dom.minidom as xml

import numpy as np
import pytest

from lectures import widgets
from lectures.formulas import evaluate
from lectures.widgets.backpropagation import descent_svg
from tests.lectures.seen import seen, spoken


def graph_of(formula: str):
    result = evaluate(formula)
    result.backward()
    return result.graph()


BOARD = graph_of("x = -2; y = 5; z = -4; q = x + y; f = q * z")


def test_the_player_steps_through_it() -> None:
    player = widgets.circuit_player(BOARD.nodes, BOARD.edges)
    assert len({seen(player, step=step) for step in range(11)}) == 11, "every step shows something new"


CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
AND, XOR = [0, 0, 0, 1], [0, 1, 1, 0]


def perceptron(x, w, b):
    return (x @ w + b > 0).astype(float)


def test_the_playground_counts_what_is_right() -> None:
    widget = widgets.neuron_playground(perceptron, CORNERS, {"AND": AND, "XOR": XOR})
    assert "4 of 4 points are right" in spoken(seen(widget, w1=1.0, w2=1.0, b=-1.5))
    assert " l42,42" not in seen(widget)
    assert "1 of 4 points are right" in spoken(seen(widget, task="XOR"))


def test_a_neuron_of_ones_own_is_drawn_beside() -> None:
    def soft(x, w, b):
        return 1 / (1 + np.exp(-(x @ w + b)))

    shown = seen(widgets.neuron_playground(perceptron, CORNERS, {"AND": AND}, yours=soft))
    assert "yours draws a different picture" in shown
    wrong = seen(widgets.neuron_playground(perceptron, CORNERS, {"AND": AND}, yours=lambda x, w, b: 1.0))
    assert "yours raised an error" in wrong


def test_the_boundary_player_follows_the_training() -> None:
    runs = {
        name: {step: (lambda x, s=step, a=a: 1 / (1 + np.exp(-a * s * (x[:, 0] - 0.5)))) for step in (0, 10)}
        for name, a in {"one": 1.0, "two": -1.0}.items()
    }
    widget = widgets.boundary_player(runs, CORNERS, [0, 0, 1, 1])
    assert "loss 0.693" in spoken(seen(widget))
    assert "after 10 steps: loss 0.007, 4 of 4 points right" in spoken(seen(widget, step=10))
    assert "0 of 4 points right" in spoken(seen(widget, run="two"))
    with pytest.raises(ValueError, match="share their steps"):
        widgets.boundary_player({"a": {0: np.ones}, "b": {1: np.ones}}, CORNERS, AND)
    with pytest.raises(ValueError, match="at least one"):
        widgets.boundary_player({}, CORNERS, AND)


def test_a_backward_pass_of_ones_own() -> None:
    graph = graph_of("x = 3; y = 2; q = x*y; f = q*x + q")

    def right(nodes, edges):
        assert not any(node.grad for node in nodes), "the gradients are not given away"
        gradient = [0.0] * len(nodes)
        gradient[-1] = 1.0
        for edge in sorted(edges, key=lambda edge: -edge.target):
            gradient[edge.source] += gradient[edge.target] * edge.local
        return gradient

    def overwrites(nodes, edges):
        gradient = [0.0] * len(nodes)
        gradient[-1] = 1.0
        for edge in sorted(edges, key=lambda edge: -edge.target):
            gradient[edge.source] = gradient[edge.target] * edge.local
        return gradient

    for mine, verdict in (
        (right, "the same picture"),
        (overwrites, "a different picture"),
        (lambda nodes, edges: [1.0], "raised an error"),
    ):
        player = widgets.circuit_player(graph.nodes, graph.edges, yours=mine)
        assert verdict in seen(player, step=2 * len(graph.nodes))


def test_a_formula_of_ones_own() -> None:
    widget = widgets.circuit_playground(graph_of, {"a": "x = 3; f = x*x + x", "b": "x = 2; y = 3; f = x*y"})
    assert "x: value 3 gradient 7" in spoken(seen(widget, step=6))
    widget.controls["example"].value = "b"
    assert widget.controls["formula"].value == "x = 2; y = 3; f = x*y"
    assert widget.controls["step"].value == 0
    widget.controls["formula"].value = "x = 2; y = 3; z = 4; x*y*z"
    assert widget.controls["step"].max == 10
    assert "x: value 2 gradient 12" in spoken(seen(widget, step=10))
    assert "no formula" in seen(widget, formula="x +")
    assert "room for 40" in seen(widget, formula="x = 1; " + "+".join(["x"] * 60))
    with pytest.raises(ValueError, match="at least one"):
        widgets.circuit_playground(graph_of, {})


def descent(**settings):
    slope = widgets.Slope(lambda w: w * w, lambda w: 2 * w, start=2)
    widget = widgets.descent_playground(lambda w, g, rate: w - rate * g, {"valley": slope})
    return spoken(seen(widget, **settings))


def test_the_rate_decides() -> None:
    assert "w is 0.70 and the loss 0.49; the initial loss was 4.00" in descent(rate=0.05)
    assert "after 1 steps: w = 0.000" in descent(rate=0.5, steps=1)
    assert "w = -2.000, loss 4.0000" in descent(rate=1.0, steps=11)
    assert "w is 475" in descent(rate=1.2, steps=30).replace(",", "") or "diverges" in descent(rate=1.2, steps=30)


def test_a_step_of_ones_own_and_one_that_explodes() -> None:
    slope = widgets.Slope(lambda w: w * w, lambda w: 2 * w, start=2)
    mine = widgets.descent_playground(
        lambda w, g, rate: w - rate * g, {"v": slope}, yours=lambda w, g, rate: w + rate * g
    )
    assert "yours draws a different picture" in seen(mine)
    infinite = widgets.descent_playground(lambda w, g, rate: float("nan"), {"v": slope})
    assert "it diverges" in spoken(seen(infinite))


def test_a_curve_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="as many y as x"):
        descent_svg([0, 1], [1], [(0, 1)])
    with pytest.raises(ValueError, match="visited point"):
        descent_svg([0, 1], [0, 1], [])


def test_a_node_that_is_pressed_moves_the_slider_of_steps() -> None:
    """To the step that computes it; pressed again, to the step of its gradient."""
    player = widgets.circuit_player(BOARD.nodes, BOARD.edges)
    n = len(BOARD.nodes)
    assert [f"step={i + 1}" for i in range(n)] == re.findall(r'data-sets="([^"]*)"', seen(player))
    assert seen(player).count('tabindex="0"') == n, "within reach of the keyboard"
    for i, node in enumerate(BOARD.nodes):
        aims = re.findall(r'data-sets="step=(\d+)"', seen(player, step=i + 1))
        assert int(aims[i]) == 2 * n - i
        assert aims[:i] + aims[i + 1 :] == [str(j + 1) for j in range(n) if j != i]
        assert f"gradient of {node.label}" in seen(player, step=int(aims[i]))
        assert f"{node.label}: go to its value" in seen(player)
    assert "nlm-control-step" in player.controls["step"]._dom_classes


def test_the_line_can_be_dragged_only_where_it_is() -> None:
    widget = widgets.neuron_playground(perceptron, CORNERS, {"AND": AND})
    drawing = xml.parseString(seen(widget)).documentElement
    w1, w2, x, y = map(float, drawing.getAttribute("data-line").split())
    values = {name: widget.controls[name].value for name in ("w1", "w2", "b")}
    assert (w1, w2) == (values["w1"], values["w2"])
    assert w1 * x + w2 * y + values["b"] == pytest.approx(0, abs=1e-4), "its middle lies on it"
    assert {part.getAttribute("data-drag") for part in drawing.getElementsByTagName("line")} == {"", "line", "arrow"}
    assert "data-drag" not in seen(widget, w1=0.0, w2=0.0)
