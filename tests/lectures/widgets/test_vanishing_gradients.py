"""Lines, planes, cliffs and shaded words, and the widgets made of them."""

import base64
import re
import struct

import numpy as np
import pytest
import torch

from lectures import widgets
from lectures.widgets.vanishing_gradients import cliff_svg, clipped_svg, eigenvalues_svg, grey_png
from tests.lectures.seen import seen


def test_eigenvalues_lie_where_they_should() -> None:
    picture = eigenvalues_svg({"λ": [1j, 5.0]}, alt="two", reach=2.0, size=420)
    rings = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="6.5"', picture)[1:]  # the first is the legend's
    (x, y), (far, _) = [(float(a), float(b)) for a, b in rings]
    assert (x, y) == (210.0, 30 + 200 - 100)
    assert far == pytest.approx(210 + 200 * 0.98), "what lies outside is drawn on the edge"
    with pytest.raises(ValueError, match="reach must be above 1"):
        eigenvalues_svg({"λ": [1j]}, alt="one", reach=1.0)


def test_the_surface_is_a_whole_png() -> None:
    data = base64.b64decode(grey_png(np.array([[0.0, 0.5, 1.0]])).split(",")[1])
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (3, 1)
    surface = grey_png(np.zeros((2, 2)))
    picture = cliff_svg(surface, (0, 1), (0, 1), {"p": [[0, 0], [1, 1]]}, alt="a path")
    assert "a path" in picture
    with pytest.raises(ValueError, match=r"path 'p' must be \(step, 2\)"):
        cliff_svg(surface, (0, 1), (0, 1), {"p": [0, 1]}, alt="x")
    with pytest.raises(ValueError, match="must have two entries"):
        clipped_svg([1, 2, 3], {}, 1.0, alt="x")


def power_norms(W: torch.Tensor, steps: int) -> list[float]:
    return [float(torch.linalg.matrix_norm(torch.linalg.matrix_power(W, t), ord=2)) for t in range(steps + 1)]


def test_powers_of_a_matrix_follow_the_radius() -> None:
    widget = widgets.matrix_powers(
        power_norms, {"I": torch.eye(3)}, steps=10, yours=lambda W, steps: [1.0] * (steps + 1)
    )
    assert f"‖U¹⁰‖ = {0.9**10:.2g}" in seen(widget)
    assert "yours draws a different picture" in seen(widget)
    assert "yours draws the same picture" in seen(widget, radius=1.0)


def test_jacobians_multiply_from_the_last_step_back() -> None:
    def scaled(U: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        return torch.stack([torch.diag(x) @ U for x in inputs])  # any function of U and the inputs will do

    inputs = torch.tensor([[1.0, 1.0], [3.0, 3.0], [5.0, 5.0]])
    widget = widgets.jacobian_playground(scaled, torch.eye(2), inputs)
    for distance, product in ((1, 5), (2, 15), (3, 15)):
        assert f"= {product:.2g};" in seen(widget, radius=1.0, size=1.0, distance=distance)


def test_gradients_of_built_cells_are_cached_and_drawn() -> None:
    calls = []

    def build(name: str, initialisation: str, gain: float):
        return (name, initialisation, gain)

    def norms(cell, inputs: torch.Tensor) -> list[float]:
        calls.append(cell)
        return [cell[2] ** -t for t in range(inputs.shape[1])][::-1]

    widget = widgets.gradient_playground(norms, build, {"RNN": "rnn"}, ["a"], torch.zeros(1, 21, 2), gains=(1.0, 2.0))
    assert len(calls) == 2, "every line once, beforehand"
    assert f"at distance 10: a: {2.0**-10:.1e}" in seen(widget, gain=2.0, length=11)
    assert len(calls) == 2


def by_norm(gradients: list[torch.Tensor], n_max: float) -> list[torch.Tensor]:
    norm = torch.cat(gradients).norm()
    return [g * n_max / norm for g in gradients] if norm > n_max else gradients


def each(gradients: list[torch.Tensor], n_max: float) -> list[torch.Tensor]:
    return [g.clamp(-n_max, n_max) for g in gradients]


def test_clipping_is_drawn_as_it_is_done() -> None:
    def per_parameter(gradients: list[torch.Tensor], n_max: float) -> list[torch.Tensor]:
        return [by_norm([g], n_max)[0] for g in gradients]

    widget = widgets.clipping_playground(by_norm, {"each entry": each}, yours=per_parameter)
    assert "by its norm: length 1.00, direction 20°" in seen(widget)
    assert "each entry: length 1.41, direction 45°" in seen(widget)
    assert "yours draws a different picture" in seen(widget)
    nothing = widgets.clipping_playground(lambda gradients, n_max: None, {})
    assert "as many gradients as it receives" in seen(nothing)
    longer = widgets.clipping_playground(lambda gradients, n_max: [torch.ones(3) for _ in gradients], {})
    assert "must keep its shape, here (1,) each, got shapes (3,), (3,)" in seen(longer)


def test_descent_follows_the_gradient() -> None:
    def bowl(w, b):
        return 0.5 * (w**2 + b**2), w, b

    widget = widgets.cliff_playground(
        by_norm, bowl, {"not clipped": lambda g, n: g}, start=(2.0, 0.0), w_range=(-3.0, 3.0), b_range=(-3.0, 3.0)
    )
    assert "clipped by its norm: loss 1.4450 at w = 1.70" in seen(widget, step=1)
    assert "not clipped: loss 0.0000 at w = 0.00" in seen(widget)
