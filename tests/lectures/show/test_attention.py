"""Pictures: every one says in words what it shows, labels fit, and wrong input is refused in words."""

import re
import xml.dom.minidom as xml

import numpy as np
import pytest

from lectures import show
from lectures.show.attention import _levels
from lectures.widgets.attention import plane_svg, softmax_svg

WORDS = ["the", "<cat>", 'sat "down"']
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.01, 0.99, 0.0], [0.3, 0.3, 0.4]])

DRAWINGS = {
    "lines": show.attention_lines_svg(WEIGHTS, WORDS, selected=1),
    "heatmap": show.heatmap_svg(WEIGHTS, WORDS, WORDS, alt="three words", numbers=True, highlight=0, title="t"),
    "softmax": softmax_svg([1.0, -2.0], [0.9, 0.1], ["a", "<b>"], extra="sum"),
    "plane": plane_svg([1, 0], [[0.5, 1], [-1, 0]], [0.9, 0.1], [0.4, 0.9], ["a", "<b>"], title="dot"),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_well_formed_and_spoken(name: str) -> None:
    root = xml.parseString(DRAWINGS[name]).documentElement
    assert root.getAttribute("role") == "img"
    assert len(root.getAttribute("aria-label")) > 10


def test_attention_in_words() -> None:
    assert "&lt;cat&gt; looks most at &lt;cat&gt;, weight 0.99" in DRAWINGS["lines"]
    assert "the looks most" not in DRAWINGS["lines"], "only the selected row is spoken"


def test_the_selected_row_and_no_other_is_put_forward() -> None:
    rows = re.findall(r'<g class="(row(?: on)?)">', DRAWINGS["lines"])
    assert rows == ["row", "row on", "row"]


def test_lines_are_as_thick_as_their_weights() -> None:
    widths = [float(w) for w in re.findall(r'stroke-width="([\d.]+)" stroke-opacity', DRAWINGS["lines"])]
    shown = [w for w in WEIGHTS.flatten() if w >= 0.02]
    assert widths == pytest.approx([0.5 + 7 * w for w in shown], abs=0.01)


def test_the_frames_are_where_the_weight_is() -> None:
    weights = np.array([[0.02, 0.08], [0.9, 0.0]])
    picture = show.scene_svg(np.eye(4), [("one", weights)], title="a diagonal", note="one word")
    assert picture.count('stroke="#D55E00"') == 2, "weights below 0.05 have no frame"
    assert 'aria-label="a diagonal. one: most weight, 0.90, on row 2, column 1. one word"' in picture
    assert picture.count("<image") == 2


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="matrices"):
        show.scene_svg(np.zeros(4), [])
    with pytest.raises(ValueError, match="matrices"):
        show.scene_svg(np.eye(4), [("one", np.zeros(3))])


def test_strong_edges_are_kept_and_marks_are_left_out() -> None:
    weights = [[0.1, 0.9, 0.0], [0.5, 0.2, 0.3], [0.7, 0.3, 0.0]]
    edges = show.strongest_edges(weights, at_least=0.3, skip=[0])
    assert [(e.reads, e.read, e.label) for e in edges] == [(1, 2, "0.30"), (2, 1, "0.30")]
    with pytest.raises(ValueError, match="query, key"):
        show.strongest_edges([0.5, 0.5])


def test_an_edge_runs_above_the_shorter_ones_under_it() -> None:
    pairs = [(0, 5), (1, 2), (2, 3), (1, 3), (4, 4)]
    levels = dict(zip(pairs, _levels([show.Edge(a, b, 1.0) for a, b in pairs]), strict=True))
    assert levels == {(1, 2): 1, (2, 3): 1, (1, 3): 2, (4, 4): 1, (0, 5): 3}


def test_edges_are_said_in_words() -> None:
    picture = show.edges_svg(["dog", "bites", "man"], [show.Edge(1, 2, 0.8, "0.80")], title="a head")
    assert 'aria-label="a head: 1 edges. bites reads man, 0.80."' in picture
    with pytest.raises(ValueError, match="there are 1 words"):
        show.edges_svg(["dog"], [show.Edge(0, 1, 1.0)])
