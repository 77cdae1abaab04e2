"""The numbers that the lecture\'s prose quotes are those that its own cells compute."""

import math

import numpy as np
import pytest


def test_one_neuron_does_and_and_or_and_never_xor(ran: dict, prose: str) -> None:
    corners, neuron, tasks = ran["corners"], ran["perceptron"], ran["tasks"]
    assert "Weights 1 and 1 solve AND with a bias of −1.5 and OR with a bias of −0.5" in prose
    for task, bias in (("AND", -1.5), ("OR", -0.5)):
        assert neuron(corners, np.array([1.0, 1.0]), bias).tolist() == tasks[task]
    rounds = [ran["learn"](tasks[task])[0] for task in ("AND", "OR", "XOR")]
    assert rounds == [6, 4, None]
    assert "AND takes six rounds, OR takes four. For XOR a thousand rounds are not enough" in prose
    best = 0
    for w1, w2, b in np.random.default_rng(0).normal(size=(3000, 3)):
        best = max(best, int((neuron(corners, np.array([w1, w2]), b) == tasks["XOR"]).sum()))
    assert best == 3
    assert "never more than three of four" in prose


def test_the_network_made_by_hand(ran: dict, prose: str) -> None:
    assert ran["by_hand_xor"](ran["corners"]).tolist() == [0, 1, 1, 0]
    assert "0, 1, 1, 0. Each hidden neuron draws one line" in prose


def test_the_slope_of_the_sigmoid(ran: dict, prose: str) -> None:
    assert ran["slope"].max() == 0.25
    assert "0.25, at $x = 0$. Beyond ±5 it is below 0.01" in prose
    assert ran["slope"][np.abs(ran["xs"]) >= 5].max() < 0.01


def test_parameters_are_counted(ran: dict, prose: str) -> None:
    assert ran["parameters"] == 41
    assert "= 32$ weights and $4 + 4 + 1 = 9$ biases, 41 parameters" in prose


def test_the_first_circuit(ran: dict, prose: str) -> None:
    found = {node.label: (node.value, node.grad) for node in ran["first"].nodes}
    assert found == {"x": (-2, -4), "y": (5, -4), "q": (3, -4), "z": (-4, 3), "f": (-12, 1)}
    assert "$q = 3$, $f = -12$" in prose
    assert "$\\partial f/\\partial z = q = 3$ and $\\partial f/\\partial q = z = -4$" in prose
    assert "$\\partial f/\\partial x = \\partial f/\\partial y = -4 \\times 1 = -4$" in prose


def test_the_logistic_neuron(ran: dict, prose: str) -> None:
    assert round(ran["neuron"].data, 2) == 0.73
    rounded = {name: round(g, 1) for name, g in ran["gradients"].items()}
    assert rounded == {"w0": -0.2, "x0": 0.4, "w1": -0.4, "x1": -0.6, "w2": 0.2}
    assert "$w_0$: −0.2, $x_0$: 0.4, $w_1$: −0.4, $x_1$: −0.6, $w_2$: 0.2" in prose
    one = {node.label: node.grad for node in ran["one_node"].nodes if node.label and not node.op}
    assert one == pytest.approx(ran["gradients"])
    assert "$(1 - 0.73) \\cdot 0.73 = 0.20$" in prose
    assert round((1 - 0.73) * 0.73, 2) == 0.20


def test_paths_add_up(ran: dict, prose: str) -> None:
    graph = ran["build"]("x = 3; f = x*x + x")
    assert sorted(edge.message for edge in graph.edges if edge.source == 0) == [1, 3, 3]
    assert graph.nodes[0].grad == 7
    assert "Together $7 = 2x + 1$" in prose
    surprise = ran["build"]("a = 1; p = sigmoid(a); L = -log(p)")
    assert surprise.nodes[0].grad == pytest.approx(surprise.nodes[1].value - 1)
    assert ran["seen"] == [7.0, 14.0]
    assert "7, then 14." in prose


def test_which_step_is_best(ran: dict, prose: str) -> None:
    one, central = (
        dict(zip(ran["powers"].tolist(), ran[name], strict=True)) for name in ("one_sided_error", "central_error")
    )
    best_one, best_central = min(one, key=one.get), min(central, key=central.get)
    assert best_one in (7, 8)
    assert best_central in (4, 5, 6)
    assert "The one-sided quotient is best near $10^{-7}$ or $10^{-8}$, the central one near $10^{-5}$" in prose
    assert one[best_one] > 100 * central[best_central], "'hundreds of times more accurate'"
    assert min(one[15], central[15]) > 0.1 * abs(ran["true"]), "'more than a tenth of the gradient'"
    assert one[1] / one[2] == pytest.approx(10, rel=0.2), "'proportional to h'"
    assert central[1] / central[2] == pytest.approx(100, rel=0.2), "'to h²'"
    assert ran["check"].error < 1e-9


def test_what_is_saved(ran: dict, prose: str, printed: dict) -> None:
    assert "written out: 2   one node: 1" in printed["def saved(function, x):"]
    assert "It keeps two for the four operations and one for our node." in prose
    assert printed["class Sigmoid(torch.autograd.Function):"].strip().endswith("True")
    import torch

    x = torch.tensor(-800.0, dtype=torch.float64)
    assert torch.isinf(-torch.log(1 / (1 + torch.exp(-x))))
    assert -torch.nn.functional.logsigmoid(x) == 800


def test_the_layer_by_hand_is_pytorchs(ran: dict, prose: str, printed: dict) -> None:
    said = printed["draw = np.random.default_rng(0)"]
    assert said.count("True") == 4
    assert "False" not in said
    wrong = ran["wrong"]
    off = {name: gradient / ran["right"] for name, gradient in wrong.items() if gradient.shape == ran["right"].shape}
    assert list(off) == ["1 no mean", "3 slope at h"], "1 and 3 have the right shape"
    assert off["1 no mean"] == pytest.approx(len(ran["X"])), "'is B times too long'"
    assert np.ptp(off["3 slope at h"]) > 0.1, "'points in a different direction'"
    assert "1 and 3 raise no error and have the right shape" in prose
    assert "nan" in printed["for name, gradient in wrong.items():"]


def test_the_rates(ran: dict, prose: str) -> None:
    def end(name: str, rate: float, steps: int) -> float:
        slope = ran["slopes"][name]
        w = float(slope.start)
        for _ in range(steps):
            w = ran["step"](w, slope.gradient(w), rate)
        return w

    assert end("one valley", 0.5, 1) == 0
    assert round(end("one valley", 0.05, 10), 2) == 0.70
    assert "At 0.05 it reaches 0.70 after ten steps" in prose
    assert abs(end("one valley", 1.0, 11)) == 2
    assert abs(end("one valley", 1.01, 30)) > 2 > abs(end("one valley", 0.99, 30))
    assert abs(end("a steep valley", 0.125, 1)) < 1e-12, "'at a quarter of the rate'"
    assert [end("two valleys", rate, 30) > 0 for rate in (0.03, 0.12, 0.13)] == [True, True, False]
    assert "up to a rate of 0.12 it settles in the nearer one" in prose
    assert ran["slopes"]["two valleys"].loss(-1.0356) < ran["slopes"]["two valleys"].loss(0.9601), "the other is deeper"


def test_how_many_learn_xor(ran: dict, prose: str) -> None:
    shares = {hidden: solved.mean() for hidden, solved in ran["solved"].items()}
    assert shares[1] == 0
    assert 0.70 < shares[2] < 0.80
    assert shares[8] == 1
    assert "none of the networks learns XOR, with two about three in four do, with eight all do" in prose


def test_the_stuck_network(ran: dict, prose: str) -> None:
    targets = np.array(ran["tasks"]["XOR"])

    def loss(run: str, moment: int) -> float:
        p = ran["runs"][run][moment](ran["corners"])
        return float(-np.log(np.where(targets, p, 1 - p)).mean())

    assert f"{loss('2 hidden, stuck', 2000):.3f}" == "0.348"
    assert "stays at 0.348, about half of $\\ln 2 = 0.693$" in prose
    assert round(math.log(2), 3) == 0.693
    p = ran["runs"]["2 hidden, stuck"][2000](ran["corners"])
    assert sorted(np.abs(p - 0.5).round(2)) == [0.0, 0.0, 0.5, 0.5], "confident at two corners, 0.50 at the others"
    undecided = np.abs(p - 0.5) < 0.01
    assert (ran["h"][undecided] > 0.999).all(), "'at those two corners both output 1'"
    assert f"{loss('2 hidden', 150):.3f}" == "0.693"
    assert "nothing visible for 150 steps; its loss is 0.693" in prose
    assert f"At 400 its loss is {loss('2 hidden', 400):.3f}" in prose
    assert round(loss("1 hidden", 2000), 3) == 0.693
    band = ran["runs"]["8 hidden"][2000](np.array([[0.5, 0.5], [0.0, 1.0], [2.0, 2.0]]))
    assert (band < 0.5).tolist() == [True, False, True], "'the band they learned is orange and crosses ours'"
    assert ran["by_hand_xor"](np.array([[0.5, 0.5], [2.0, 2.0]])).tolist() == [1, 0]


def test_now_you_begins_right(ran: dict) -> None:
    assert "yours draws the same picture" in ran["player"].picture.value


def test_the_broken_backward_passes_of_the_note(ran: dict, prose: str) -> None:
    nodes, edges = ran["twice"].nodes, ran["twice"].edges
    right = ran["my_backward"](nodes, edges)
    assert right == [node.grad for node in nodes]
    overwritten, forward = ([0.0] * (len(nodes) - 1) + [1.0] for _ in range(2))
    for edge in sorted(edges, key=lambda edge: -edge.target):
        overwritten[edge.source] = overwritten[edge.target] * edge.local
    for edge in sorted(edges, key=lambda edge: edge.target):
        forward[edge.source] += forward[edge.target] * edge.local
    assert f"the right one is {right[0]:.0f}. With `=` it is {overwritten[0]:.0f}, because" in prose
    assert f"in forward order it is {forward[0]:.0f}, because" in prose
