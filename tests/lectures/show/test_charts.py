"""The board's circuits, drawn; and the curve that follows a training."""

import math
import re
import xml.dom.minidom as xml

import numpy as np
import pytest

from lectures import show
from lectures.show import bar_list_svg, curve_svg, intervals_svg
from tests.lectures.seen import spoken


def test_a_curve_goes_down_when_the_loss_does() -> None:
    drawing = curve_svg([3.0, 2.0, 1.0], {2: 2.5})
    heights = [float(point.split(",")[1]) for point in re.search(r'points="([^"]+)"', drawing)[1].split()]
    assert heights == sorted(heights), "SVG counts downwards"
    assert spoken(drawing).startswith("loss after 3 steps: 1.000; it began at 3.000. Held out")
    assert len(curve_svg([1.0] * 50_000)) < 20_000, "long runs are thinned"
    with pytest.raises(ValueError, match="at least one loss"):
        curve_svg([])


def test_lines_stay_in_their_frame_and_are_told_apart() -> None:
    lines = {"a": [0.0, 1.0, 2.0], "b": [0.0, math.nan, -1.0]}
    picture = show.lines_svg([0, 1, 2], lines, alt="two lines", x_title="t", y_title="y", low=-1, high=2, level=0)
    drawn = re.findall(r'<polyline points="([^"]*)"', picture)
    assert [len(points.split()) for points in drawn] == [3, 2], "what is no number is left out"
    assert 'stroke-dasharray="9 5"' in picture
    assert ">a<" in picture
    assert 'aria-label="two lines"' in picture
    with pytest.raises(ValueError, match=r"line 'a' has shape \(2,\), x has \(3,\)"):
        show.lines_svg([0, 1, 2], {"a": [1, 2]}, alt="x", x_title="", y_title="", low=0, high=1)
    with pytest.raises(ValueError, match="high must be above low"):
        show.lines_svg([0, 1], {"a": [1, 2]}, alt="x", x_title="", y_title="", low=1, high=1)
    with pytest.raises(ValueError, match="alternative text"):
        show.lines_svg([0, 1], {"a": [1, 2]}, alt=" ", x_title="", y_title="", low=0, high=1)


def test_bars_are_as_long_as_their_values() -> None:
    drawing = bar_list_svg([0.5, 0.25, 0.0], ["a", "b", "c"], alt="bars", highlight=[1])
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', drawing)]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.2)
    assert widths[2] < 1
    assert "0.250" in drawing
    assert drawing.count("#D55E00") == 1, "one bar is highlighted"


@pytest.mark.parametrize("values", [[-0.1], [math.nan], [0.1, 0.2]])
def test_bars_refuse_what_is_no_length(values: list) -> None:
    with pytest.raises(ValueError, match=r"values|needs"):
        bar_list_svg(values, ["a"], alt="bars")


def test_intervals_say_and_show_what_is_known() -> None:
    drawing = intervals_svg({"a": (1.0, 2.0, 1.5, 0.5), "b": (0.6, 1.3, None, None)}, alt="two rows")
    assert "1.50 · first guess right 50%" in drawing
    assert "0.60 to 1.30" in drawing
    a, b = (float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)" height="16.0"', drawing))
    assert b == pytest.approx(0.7 * a, rel=0.01)


COSTS = {"square": {n: 3e-6 * n**2 for n in (16, 32, 64)}, "line": {n: 2e-4 * n for n in (16, 32, 64, 128)}}
LAWS = {"square": show.Law(3e-6, 2.0, 16, 64), "line": show.Law(2e-4, 1.0, 32, 128)}
SHARES = {"a": {"x": [(0.5, 0.2, 0.8), (1.0, 0.9, 1.0)], "y": [(0.0, 0.0, 0.3), (0.25, 0.25, 0.25)]}}


def laws(**changed: object) -> str:
    given = {"costs": COSTS, "laws": LAWS, "alt": "two", "x_title": "n", "y_title": "s", "ticks": {0.01: "10 ms"}}
    return show.laws_svg(**(given | changed))  # type: ignore[arg-type]


def centre(mark: str) -> np.ndarray:
    """Where a circle or a polygon stands: of a polygon the mean of its corners."""
    if "<circle" in mark:
        return np.array([float(number) for number in re.findall(r'c[xy]="([-\d.]+)"', mark)])
    corners = re.findall(r"([-\d.]+),([-\d.]+)", mark)
    return np.array([[float(x), float(y)] for x, y in corners]).mean(axis=0)


def test_marks_lie_on_their_law() -> None:
    """Exact costs: every mark within the law's reach is on its line, and equal factors are equal distances."""
    drawing = laws()
    xml.parseString(drawing)
    marks = [centre(mark) for mark in re.findall(r"<circle[^>]*>|<polygon[^>]*>", drawing)]
    square, line = marks[2:5], marks[5:9]  # the first two are the legend's
    assert np.allclose(np.diff([x for x, _ in square]), np.diff([x for x, _ in square])[0], atol=0.11)
    assert np.allclose(np.diff([y for _, y in line]), np.diff([y for _, y in line])[0], atol=0.11)
    lines = re.findall(r'<polyline points="([-\d.]+),([-\d.]+) ([-\d.]+),([-\d.]+)"', drawing)
    (x1, y1, x2, y2) = map(float, lines[0])
    for x, y in square:
        assert y == pytest.approx(y1 + (y2 - y1) * (x - x1) / (x2 - x1), abs=0.2)
    rise = [(float(y1) - float(y2)) / (float(x2) - float(x1)) for x1, y1, x2, y2 in lines]
    assert rise[0] == pytest.approx(2 * rise[1], rel=0.01)
    assert ">10 ms</text>" in drawing
    assert all(f">{2**power}</text>" in drawing for power in (4, 5, 6, 7))
    assert ">square steep</text>" in laws(notes={"square": "steep"})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"costs": {"a": {16: 0.0}}, "laws": {}}, "above 0"),
        ({"costs": {"a": {}}, "laws": {}}, "at least one"),
        ({"laws": {"cube": show.Law(1, 3, 1, 2)}}, r"costs that were measured, got \['cube'\]"),
        ({"alt": " "}, "alternative text"),
    ],
)
def test_costs_that_have_no_logarithm_and_laws_of_nothing_are_refused(changed: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        laws(**changed)


def shares(**changed: object) -> str:
    given = {"x": [0, 8], "panels": SHARES, "alt": "shares", "x_title": "examples", "y_title": "right"}
    return show.share_panels_svg(**(given | changed))  # type: ignore[arg-type]


def test_every_share_stands_within_its_interval() -> None:
    drawing = shares(levels={"a": 0.25}, level_name="chance", title="t")
    xml.parseString(drawing)
    dots = [centre(dot) for dot in re.findall(r"<circle[^>]*>", drawing)][2:]  # two in the legend
    whiskers = re.findall(r'<line x1="([-\d.]+)" y1="([-\d.]+)" x2="[-\d.]+" y2="([-\d.]+)"[^>]*opacity', drawing)
    assert len(dots) == len(whiskers) == 4
    for (x, y), (at, up, down) in zip(dots, np.array(whiskers, dtype=float), strict=True):
        assert x == pytest.approx(at)
        assert up - 0.11 <= y <= down + 0.11
    top, bottom = dots[1][1], dots[2][1]  # 100 % and nothing
    assert dots[0][1] == pytest.approx((top + bottom) / 2, abs=0.11)
    assert ">chance</text>" in drawing


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": [0]}, "has 2 points, x has 1"),
        ({"panels": {}}, "at least one panel"),
        ({"panels": {"a": {"x": [(0.5, 0.6, 0.7), (1, 1, 1)]}}}, r"in its interval .* got \(0\.5, 0\.6, 0\.7\)"),
        ({"panels": {"a": {"x": [(0.5, 0.4, 1.7), (1, 1, 1)]}}}, r"in \[0, 1\]"),
        ({"alt": ""}, "alternative text"),
    ],
)
def test_shares_that_are_none_are_refused(changed: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shares(**changed)


def test_drawings_below_each_other_keep_their_size() -> None:
    one, two = laws(width=300, height=200), shares()
    both = show.stacked_svg(one, two, alt="both", gap=10)
    document = xml.parseString(both).documentElement
    inner = [node for node in document.childNodes if node.nodeName == "svg"]
    (wide, high), first, second = (
        [float(size) for size in node.getAttribute("viewBox").split()[2:]] for node in (document, *inner)
    )
    assert [float(node.getAttribute("y")) for node in inner] == [0, first[1] + 10]
    assert wide == pytest.approx(max(first[0], second[0]), abs=5)
    assert high == pytest.approx(first[1] + 10 + second[1], abs=5)
    with pytest.raises(ValueError, match="drawings that begin with <svg, got '<p>"):
        show.stacked_svg("<p>no</p>", alt="x")
    with pytest.raises(ValueError, match="alternative text"):
        show.stacked_svg(one, alt="")
