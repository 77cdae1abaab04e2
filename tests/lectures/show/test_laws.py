"""Power laws over measured costs, shares with their intervals, drawings below each other."""

import re
import xml.dom.minidom as xml

import numpy as np
import pytest

from lectures import show

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
    square, line = marks[:3], marks[4:8]  # each followed by its mark in the legend
    assert np.allclose(np.diff([x for x, _ in square]), np.diff([x for x, _ in square])[0], atol=0.11)
    assert np.allclose(np.diff([y for _, y in line]), np.diff([y for _, y in line])[0], atol=0.11)
    lines = re.findall(r'<line x1="([-\d.]+)" y1="([-\d.]+)" x2="([-\d.]+)" y2="([-\d.]+)"', drawing)
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
    whiskers = re.findall(r'<line x1="([-\d.]+)" x2="[-\d.]+" y1="([-\d.]+)" y2="([-\d.]+)"[^>]*opacity', drawing)[2:]
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
    assert [node.getAttribute("y") for node in inner] == ["0", "210"]
    wide, high = (float(size) for size in document.getAttribute("viewBox").split()[2:])
    size = [float(s) for s in inner[1].getAttribute("viewBox").split()[2:]]
    assert (wide, high) == (max(300, size[0]), 210 + size[1])
    with pytest.raises(ValueError, match="drawings that begin with <svg, got '<p>"):
        show.stacked_svg("<p>no</p>", alt="x")
    with pytest.raises(ValueError, match="alternative text"):
        show.stacked_svg(one, alt="")
