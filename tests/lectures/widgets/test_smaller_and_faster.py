"""The widgets of the lecture `smaller_and_faster`."""

import pytest
import torch

from lectures import stored, widgets
from tests.lectures.seen import seen


def test_the_levels_follow_every_control() -> None:
    rows = {"one": torch.linspace(-1, 1, 64), "other": torch.linspace(0, 1, 64) ** 3}
    widget = widgets.level_player(rows)
    assert "5 bits per weight" in seen(widget)
    assert seen(widget).count("<circle") == 64
    for control, value, bits in (
        ("group", 64, 4.5),
        ("symmetric", True, 4.25),
        ("bits", 8, 8.25),
        ("row", "other", 8.25),
    ):
        before = seen(widget)
        assert f"{bits} bits per weight" in seen(widget, **{control: value})
        assert seen(widget) != before
    assert "needs 2 bits" in seen(widget, bits=1)


def test_the_error_told_is_that_of_the_picture() -> None:
    weights = torch.tensor([0.0, 0.4, 1.0, 3.0] * 8)
    drawn = widgets.levels_svg(weights, 2, 32)  # the levels 0, 1, 2, 3
    assert "the largest error is 0.4000" in drawn


def test_costs_are_those_of_the_result() -> None:
    models = stored("rounding")["models"]
    widget = widgets.cost_of_bits(models)
    assert f"3 bits {models['char_gpt']['rows']['block, 3 bits']['rise'][0]:.4f}" in seen(widget)
    assert f"6 bits {models['SmolLM2']['rows']['matrix, 6 bits']['rise'][0]:.4f}" in seen(
        widget, group="the whole matrix"
    )


@pytest.mark.parametrize(("precision", "number"), [("32 bits", 4), ("bfloat16, weights also in 32 bits", 2)])
def test_memory_is_counted(precision: str, number: int) -> None:
    widget = widgets.memory_counter(
        {"one": widgets.TrainingSize(1_000_000, 2, 100), "two": widgets.TrainingSize(3_000_000, 2, 100)}
    )
    activations = number * 1_024 * 2 * 18 * 100
    assert f"together {widgets.bytes_told(16_000_000 + activations)}" in seen(widget, precision=precision)
    fewer = number * 1_024 * (2 + 18) * 100
    assert f"together {widgets.bytes_told(16_000_000 + fewer)}" in seen(widget, again=True)
    assert f"together {widgets.bytes_told(16_000_000 + fewer / 4)}" in seen(widget, tokens=256)
    assert f"together {widgets.bytes_told(48_000_000 + fewer / 4)}" in seen(widget, model="two")


@pytest.mark.parametrize(("n", "words"), [(12, "12 bytes"), (1.5e3, "1.5 kB"), (40e6, "40 MB"), (1.08e11, "108 GB")])
def test_bytes_in_words(n: float, words: str) -> None:
    assert widgets.bytes_told(n) == words
