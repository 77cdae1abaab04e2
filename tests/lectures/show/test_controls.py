"""Widgets without a browser: controls are moved from Python, the picture must follow."""

import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pytest

from lectures import show, widgets
from tests.pictures import nameless_in_html


def test_the_picture_follows_a_control() -> None:
    widget = widgets.live(lambda n: f"<b>{n}</b>", n=ipywidgets.IntSlider(3))
    assert widget.picture.value == "<b>3</b>"
    widget.controls["n"].value = 5
    assert widget.picture.value == "<b>5</b>"


def test_a_widget_opens_with_what_the_text_is_about() -> None:
    widget = widgets.live(
        lambda n, way: f"{n} {way}", n=show.slider(3, 1, 9, 1, "n"), way=show.choice(["up", "down"])
    ).opens(n=5, way="down")
    assert widget._repr_mimebundle_()["text/html"] == "5 down"
    for wrong in ({"n": 10}, {"way": "sideways"}, {"m": 1}):
        with pytest.raises(ValueError, match=r"opens must name|has no value"):
            widget.opens(**wrong)


def test_a_value_that_cannot_be_drawn_is_explained_in_the_pictures_place() -> None:
    def draw(n: int) -> str:
        if n > 3:
            raise ValueError("n must be <= 3")
        return "fine"

    widget = widgets.live(draw, n=ipywidgets.IntSlider(3))
    widget.controls["n"].value = 4
    assert "n must be &lt;= 3" in widget.picture.value
    widget.controls["n"].value = 2
    assert widget.picture.value == "fine"


def test_without_a_kernel_the_picture_is_shown() -> None:
    widget = widgets.live(lambda n: f"<svg>{n}</svg>", n=ipywidgets.IntSlider(3))
    assert widget._repr_mimebundle_()["text/html"] == "<svg>3</svg>"


def test_rows_must_name_each_control_once() -> None:
    with pytest.raises(ValueError, match="once"):
        widgets.live(lambda n: "", rows=[["n"], ["n"]], n=ipywidgets.IntSlider(3))


def test_a_play_button_moves_the_slider_it_is_named_for() -> None:
    widget = widgets.live(
        lambda n, m: f"{n} {m}", play="n", n=widgets.slider(3, 1, 9, 1, "n"), m=ipywidgets.IntSlider(1)
    )
    play, n, _ = widget.children[0].children[0].children
    assert isinstance(play, ipywidgets.Play)
    assert n is widget.controls["n"]
    assert (play.min, play.max, play.value, play.interval) == (1, 9, 3, 1000)
    steps = ipywidgets.SelectionSlider(options=[1, 10, 100], value=10)
    play = widgets.live(lambda at: f"{at}", play="at", at=steps).children[0].children[0].children[0]
    assert (play.min, play.max, play.value) == (0, 2, 1)
    with pytest.raises(ValueError, match="play must name a control"):
        widgets.live(lambda n: "", play="m", n=ipywidgets.IntSlider(3))


def test_the_example_of_contributing_works_as_it_stands() -> None:
    """The picture, the widget over it and its test: what a stranger copies first."""
    page = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = page[page.index("## A new picture") : page.index("## A new experiment")]
    examples = [textwrap.dedent(code) for code in re.findall(r"```python\n(.*?)```", part, re.DOTALL)]
    made: dict[str, Any] = {"Callable": Callable, "Sequence": Sequence, **vars(show)}
    for code in examples:
        exec(code, made)
    made["widgets"] = SimpleNamespace(memory_playground=made["memory_playground"])
    made["test_a_gate_of_zero_forgets"]()
    assert not nameless_in_html(made["fading_svg"]([1.0, 0.5], title="a gate"))
    own = {name for code in examples for name in re.findall(r"^def (\w+)", code, re.M)}
    for path in (Path(__file__).parents[3] / "lectures" / "widgets").glob("*.py"):  # into any of which it may be put
        assert not own & set(re.findall(r"^def (\w+)", path.read_text(encoding="utf-8"), re.M)), path


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [("0.333", "same"), ("0.334", "same"), ("0.335", "different"), ("0.3333", "same"), ("1", "different")],
)
def test_the_last_digit_does_not_make_a_different_picture(theirs: str, verdict: str) -> None:
    widget = show.live(
        lambda f: f(), lambda: '<p fill="#333333">0.333</p>', yours=lambda: f'<p fill="#333333">{theirs}</p>'
    )
    assert f"yours draws {'the same' if verdict == 'same' else 'a different'} picture" in widget.picture.value


def test_no_module_of_a_lecture_hides_what_all_of_them_use() -> None:
    """`from … import *` also takes a package's modules: one named `live` would replace the function."""
    modules = [name for name in show.controls.__all__ if getattr(widgets, name) is not getattr(show, name)]
    assert not modules
