"""Lines, planes, cliffs and shaded words, and the widgets of lectures 6 and 7 that are made of them."""

import base64
import math
import re
import struct
from typing import Any

import numpy as np
import pytest
import torch

from lectures import show, widgets


def test_lines_stay_in_their_frame_and_are_told_apart() -> None:
    lines = {"a": [0.0, 1.0, 2.0], "b": [0.0, math.nan, -1.0]}
    picture = show.lines_svg([0, 1, 2], lines, alt="two lines", x_title="t", y_title="y", low=-1, high=2, level=0)
    drawn = re.findall(r'<polyline points="([^"]*)"', picture)
    assert [len(points.split()) for points in drawn] == [3, 2], "what is no number is left out"
    assert 'stroke-dasharray="9 5"' in picture
    assert ">a<" in picture
    assert 'aria-label="two lines"' in picture
    with pytest.raises(ValueError, match=r"line 'a' has shape \(2,\), x has \(3,\)"):
        show.lines_svg([0, 1, 2], {"a": [1, 2]}, alt="x", x_title="", y_title="", low=0, high=1)
    with pytest.raises(ValueError, match="high must be above low"):
        show.lines_svg([0, 1], {"a": [1, 2]}, alt="x", x_title="", y_title="", low=1, high=1)
    with pytest.raises(ValueError, match="alternative text"):
        show.lines_svg([0, 1], {"a": [1, 2]}, alt=" ", x_title="", y_title="", low=0, high=1)


def test_powers_are_written_with_a_raised_number() -> None:
    assert [show.power_of_ten(n) for n in (0, 3, -12)] == ["1", "10³", "10⁻¹²"]


def test_eigenvalues_lie_where_they_should() -> None:
    picture = show.eigenvalues_svg({"λ": [1j, 5.0]}, alt="two", reach=2.0, size=420)
    rings = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="6.5"', picture)[1:]  # the first is the legend's
    (x, y), (far, _) = [(float(a), float(b)) for a, b in rings]
    assert (x, y) == (210.0, 54 + 200 - 100)
    assert far == pytest.approx(210 + 200 * 0.98), "what lies outside is drawn on the edge"
    with pytest.raises(ValueError, match="reach must be above 1"):
        show.eigenvalues_svg({"λ": [1j]}, alt="one", reach=1.0)


def test_words_are_shaded_and_wrapped() -> None:
    picture = show.shaded_words_svg(["dark", "\n", "light"], [1.0, 0.0, 0.1], alt="three", width=400)
    heights = [float(y) for y in re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', picture)]
    assert heights[0] == heights[1] < heights[2], "a line end begins a new line"
    assert "#08306b" in picture
    assert "↵" in picture
    with pytest.raises(ValueError, match="a finite weight per word"):
        show.shaded_words_svg(["a"], [math.nan], alt="x")


def test_the_surface_is_a_whole_png() -> None:
    data = base64.b64decode(show.grey_png(np.array([[0.0, 0.5, 1.0]])).split(",")[1])
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (3, 1)
    surface = show.grey_png(np.zeros((2, 2)))
    picture = show.cliff_svg(surface, (0, 1), (0, 1), {"p": [[0, 0], [1, 1]]}, alt="a path")
    assert "a path" in picture
    with pytest.raises(ValueError, match=r"path 'p' must be \(step, 2\)"):
        show.cliff_svg(surface, (0, 1), (0, 1), {"p": [0, 1]}, alt="x")
    with pytest.raises(ValueError, match="must be two numbers"):
        show.clipped_svg([1, 2, 3], {}, 1.0, alt="x")


def power_norms(W: torch.Tensor, steps: int) -> list[float]:
    return [float(torch.linalg.matrix_norm(torch.linalg.matrix_power(W, t), ord=2)) for t in range(steps + 1)]


def test_powers_of_a_matrix_follow_the_radius() -> None:
    widget = widgets.matrix_powers(
        power_norms, {"I": torch.eye(3)}, steps=10, yours=lambda W, steps: [1.0] * (steps + 1)
    )
    assert f"‖W¹⁰‖ = {0.9**10:.2g}" in widget.picture.value
    assert "yours draws another picture" in widget.picture.value
    widget.controls["radius"].value = 1.0
    assert "yours draws the same picture" in widget.picture.value


def test_jacobians_multiply_from_the_last_step_back() -> None:
    def scaled(U: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        return torch.stack([torch.diag(x) @ U for x in inputs])  # any function of U and the inputs will do

    inputs = torch.tensor([[1.0, 1.0], [3.0, 3.0], [5.0, 5.0]])
    widget = widgets.jacobian_playground(scaled, torch.eye(2), inputs)
    widget.controls["radius"].value, widget.controls["size"].value = 1.0, 1.0
    for distance, product in ((1, 5), (2, 15), (3, 15)):
        widget.controls["distance"].value = distance
        assert f"= {product:.2g};" in widget.picture.value


def test_gradients_of_built_cells_are_cached_and_drawn() -> None:
    calls = []

    def build(name: str, initialisation: str, gain: float):
        return (name, initialisation, gain)

    def norms(cell, inputs: torch.Tensor) -> list[float]:
        calls.append(cell)
        return [cell[2] ** -t for t in range(inputs.shape[1])][::-1]

    widget = widgets.gradient_playground(norms, build, {"RNN": "rnn"}, ["a"], torch.zeros(1, 21, 2), gains=(1.0, 2.0))
    assert len(calls) == 2, "every line once, beforehand"
    widget.controls["gain"].value = 2.0
    widget.controls["length"].value = 11
    assert len(calls) == 2
    assert f"at distance 10: a: {2.0**-10:.1e}" in widget.picture.value


def by_norm(gradients: list[torch.Tensor], n_max: float) -> list[torch.Tensor]:
    norm = torch.cat(gradients).norm()
    return [g * n_max / norm for g in gradients] if norm > n_max else gradients


def each(gradients: list[torch.Tensor], n_max: float) -> list[torch.Tensor]:
    return [g.clamp(-n_max, n_max) for g in gradients]


def test_clipping_is_drawn_as_it_is_done() -> None:
    def per_parameter(gradients: list[torch.Tensor], n_max: float) -> list[torch.Tensor]:
        return [by_norm([g], n_max)[0] for g in gradients]

    widget = widgets.clipping_playground(by_norm, {"each entry": each}, yours=per_parameter)
    assert "by its norm: length 1.00, direction 20°" in widget.picture.value
    assert "each entry: length 1.41, direction 45°" in widget.picture.value
    assert "yours draws another picture" in widget.picture.value
    nothing = widgets.clipping_playground(lambda gradients, n_max: None, {})
    assert "as many gradients as it is given" in nothing.picture.value
    longer = widgets.clipping_playground(lambda gradients, n_max: [torch.ones(3) for _ in gradients], {})
    assert "must keep its shape, here (1,) each: shapes (3,), (3,)" in longer.picture.value


def test_descent_follows_the_gradient() -> None:
    def bowl(w, b):
        return 0.5 * (w**2 + b**2), w, b

    widget = widgets.cliff_playground(
        by_norm, bowl, {"not clipped": lambda g, n: g}, start=(2.0, 0.0), w_range=(-3.0, 3.0), b_range=(-3.0, 3.0)
    )
    widget.controls["step"].value = 1
    assert "clipped by its norm: loss 1.4450 at w = 1.70" in widget.picture.value
    assert "not clipped: loss 0.0000 at w = 0.00" in widget.picture.value


def mix(h, r, g):
    return g * h + (1 - g) * r


def test_a_gate_keeps_its_power_of_a_memory() -> None:
    widget = widgets.gate_playground(mix, yours=lambda h, r, g: mix(h, r, 1 - g))
    assert f"after 10 steps {0.9**10:.3g} is left" in widget.picture.value
    assert "half of a memory is gone: 6.6 steps" in widget.picture.value
    assert "yours draws another picture" in widget.picture.value, "g and 1 − g exchanged"
    widget.controls["gate"].value = 0.5
    assert "yours draws the same picture" in widget.picture.value
    for gate, words in ((0.0, "at once"), (1.0, "never")):
        widget.controls["gate"].value = gate
        assert f"half of a memory is gone: {words}" in widget.picture.value


PARTS = (
    show.Part("h", 0, 0, "h", kind="state"),
    show.Part("x", 0, 1, "x", kind="state"),
    show.Part("G", 1, 0, "G", ("h", "x"), "gate"),
    show.Part("new h", 2, 0, "h'", ("G",), "state"),
)
FORMULAS = {"G": "({h}) + ({x})", "new h": "2·{G}"}


def test_a_cell_fills_box_by_box() -> None:
    def step(x: float, h: float) -> dict[str, float]:
        return {"G": h + x, "new h": 2 * (h + x)}

    player = widgets.cell_player(step, PARTS, FORMULAS, title="sum", yours=lambda x, h: {"G": h + x, "new h": h + x})
    assert "only the inputs are known" in player.picture.value
    assert "1.500" not in player.picture.value
    player.controls["done"].value = 1
    assert "(0.500) + (1.000) = 1.500" in player.picture.value
    assert "yours draws the same picture" in player.picture.value
    player.controls["done"].value = 2
    assert "2·1.500 = 3.000" in player.picture.value
    assert "yours draws another picture" in player.picture.value
    player.controls["x"].value = -1.0
    assert "2·−0.500 = −1.000" in player.picture.value
    lacking = widgets.cell_player(lambda x, h: {"G": h}, PARTS, FORMULAS, title="sum")
    assert "must give every number by name" in lacking.picture.value

    def unnamed(x: float, h: float) -> Any:
        return x + h

    number = widgets.cell_player(unnamed, PARTS, FORMULAS, title="sum")
    assert "must return a dictionary of its numbers by name, not float" in number.picture.value


@pytest.mark.parametrize("name", list(show.CIRCUITS))
def test_circuits_read_only_what_is_there(name: str) -> None:
    parts = show.CIRCUITS[name]
    picture = show.cell_svg(parts, {part.name: 0.25 for part in parts}, alt=name)
    assert picture.count(">0.250<") == len(parts)
    before: set[str] = set()
    for part in parts:
        assert set(part.reads) <= before, "in the order of computing"
        before.add(part.name)
    with pytest.raises(ValueError, match="which is no part of the circuit"):
        show.cell_svg(parts[1:], {}, alt=name)


def test_a_unit_over_a_text() -> None:
    text = "a<b\n"
    values = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.0, 0.0]])
    explorer = widgets.unit_explorer(text, {"gate": values, "other": 1 - values})
    assert "&lt;" in explorer.picture.value
    first = explorer.picture.value
    explorer.controls["flip"].value = True
    assert explorer.picture.value != first
    explorer.controls["unit"].value = 1
    assert "unit 1, gate" in explorer.picture.value
    with pytest.raises(ValueError, match="a row per character"):
        widgets.unit_explorer("abc", {"gate": values})
    with pytest.raises(ValueError, match="a finite weight per character"):
        show.shaded_text_html("abc", [0.0], alt="x")
    with pytest.raises(ValueError, match="alternative text"):
        show.shaded_text_html("a", [0.0], alt="")
