"""Lines, planes, cliffs and shaded words, and the widgets made of them."""

import math
import re

import pytest

from lectures import show
from lectures.show import marked_words_html, pieces_html, surprise_svg


def test_words_are_shaded_and_wrapped() -> None:
    picture = show.shaded_words_svg(["dark", "\n", "light"], [1.0, 0.0, 0.1], alt="three", width=400)
    heights = [float(y) for y in re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', picture)]
    assert heights[0] == heights[1] < heights[2], "a line end begins a new line"
    assert "#08306b" in picture
    assert "↵" in picture
    with pytest.raises(ValueError, match="a finite weight per word"):
        show.shaded_words_svg(["a"], [math.nan], alt="x")


def test_a_line_of_surprise_breaks_at_a_space() -> None:
    drawing = surprise_svg("to be up", [1.0] * 5 + [math.nan] * 3, alt="a line", per_line=4)
    rows = {float(y) for y in re.findall(r'<rect x="0.0" y="([\d.]+)"', drawing)}
    assert len(rows) == 3, "'to ', 'be ', 'up'"
    assert drawing.count("#e4e4e4") == 3, "given characters are grey"
    with pytest.raises(ValueError, match="one number per character"):
        surprise_svg("abc", [1.0], alt="a line")


def test_marked_words_refuse_a_mark_without_a_name() -> None:
    assert "&lt;b&gt;" in marked_words_html(["<b>"], [0], ["run of 1"], alt="words")
    with pytest.raises(ValueError, match="mark from 0 to 0"):
        marked_words_html(["a"], [1], ["run of 1"], alt="words")


def test_pieces_are_boxes_and_spaces_are_seen() -> None:
    drawing = pieces_html([["to"], [" b", "e"]], alt="pieces", framed=["e"])
    assert re.findall(r'border-radius:3px">([^<]+)</span>', drawing) == ["to", "␣b", "e"]
    assert drawing.count("#D55E00") == 1
    with pytest.raises(ValueError, match="at least one piece"):
        pieces_html([[]], alt="pieces")
