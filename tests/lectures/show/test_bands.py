"""Bands over seeds: what is drawn is the mean, and the band holds every run."""

import re

import pytest

from lectures.show import bands_svg, estimate, from_to, mean_from_to

AXES = {"alt": "two models", "x_title": "step", "y_title": "%", "low": 0, "high": 100}


def test_a_band_holds_every_seed_and_the_line_is_their_mean() -> None:
    drawing = bands_svg([0, 10], {"a": [[0, 20], [0, 60], [0, 100]], "b": [[5, 5], [5, 5]]}, level=12.5, **AXES)
    bands = re.findall(r'<polygon points="([^"]+)"', drawing)
    lines = re.findall(r'<polyline points="([^"]+)"', drawing)
    assert len(bands) == len(lines) == 2

    def ends(points: str) -> list[float]:
        pairs = [tuple(map(float, point.split(","))) for point in points.split()]
        right = max(x for x, _ in pairs)
        return sorted(y for x, y in pairs if x == right)

    highest, lowest = ends(bands[0])
    (mean,) = ends(lines[0])
    assert highest < mean < lowest, "SVG counts downwards"
    assert mean == pytest.approx((highest + lowest) / 2, abs=0.2), "60 is the mean of 20, 60 and 100"


@pytest.mark.parametrize("runs", [[[1.0, 2.0]], [1.0, 2.0], [[1.0], [2.0]]])
def test_one_run_is_no_band(runs: list) -> None:
    with pytest.raises(ValueError, match="two seeds or more of 2 values"):
        bands_svg([0, 1], {"a": runs}, **AXES)


def test_a_range_in_words() -> None:
    assert from_to([54.1, 27, 30]) == "27 to 54"
    assert from_to([7.02, 6.98], "{:.2f}") == "6.98 to 7.02"
    assert mean_from_to([54, 27, 30]) == "37 (27 to 54)"
    assert estimate(-0.5, -0.75, 2) == "−0.50 (−0.75 to 2.00)"
