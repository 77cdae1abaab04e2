"""The board's circuits, drawn; and the curve that follows a training."""

import re
import xml.dom.minidom as xml
from dataclasses import dataclass

import pytest
import torch

from lectures import widgets
from lectures.show import circuit_svg, curve_svg
from nlmcore.autodiff import Value


@pytest.fixture
def board():
    """(x + y) z at (−2, 5, −4)."""
    x, y, z = Value(-2, "x"), Value(5, "y"), Value(-4, "z")
    f = ((x + y).named("q") * z).named("f")
    f.backward()
    return f.graph()


def spoken(drawing: str) -> str:
    return xml.parseString(drawing).documentElement.getAttribute("aria-label")


def test_the_circuit_has_every_number_of_the_board(board) -> None:
    drawing = circuit_svg(board.nodes, board.edges)
    assert spoken(drawing) == (
        "Computational graph. x: value −2 gradient −4; y: value 5 gradient −4; q: value 3 gradient −4;"
        " z: value −4 gradient 3; f: value −12 gradient 1."
    )
    shown = re.findall(r">([−\d.]+)</text>", drawing)
    assert sorted(shown) == sorted(["−2", "−4", "5", "−4", "3", "−4", "−4", "3", "−12", "1"])


def test_it_fills_forward_then_backward(board) -> None:
    assert not re.findall(r">[−\d.]+</text>", circuit_svg(board.nodes, board.edges, forward=0, backward=0))
    half = spoken(circuit_svg(board.nodes, board.edges, forward=3, backward=0))
    assert "q: value 3;" in half
    assert "z:;" in half
    first_back = spoken(circuit_svg(board.nodes, board.edges, backward=1))
    assert "f: value −12 gradient 1" in first_back
    assert "z: value −4;" in first_back


def test_no_two_nodes_share_a_place() -> None:
    a, b = Value(2.0, "a"), Value(3.0, "b")
    out = (a * b + a / b) * (a + b) - a * a
    out.backward()
    graph = out.graph()
    drawing = circuit_svg(graph.nodes, graph.edges)
    places = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawing)
    assert len(places) == len(set(places)) == len(graph.nodes)


def test_the_player_steps_through_it(board) -> None:
    player = widgets.circuit_player(board.nodes, board.edges)
    pictures = []
    for step in range(11):
        player.controls["step"].value = step
        pictures.append(player.picture.value)
    assert len(set(pictures)) == 11, "every step shows something new"


@pytest.mark.parametrize(("arguments", "words"), [({"forward": 6}, "forward"), ({"backward": -1}, "backward")])
def test_steps_that_are_not_there_are_refused(board, arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        circuit_svg(board.nodes, board.edges, **arguments)
    with pytest.raises(ValueError, match="at least one node"):
        circuit_svg([], [])


def test_a_curve_goes_down_when_the_loss_does() -> None:
    drawing = curve_svg([3.0, 2.0, 1.0], {2: 2.5})
    heights = [float(point.split(",")[1]) for point in re.search(r'points="([^"]+)"', drawing)[1].split()]
    assert heights == sorted(heights), "SVG counts downwards"
    assert spoken(drawing).startswith("loss after 3 steps: 1.000; it began at 3.000. Held out")
    assert len(curve_svg([1.0] * 50_000)) < 20_000, "long runs are thinned"
    with pytest.raises(ValueError, match="at least one loss"):
        curve_svg([])


@dataclass
class Record:
    step: int
    loss: float
    validation: float | None = None


def test_the_training_curve_follows_fit() -> None:
    curve = widgets.TrainingCurve(title="nats", every=1000)
    assert "has not begun" in curve.picture.value
    curve(Record(1, 4.0))
    first = curve.picture.value
    assert "nats after 1 steps" in first
    curve(Record(2, 3.0))
    assert curve.picture.value == first, "not redrawn so soon"
    curve(Record(3, 2.0, validation=2.5))
    assert "after 3 steps: 2.000" in curve.picture.value
    assert curve._repr_mimebundle_()["text/html"] == curve.picture.value
    with pytest.raises(ValueError, match="every"):
        widgets.TrainingCurve(every=-1)


def test_the_training_curve_is_what_fit_calls() -> None:
    from nlmcore.recurrent import RecurrentLM
    from nlmcore.training import fit

    curve = widgets.TrainingCurve(every=0)
    tokens = torch.randint(0, 7, (4, 6), generator=torch.Generator().manual_seed(0))
    history = fit(RecurrentLM(7, d_hidden=8), [tokens], steps=5, on_step=curve, progress=False)
    assert curve.losses == history.losses
    assert "after 5 steps" in curve.picture.value
