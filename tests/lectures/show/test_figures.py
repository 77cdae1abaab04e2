"""Pictures: every one says in words what it shows, labels fit, and wrong input is refused in words."""

import xml.dom.minidom as xml

import numpy as np
import pytest

from lectures import show
from lectures.widgets.attention import plane_svg, softmax_svg

WORDS = ["the", "<cat>", 'sat "down"']
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.01, 0.99, 0.0], [0.3, 0.3, 0.4]])

MATPLOTLIB = {
    "heatmap": lambda alt: show.heatmap(WEIGHTS, WORDS, WORDS, alt=alt),
    "heatmaps": lambda alt: show.heatmaps([WEIGHTS, -WEIGHTS], ["a", "b"], WORDS, WORDS, alt=alt),
    "head_grid": lambda alt: show.head_grid(np.stack([np.stack([WEIGHTS] * 4)] * 2), alt=alt, title="heads"),
    "curves": lambda alt: show.curves([1, 2, 4], {"a": [1, 2, 3]}, alt=alt, x_title="x", y_title="y", log_x=True),
}


@pytest.mark.parametrize("name", MATPLOTLIB)
def test_a_figure_shows_itself_as_an_image_with_alternative_text(name: str) -> None:
    picture = MATPLOTLIB[name]('says "what" <is> seen')
    shown = picture._repr_mimebundle_()["text/html"]
    assert 'alt="says &quot;what&quot; &lt;is&gt; seen"' in shown
    assert "image/svg+xml;base64," in shown
    xml.parseString(picture.svg())


@pytest.mark.parametrize("name", MATPLOTLIB)
def test_a_figure_without_alternative_text_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="alternative text"):
        MATPLOTLIB[name](" ")


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: show.heatmap_svg(WEIGHTS, WORDS[:2], WORDS, alt="x"), "2 row labels"),
        (lambda: show.attention_html(WEIGHTS, WORDS, WORDS[:1]), "1 column labels"),
        (lambda: show.attention_html(WEIGHTS, WORDS, selected=3), r"\[0, 3\)"),
        (lambda: softmax_svg([1.0], [0.5, 0.5], ["a", "b"]), "as many weights"),
        (lambda: plane_svg([1, 0, 0], [[0, 1]], [1.0], [0, 1], ["a"]), r"query \(2,\)"),
        (lambda: show.heatmaps([], [], WORDS, WORDS, alt="x"), "at least one"),
        (lambda: show.head_grid(WEIGHTS, alt="x"), "layer, head, query, key"),
        (lambda: show.curves([1, 2], {"a": [1]}, alt="x", x_title="", y_title=""), "'a' has shape"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(draw, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        draw()


def test_panels_over_distance() -> None:
    picture = show.distance_panels([0, 1, 2], {"a": {"x": [1, 2, 3]}, "b": {"y": [0, 0, 1]}}, alt="Two panels.")
    assert [ax.get_title() for ax in picture.axes] == ["a", "b"]
    with pytest.raises(ValueError, match="line 'x'"):
        show.distance_panels([0, 1], {"a": {"x": [1, 2, 3]}}, alt="No.")
