"""Pictures and widgets of `backpropagation`: decision lines, circuits that are stepped through, gradient descent."""

import re

import numpy as np
import pytest

from lectures.show import decision_svg, map_svg, word_map_svg

CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
AND, XOR = [0, 0, 0, 1], [0, 1, 1, 0]


def decision(p, **options) -> str:
    return decision_svg(p, CORNERS, XOR, low=-1, high=2, alt="a plane", **options)


def test_a_point_on_the_wrong_side_is_crossed() -> None:
    p = np.zeros((30, 30))
    p[10:20] = 1.0  # 1 where 0 < y < 1: neither row of corners...
    assert decision(np.zeros((30, 30))).count(" l42,42") == 2, "both ones are missed"
    assert decision(np.ones((30, 30))).count(" l42,42") == 2, "both zeros are missed"
    low = np.zeros((30, 30))
    low[:15] = 1.0  # 1 below y = 0.5: (1, 0) right, (0, 0) wrong, (0, 1) wrong, (1, 1) right
    assert decision(low).count(" l42,42") == 2
    assert decision(p) != decision(low)


def test_neighbours_of_one_tint_are_one_rectangle() -> None:
    assert decision(np.zeros((60, 60))).count("<rect") == 60 + 2, "a row each, and two square points"


def test_the_line_is_where_the_sum_is_zero() -> None:
    drawing = decision(np.zeros((5, 5)), line=(1.0, 0.0, -0.5))
    x0, y0, x1, y1 = (
        float(v) for v in re.search(r'x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"', drawing).groups()
    )
    assert x0 == pytest.approx(x1, abs=0.2)
    assert abs(y1 - y0) == pytest.approx(380, abs=4), "from edge to edge"
    assert x0 == pytest.approx(34 + 1.5 / 3 * 380, abs=0.2)
    assert "<line" not in decision(np.zeros((5, 5)), line=(0.0, 0.0, 1.0)), "no line without weights"
    assert "<line" not in decision(np.zeros((5, 5)), line=(1.0, 1.0, 9.0)), "nor outside the picture"


def test_decisions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="target 0 or 1"):
        decision_svg(np.zeros((3, 3)), CORNERS, [0, 1, 2, 0], low=0, high=1, alt="x")
    with pytest.raises(ValueError, match=r"\(9,\)"):
        decision_svg(np.zeros(9), CORNERS, XOR, low=0, high=1, alt="x")


PLANE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
NAMES = ["a", "b", "c", "d"]


def test_the_map_names_the_chosen_point_and_its_neighbours() -> None:
    picture = map_svg(PLANE, [1, 2, 3, 4], NAMES, chosen=3, near=[1], low="few", high="many", title="t")
    assert "4 points; chosen: d; nearest: b." in picture
    assert picture.count("<circle") == 4 + 2
    with pytest.raises(ValueError, match="points must be"):
        map_svg(PLANE, [1, 2], NAMES, chosen=0)
    with pytest.raises(ValueError, match="chosen"):
        map_svg(PLANE, [1, 2, 3, 4], NAMES, chosen=4)


def test_the_map_has_every_word_and_its_arrows() -> None:
    drawing = word_map_svg([[0, 0], [1, 0], [0, 1]], ["a", "b", "c"], [0, 1, 2], alt="three", arrows=[(0, 1)])
    assert re.findall(r">([abc])</text>", drawing) == ["a", "b", "c"]
    assert drawing.count("<line") == 1
    x = [float(v) for v in re.findall(r'<circle cx="([\d.]+)"', drawing)]
    assert len(x) == 1, "each group has a shape of its own"
    with pytest.raises(ValueError, match="a point and a group per word"):
        word_map_svg([[0, 0]], ["a", "b"], [0, 0], alt="two")


def test_labels_keep_out_of_each_others_way() -> None:
    drawing = word_map_svg([[0, 0], [0.01, 0], [5, 5]], ["first", "second", "third"], [0, 0, 0], alt="three")
    spots = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"[^>]*>(\w+)</text>', drawing)
    (x, y, _), (u, v, _) = spots[:2]
    assert abs(float(y) - float(v)) > 15 or abs(float(x) - float(u)) > 45
