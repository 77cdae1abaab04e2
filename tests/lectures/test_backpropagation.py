"""What the functions and circuits of the lecture `backpropagation` must do."""

import pytest


def test_the_first_circuit(ran: dict) -> None:
    found = {node.label: (node.value, node.grad) for node in ran["first"].nodes}
    assert found == {"x": (-2, -4), "y": (5, -4), "q": (3, -4), "z": (-4, 3), "f": (-12, 1)}


def test_the_surprise_of_a_sigmoid(ran: dict) -> None:
    surprise = ran["build"]("a = 1; p = sigmoid(a); L = -log(p)")
    assert surprise.nodes[0].grad == pytest.approx(surprise.nodes[1].value - 1)


def test_the_gradients_are_pytorchs(ran: dict, printed: dict) -> None:
    assert ran["check"].error < 1e-9
    assert printed["class Sigmoid(torch.autograd.Function):"].strip().endswith("True")
    said = printed["draw = np.random.default_rng(0)"]
    assert said.count("True") == 4
    assert "False" not in said
    assert "nan" in str(ran["unshifted"])


def test_now_you_begins_right(ran: dict) -> None:
    assert "yours draws the same picture" in ran["player"].picture.value


def test_the_broken_backward_passes_of_the_note(ran: dict) -> None:
    nodes, edges = ran["twice"].nodes, ran["twice"].edges
    assert ran["my_backward"](nodes, edges) == [node.grad for node in nodes]
    overwritten, forward = ([0.0] * (len(nodes) - 1) + [1.0] for _ in range(2))
    for edge in sorted(edges, key=lambda edge: -edge.target):
        overwritten[edge.source] = overwritten[edge.target] * edge.local
    for edge in sorted(edges, key=lambda edge: edge.target):
        forward[edge.source] += forward[edge.target] * edge.local
    assert (overwritten[0], forward[0]) == (8, 0), "as the note says"
