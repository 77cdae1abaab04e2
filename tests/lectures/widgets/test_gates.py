"""Lines, planes, cliffs and shaded words, and the widgets of lectures 6 and 7 that are made of them."""

from typing import Any

import pytest
import torch

from lectures import show, widgets


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
