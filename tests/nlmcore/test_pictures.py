"""SVG that a parser reads: every point where it belongs, every weight in its place, and words for the blind."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch

from nlmcore.pictures import attention_picture, curves

SVG = "{http://www.w3.org/2000/svg}"


def test_curves_share_axes_and_long_ones_are_means() -> None:
    long = {step: float(step % 2) for step in range(1, 6001)}
    root = ET.fromstring(curves({"long": long, "short": {10: 2.0, 6000: -1.0, 20: math.nan}, "none": {}}).svg)
    first, second = [
        [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        for line in root.iter(f"{SVG}polyline")
    ]
    assert len(first) == 600
    assert len({y for _, y in first}) == 1, "means of ten neighbours"
    assert len(second) == 2
    (left, top), (right, bottom) = second
    assert left < right
    assert top < first[0][1] < bottom, "larger is higher"
    assert right == pytest.approx(first[-1][0], abs=1)
    assert "long from 0.5 to 0.5; short from 2 to -1" in root.attrib["aria-label"]


def test_attention_has_a_square_for_every_weight(tmp_path: Path) -> None:
    weights = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    picture = attention_picture(weights, ["<b>&", " \n\x07"])
    picture.save(tmp_path / "attention.svg")
    root = ET.parse(tmp_path / "attention.svg").getroot()
    squares = [*root.iter(f"{SVG}rect")]
    assert [float(square.attrib["fill-opacity"]) for square in squares] == [1.0, 0.0, 0.25, 0.75]
    assert squares[0].attrib["y"] == squares[1].attrib["y"], "a row is a query"
    assert squares[2][0].text == "·⏎· to <b>&: 0.25"
    with pytest.raises(ValueError, match="pieces must be as many as the weights"):
        attention_picture(weights, ["a"])
