"""Pictures: every one says in words what it shows, labels fit, and wrong input is refused in words."""

import base64
import io
import itertools
import re

import numpy as np
import pytest
from PIL import Image

from lectures import show
from lectures.show.svg import Canvas, blue, diverging_rgb, ink_on


def test_colours_grow_darker_and_stay_readable() -> None:
    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    steps = np.linspace(0, 1, 101)
    light = [luminance(blue(w)) for w in steps]
    assert all(a >= b for a, b in itertools.pairwise(light)), "monotone in grey as well"
    for weight, background in zip(steps, light, strict=True):
        ink = luminance(ink_on(blue(weight)))
        contrast = (max(ink, background) + 0.05) / (min(ink, background) + 0.05)
        assert contrast >= 4.5, f"text on weight {weight:.2f} has contrast {contrast:.1f}, WCAG asks for 4.5"


def test_powers_are_written_with_a_raised_number() -> None:
    assert [show.power_of_ten(n) for n in (0, 3, -12)] == ["1", "10³", "10⁻¹²"]


def test_colours() -> None:
    zero, low, high, masked = diverging_rgb([0.0, -3.0, 3.0, np.nan], reach=2)
    assert zero.tolist() == [255, 255, 255]
    assert low[2] > low[0], "negative is blue"
    assert high[0] > high[2], "positive is red"
    assert len(set(masked.tolist())) == 1, "what is masked is grey"


def test_an_image_holds_the_matrix() -> None:
    matrix = np.linspace(-1, 1, 15).reshape(3, 5)
    canvas = Canvas()
    canvas.image(matrix, 0, 0, 10, 10)
    data = re.search(r"base64,([^\"]+)", canvas.parts[0])
    assert data is not None
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(data[1]))))
    assert np.array_equal(image, diverging_rgb(matrix))
    with pytest.raises(ValueError, match="matrix"):
        canvas.image([1.0, 2.0], 0, 0, 10, 10)
