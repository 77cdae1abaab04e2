"""The widgets of the lecture `smaller_and_faster`."""

import pytest
import torch

from lectures import stored, widgets


def test_the_levels_follow_every_control() -> None:
    rows = {"one": torch.linspace(-1, 1, 64), "other": torch.linspace(0, 1, 64) ** 3}
    widget = widgets.level_player(rows)
    assert "5 bits per weight" in widget.picture.value
    assert widget.picture.value.count("<circle") == 64
    for name, value, words in (
        ("group", 64, "4.5 bits per weight"),
        ("symmetric", True, "4.25 bits per weight"),
        ("bits", 8, "8.25 bits per weight"),
        ("row", "other", "8.25 bits per weight"),
    ):
        before = widget.picture.value
        widget.controls[name].value = value
        assert widget.picture.value != before
        assert words in widget.picture.value
    widget.controls["bits"].value = 1
    assert "needs 2 bits" in widget.picture.value


def test_the_error_told_is_that_of_the_picture() -> None:
    weights = torch.tensor([0.0, 0.4, 1.0, 3.0] * 8)
    drawn = widgets.levels_svg(weights, 2, 32)  # the levels 0, 1, 2, 3
    assert "the largest error is 0.4000" in drawn


def test_costs_are_those_of_the_result() -> None:
    models = stored("rounding")["models"]
    widget = widgets.cost_of_bits(models)
    assert f"3 bits {models['char_gpt']['rows']['block, 3 bits']['rise'][0]:.4f}" in widget.picture.value
    widget.controls["group"].value = "the whole matrix"
    assert f"6 bits {models['SmolLM2']['rows']['matrix, 6 bits']['rise'][0]:.4f}" in widget.picture.value


@pytest.mark.parametrize(("precision", "each"), [("32 bits", 16), ("bfloat16, weights also in 32 bits", 16)])
def test_memory_is_counted(precision: str, each: int) -> None:
    widget = widgets.memory_counter(
        {"one": widgets.TrainingSize(1_000_000, 2, 100), "two": widgets.TrainingSize(3_000_000, 2, 100)}
    )
    widget.controls["precision"].value = precision
    number = 4 if precision == "32 bits" else 2
    activations = number * 1_024 * 2 * 18 * 100
    assert f"together {widgets.bytes_told(each * 1_000_000 + activations)}" in widget.picture.value
    widget.controls["again"].value = True
    fewer = number * 1_024 * (2 + 18) * 100
    assert f"together {widgets.bytes_told(each * 1_000_000 + fewer)}" in widget.picture.value
    widget.controls["tokens"].value = 256
    assert f"together {widgets.bytes_told(each * 1_000_000 + fewer / 4)}" in widget.picture.value
    widget.controls["model"].value = "two"
    assert f"together {widgets.bytes_told(each * 3_000_000 + fewer / 4)}" in widget.picture.value


@pytest.mark.parametrize(("n", "words"), [(12, "12 bytes"), (1.5e3, "1.5 kB"), (40e6, "40 MB"), (1.08e11, "108 GB")])
def test_bytes_in_words(n: float, words: str) -> None:
    assert widgets.bytes_told(n) == words
