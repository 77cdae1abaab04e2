"""Pictures: every one says in words what it shows, labels fit, and wrong input is refused in words."""

import itertools
import re
import xml.dom.minidom as xml

import numpy as np
import pytest

from lectures import show
from lectures.show.svg import blue, ink_on

WORDS = ["the", "<cat>", 'sat "down"']
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.01, 0.99, 0.0], [0.3, 0.3, 0.4]])

MATPLOTLIB = {
    "heatmap": lambda alt: show.heatmap(WEIGHTS, WORDS, WORDS, alt=alt),
    "heatmaps": lambda alt: show.heatmaps([WEIGHTS, -WEIGHTS], ["a", "b"], WORDS, WORDS, alt=alt),
    "head_grid": lambda alt: show.head_grid(np.stack([np.stack([WEIGHTS] * 4)] * 2), alt=alt, title="heads"),
    "curves": lambda alt: show.curves([1, 2, 4], {"a": [1, 2, 3]}, alt=alt, x_title="x", y_title="y", log_x=True),
    "bars": lambda alt: show.bars([0.5, 0.25], ["a", "b"], alt=alt),
    "bottleneck": lambda alt: show.encoder_decoder(["a", "b"], ["c"], alt=alt),
    "attention": lambda alt: show.encoder_decoder(["a", "b"], ["c"], weights=[0.25, 0.75], alt=alt),
}
DRAWINGS = {
    "lines": show.attention_lines_svg(WEIGHTS, WORDS, selected=1),
    "heatmap": show.heatmap_svg(WEIGHTS, WORDS, WORDS, alt="three words", numbers=True, highlight=0, title="t"),
    "softmax": show.softmax_svg([1.0, -2.0], [0.9, 0.1], ["a", "<b>"], extra="sum"),
    "plane": show.plane_svg([1, 0], [[0.5, 1], [-1, 0]], [0.9, 0.1], [0.4, 0.9], ["a", "<b>"], title="dot"),
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


def test_a_heatmap_writes_every_number_and_marks_what_is_masked() -> None:
    drawing = show.heatmap_svg(np.where(WEIGHTS < 0.05, np.nan, WEIGHTS), WORDS, WORDS, alt="masked", numbers=True)
    assert drawing.count(">×<") == 2
    assert drawing.count("masked</title>") == 2
    assert ">0.99<" in drawing


def test_colours_grow_darker_and_stay_readable() -> None:
    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    steps = np.linspace(0, 1, 101)
    light = [luminance(blue(w)) for w in steps]
    assert all(a >= b for a, b in itertools.pairwise(light)), "monotone in grey, too"
    for weight, background in zip(steps, light, strict=True):
        ink = luminance(ink_on(weight))
        contrast = (max(ink, background) + 0.05) / (min(ink, background) + 0.05)
        assert contrast >= 4.5, f"text on weight {weight:.2f} has contrast {contrast:.1f}, WCAG asks for 4.5"


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: show.heatmap_svg(WEIGHTS, WORDS[:2], WORDS, alt="x"), "2 row labels"),
        (lambda: show.attention_html(WEIGHTS, WORDS, WORDS[:1]), "1 column labels"),
        (lambda: show.attention_html(WEIGHTS, WORDS, selected=3), r"\[0, 3\)"),
        (lambda: show.softmax_svg([1.0], [0.5, 0.5], ["a", "b"]), "as many weights"),
        (lambda: show.plane_svg([1, 0, 0], [[0, 1]], [1.0], [0, 1], ["a"]), r"query \(2,\)"),
        (lambda: show.heatmaps([], [], WORDS, WORDS, alt="x"), "at least one"),
        (lambda: show.head_grid(WEIGHTS, alt="x"), "layer, head, query, key"),
        (lambda: show.curves([1, 2], {"a": [1]}, alt="x", x_title="", y_title=""), "'a' has shape"),
        (lambda: show.bars([1.0], [], alt="x"), "one label per value"),
        (lambda: show.encoder_decoder(["a"], ["b"], weights=[0.5, 0.5], alt="x"), "one weight per source word"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(draw, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        draw()
