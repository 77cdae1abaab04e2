"""Pictures and widgets of lecture 3: decision lines, circuits that are stepped through, gradient descent."""

import re
import xml.dom.minidom as xml

import numpy as np
import pytest

from lectures import widgets
from lectures.show import circuit_step, circuit_svg, decision_svg, descent_svg
from nlmcore.autodiff import evaluate

CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
AND, XOR = [0, 0, 0, 1], [0, 1, 1, 0]


def perceptron(x, w, b):
    return (x @ w + b > 0).astype(float)


def spoken(drawing: str) -> str:
    return xml.parseString(drawing).documentElement.getAttribute("aria-label")


def graph_of(formula: str):
    result = evaluate(formula)
    result.backward()
    return result.graph()


# --- decision_svg --------------------------------------------------------------------------------


def decision(p, **options) -> str:
    return decision_svg(p, CORNERS, XOR, low=-1, high=2, alt="a plane", **options)


def test_a_point_on_the_wrong_side_is_crossed() -> None:
    p = np.zeros((30, 30))
    p[10:20] = 1.0  # 1 where 0 < y < 1: neither row of corners...
    assert decision(np.zeros((30, 30))).count(" l42,42") == 2, "both ones are missed"
    assert decision(np.ones((30, 30))).count(" l42,42") == 2, "both zeros are missed"
    low = np.zeros((30, 30))
    low[:15] = 1.0  # 1 below y = 0.5: (1, 0) right, (0, 0) wrong, (0, 1) wrong, (1, 1) right
    assert decision(low).count(" l42,42") == 2
    assert decision(p) != decision(low)


def test_neighbours_of_one_tint_are_one_rectangle() -> None:
    assert decision(np.zeros((60, 60))).count("<rect") == 60 + 2, "a row each, and two square points"


def test_the_line_is_where_the_sum_is_zero() -> None:
    drawing = decision(np.zeros((5, 5)), line=(1.0, 0.0, -0.5))
    x0, y0, x1, y1 = (
        float(v) for v in re.search(r'x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"', drawing).groups()
    )
    assert x0 == pytest.approx(x1, abs=0.2)
    assert abs(y1 - y0) == pytest.approx(380, abs=4), "from edge to edge"
    assert x0 == pytest.approx(34 + 1.5 / 3 * 380, abs=0.2)
    assert "<line" not in decision(np.zeros((5, 5)), line=(0.0, 0.0, 1.0)), "no line without weights"
    assert "<line" not in decision(np.zeros((5, 5)), line=(1.0, 1.0, 9.0)), "nor outside the picture"


def test_decisions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="target 0 or 1"):
        decision_svg(np.zeros((3, 3)), CORNERS, [0, 1, 2, 0], low=0, high=1, alt="x")
    with pytest.raises(ValueError, match=r"\(9,\)"):
        decision_svg(np.zeros(9), CORNERS, XOR, low=0, high=1, alt="x")


# --- widgets over it -----------------------------------------------------------------------------


def test_the_playground_counts_what_is_right() -> None:
    widget = widgets.neuron_playground(perceptron, CORNERS, {"AND": AND, "XOR": XOR})
    for name, value in {"w1": 1.0, "w2": 1.0, "b": -1.5}.items():
        widget.controls[name].value = value
    assert "4 of 4 points are right" in spoken(widget.picture.value)
    assert " l42,42" not in widget.picture.value
    widget.controls["task"].value = "XOR"
    assert "1 of 4 points are right" in spoken(widget.picture.value)


def test_a_neuron_of_ones_own_is_drawn_beside() -> None:
    def soft(x, w, b):
        return 1 / (1 + np.exp(-(x @ w + b)))

    shown = widgets.neuron_playground(perceptron, CORNERS, {"AND": AND}, yours=soft).picture.value
    assert "yours draws another picture" in shown
    wrong = widgets.neuron_playground(perceptron, CORNERS, {"AND": AND}, yours=lambda x, w, b: 1.0).picture.value
    assert "yours raised an error" in wrong


def test_the_boundary_player_follows_the_training() -> None:
    runs = {
        name: {step: (lambda x, s=step, a=a: 1 / (1 + np.exp(-a * s * (x[:, 0] - 0.5)))) for step in (0, 10)}
        for name, a in {"one": 1.0, "two": -1.0}.items()
    }
    widget = widgets.boundary_player(runs, CORNERS, [0, 0, 1, 1])
    assert "loss 0.693" in spoken(widget.picture.value)
    widget.controls["step"].value = 10
    assert "after 10 steps: loss 0.007, 4 of 4 points right" in spoken(widget.picture.value)
    widget.controls["run"].value = "two"
    assert "0 of 4 points right" in spoken(widget.picture.value)
    with pytest.raises(ValueError, match="share their steps"):
        widgets.boundary_player({"a": {0: np.ones}, "b": {1: np.ones}}, CORNERS, AND)
    with pytest.raises(ValueError, match="at least one"):
        widgets.boundary_player({}, CORNERS, AND)


# --- circuits ------------------------------------------------------------------------------------


def test_each_step_says_what_it_computes() -> None:
    graph = graph_of("x = -2; y = 5; z = -4; q = x + y; f = q * z")
    said = [circuit_step(graph.nodes, graph.edges, forward=n, backward=0) for n in range(6)]
    assert said == ["", "x = −2", "y = 5", "q = x + y = (−2) + 5 = 3", "z = −4", "f = q × z = 3 × (−4) = −12"]
    back = [circuit_step(graph.nodes, graph.edges, forward=5, backward=n) for n in range(1, 6)]
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


def test_a_backward_pass_of_ones_own() -> None:
    graph = graph_of("x = 3; y = 2; q = x*y; f = q*x + q")

    def right(nodes, edges):
        assert not any(node.grad for node in nodes), "the answer is not handed over"
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
        (overwrites, "another picture"),
        (lambda nodes, edges: [1.0], "raised an error"),
    ):
        player = widgets.circuit_player(graph.nodes, graph.edges, yours=mine)
        player.controls["step"].value = 2 * len(graph.nodes)
        assert verdict in player.picture.value


def test_a_formula_of_ones_own() -> None:
    widget = widgets.circuit_playground(graph_of, {"a": "x = 3; f = x*x + x", "b": "x = 2; y = 3; f = x*y"})
    widget.controls["step"].value = 6
    assert "x: value 3 gradient 7" in spoken(widget.picture.value)
    widget.controls["example"].value = "b"
    assert widget.controls["formula"].value == "x = 2; y = 3; f = x*y"
    assert widget.controls["step"].value == 0
    widget.controls["formula"].value = "x = 2; y = 3; z = 4; x*y*z"
    assert widget.controls["step"].max == 10
    widget.controls["step"].value = 10
    assert "x: value 2 gradient 12" in spoken(widget.picture.value)
    widget.controls["formula"].value = "x +"
    assert "no formula" in widget.picture.value
    widget.controls["formula"].value = "x = 1; " + "+".join(["x"] * 60)
    assert "room for 40" in widget.picture.value
    with pytest.raises(ValueError, match="at least one"):
        widgets.circuit_playground(graph_of, {})


# --- gradient descent ----------------------------------------------------------------------------


def descent(**settings):
    slope = widgets.Slope(lambda w: w * w, lambda w: 2 * w, start=2)
    widget = widgets.descent_playground(lambda w, g, rate: w - rate * g, {"valley": slope})
    for name, value in settings.items():
        widget.controls[name].value = value
    return spoken(widget.picture.value)


def test_the_rate_decides() -> None:
    assert "w is 0.70 and the loss 0.49; the loss began at 4.00" in descent(rate=0.05)
    assert "after 1 steps: w = 0.000" in descent(rate=0.5, steps=1)
    assert "w = -2.000, loss 4.0000" in descent(rate=1.0, steps=11)
    assert "w is 475" in descent(rate=1.2, steps=30).replace(",", "") or "diverges" in descent(rate=1.2, steps=30)


def test_a_step_of_ones_own_and_one_that_explodes() -> None:
    slope = widgets.Slope(lambda w: w * w, lambda w: 2 * w, start=2)
    mine = widgets.descent_playground(
        lambda w, g, rate: w - rate * g, {"v": slope}, yours=lambda w, g, rate: w + rate * g
    )
    assert "yours draws another picture" in mine.picture.value
    infinite = widgets.descent_playground(lambda w, g, rate: float("nan"), {"v": slope})
    assert "it diverges" in spoken(infinite.picture.value)


def test_a_curve_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="as many y as x"):
        descent_svg([0, 1], [1], [(0, 1)])
    with pytest.raises(ValueError, match="place visited"):
        descent_svg([0, 1], [0, 1], [])
