"""Matrices as images: the colours of numbers, and a PNG that others can read."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from lectures import show
from lectures.show.raster import diverging_rgb


def test_colours() -> None:
    zero, low, high, masked = diverging_rgb([0.0, -3.0, 3.0, np.nan], reach=2)
    assert zero.tolist() == [255, 255, 255]
    assert low[2] > low[0], "negative is blue"
    assert high[0] > high[2], "positive is red"
    assert len(set(masked.tolist())) == 1, "what is masked is grey"


def test_an_image_holds_the_matrix() -> None:
    matrix = np.linspace(-1, 1, 15).reshape(3, 5)
    data = re.search(r"base64,([^\"]+)", show.image_svg(matrix, 0, 0, 10, 10))
    assert data is not None
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(data[1]))))
    assert np.array_equal(image, diverging_rgb(matrix))
    with pytest.raises(ValueError, match="matrix"):
        show.image_svg([1.0, 2.0], 0, 0, 10, 10)


def test_stripes_and_tables() -> None:
    picture = show.vectors_svg([("left", ["a", "b"], np.zeros((2, 3)))], alt="Two stripes.", note="first\nsecond")
    assert picture.count("<image") == 2
    assert "second</text>" in picture
    assert show.tables_svg([("x", np.eye(3)), ("y", np.eye(4))], alt="Two tables.").count("<image") == 2
    with pytest.raises(ValueError, match="label per row"):
        show.vectors_svg([("left", ["a"], np.zeros((2, 3)))], alt="Wrong.")
