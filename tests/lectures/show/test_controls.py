"""Widgets without a browser: controls are moved from Python, the picture must follow."""

import ipywidgets
import pytest

from lectures import widgets


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
