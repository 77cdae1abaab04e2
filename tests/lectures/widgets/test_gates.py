"""Lines, planes, cliffs and shaded words, and the widgets made of them."""

import html
import re
from typing import Any

import pytest
import torch

from lectures import show, widgets
from nlmcore.recurrent import LSTMCell
from tests.lectures.seen import seen


def mix(h, r, g):
    return g * h + (1 - g) * r


def test_a_gate_keeps_its_power_of_a_memory() -> None:
    widget = widgets.gate_playground(mix, yours=lambda h, r, g: mix(h, r, 1 - g))
    assert f"after 10 steps {0.9**10:.3g} is left" in seen(widget)
    assert "the half-life is 6.6 steps" in seen(widget)
    assert "yours draws a different picture" in seen(widget), "g and 1 − g exchanged"
    assert "yours draws the same picture" in seen(widget, gate=0.5)
    for gate, words in ((0.0, "zero"), (1.0, "infinite")):
        assert f"the half-life is {words}" in seen(widget, gate=gate)


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
    assert "only the inputs are known" in seen(player)
    assert "1.500" not in seen(player)
    assert "(0.500) + (1.000) = 1.500" in seen(player, done=1)
    assert "yours draws the same picture" in seen(player)
    assert "2·1.500 = 3.000" in seen(player, done=2)
    assert "yours draws a different picture" in seen(player)
    assert "2·−0.500 = −1.000" in seen(player, x=-1.0)
    lacking = widgets.cell_player(lambda x, h: {"G": h}, PARTS, FORMULAS, title="sum")
    assert "must return every value by name" in seen(lacking)

    def unnamed(x: float, h: float) -> Any:
        return x + h

    number = widgets.cell_player(unnamed, PARTS, FORMULAS, title="sum")
    assert "must return a dictionary of its values by name, not float" in seen(number)


def test_a_unit_over_a_text() -> None:
    text = "a<b\n"
    values = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.0, 0.0]])
    explorer = widgets.unit_explorer(text, {"gate": values, "other": 1 - values})
    assert "&lt;" in seen(explorer)
    assert seen(explorer) != seen(explorer, flip=True)
    assert "unit 1, gate" in seen(explorer, unit=1)
    with pytest.raises(ValueError, match="a row per character"):
        widgets.unit_explorer("abc", {"gate": values})
    with pytest.raises(ValueError, match="a finite weight per character"):
        show.shaded_text_html("abc", [0.0], alt="x")
    with pytest.raises(ValueError, match="alternative text"):
        show.shaded_text_html("a", [0.0], alt="")


def cell_and_gates(n: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(3)
        run = LSTMCell(2, 4).unroll(3 * torch.randn(1, n, 2))
    return run.states[1][0], {name: values[0] for name, values in run.gates.items()}


def test_a_cell_state_goes_through_a_text_as_the_network_computed_it() -> None:
    text = "to be or not to be, that is the question"
    c, gates = cell_and_gates(len(text))
    player = widgets.memory_player(text, gates, unit=2, start=3, length=34)
    for t in (0, 20, 33):
        now = 3 + t
        shown = html.unescape(seen(player, t=t))
        i, f, g, o = (float(gates[name][now, 2]) for name in ("input", "forget", "candidate", "output"))
        told = f"{f:.2f} · ({c[now - 1, 2]:.2f}) + {i:.2f} · ({g:.2f}) = {c[now, 2]:.2f};"
        assert told.replace("-", "−") in shown
        assert f"= {o * float(torch.tanh(c[now, 2])):.2f}".replace("-", "−") in shown.rsplit("<p", 1)[1]
        assert f"at character {t + 1} of 34" in shown
    letters = "".join(re.findall(r"<text[^>]*space[^>]*>([^<]*)</text>", seen(player)))
    assert letters == text[7:37].replace(" ", "␣"), "the window has moved with the text"
    with pytest.raises(ValueError, match="a row per character"):
        widgets.memory_player(text + "?", gates)
    with pytest.raises(ValueError, match="within the text of 40"):
        widgets.memory_player(text, gates, start=30, length=20)


def test_the_road_is_as_wide_as_the_cell_state_and_closed_by_the_forget_gate() -> None:
    gates = {name: torch.zeros(3, 1) for name in ("forget", "input", "candidate", "output")}
    gates["input"][0], gates["candidate"][0] = 1.0, -0.5
    gates["forget"][1] = 1.0
    player = widgets.memory_player("abc", gates)
    widths = [re.findall(r'height="([\d.]+)" fill="#0072B2"/>', seen(player, t=t)) for t in range(3)]
    assert "c[t] = f · c[t−1] + i · g = 0.00 · (−0.50) + 0.00 · (0.00) = 0.00" in seen(player)
    assert "The forget gate is closed" in seen(player)
    assert [len(w) for w in widths] == sorted(len(w) for w in widths)
    assert "68.0" in widths[0], "the only memory takes the whole road"
