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


def test_the_example_of_contributing_works_as_it_stands() -> None:
    """The picture, the widget over it and its test: what a stranger copies first."""
    page = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = page[page.index("## A new picture") : page.index("## A new exercise")]
    examples = [textwrap.dedent(code) for code in re.findall(r"```python\n(.*?)```", part, re.DOTALL)]
    made: dict[str, Any] = {"Callable": Callable, "Sequence": Sequence, **vars(show)}
    for code in examples:
        exec(code, made)
    made["widgets"] = SimpleNamespace(memory_playground=made["memory_playground"])
    made["test_a_gate_of_zero_forgets"]()
    assert not nameless_in_html(made["memory_svg"]([1.0, 0.5], title="a gate"))


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [("0.333", "same"), ("0.334", "same"), ("0.335", "another"), ("0.3333", "same"), ("1", "another")],
)
def test_the_last_digit_does_not_make_another_picture(theirs: str, verdict: str) -> None:
    widget = show.live(
        lambda f: f(), lambda: '<p fill="#333333">0.333</p>', yours=lambda: f'<p fill="#333333">{theirs}</p>'
    )
    assert f"yours draws {'the same' if verdict == 'same' else 'another'} picture" in widget.picture.value
