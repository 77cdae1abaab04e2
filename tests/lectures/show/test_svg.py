"""Pictures: every one says in words what it shows, labels fit, and wrong input is refused in words."""

import base64
import io
import itertools
import re
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from lectures import show
from lectures.show.svg import FLIPPED, Canvas, blue, diverging, diverging_rgb, ink_on


def luminance(colour: str) -> float:
    """WCAG 2's relative luminance."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def inverted(colour: str) -> str:
    """What the dark theme makes of a colour: `filter: invert(1) hue-rotate(180deg)` (Filter Effects 1)."""
    dimmed = 1 - np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    half_turn = [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]]
    return "#" + "".join(f"{round(255 * c):02x}" for c in np.clip(half_turn @ dimmed, 0, 1))


def test_colours_grow_darker_and_stay_readable() -> None:
    steps = np.linspace(0, 1, 101)
    light = [luminance(blue(w)) for w in steps]
    assert all(a >= b for a, b in itertools.pairwise(light)), "monotone in grey as well"
    for weight, background in zip(steps, light, strict=True):
        ink = luminance(ink_on(blue(weight)))
        contrast = (max(ink, background) + 0.05) / (min(ink, background) + 0.05)
        assert contrast >= 4.5, f"text on weight {weight:.2f} has contrast {contrast:.1f}, WCAG asks for 4.5"


@pytest.mark.parametrize("colour", [blue, diverging])
def test_words_in_a_box_are_readable_in_the_dark_theme(colour: Callable[[float], str]) -> None:
    for value in np.linspace(-1, 1, 201):
        canvas = Canvas()
        canvas.box(0, 0, 40, 20, "word", colour(value))
        words = "#ffffff" if FLIPPED in canvas.parts[1] else ink_on(colour(value))
        light, dark = sorted((luminance(inverted(words)), luminance(inverted(colour(value)))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"words on {value:.2f}"


def test_powers_are_written_with_a_raised_number() -> None:
    assert [show.power_of_ten(n) for n in (0, 3, -12)] == ["1", "10³", "10⁻¹²"]
    told = [show.scientific(log) for log in (0, 2.5, -1.6, -7.6, -8, -3.001, 38.3)]
    assert told == ["1", "316", "0.025", "3·10⁻⁸", "10⁻⁸", "0.001", "2·10³⁸"]


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


def test_drawings_share_a_row_at_four_fifths_of_their_size() -> None:
    canvas = Canvas()
    canvas.rect(0, 0, 95, 10)
    both = show.beside(canvas.svg('a width="7" that is said'), "<p>words</p>")
    assert re.findall(r'<div style="(flex:[^"]*)"', both) == ["flex:100 1 80px;max-width:100px", "flex:1 1 20em"]
