"""What the functions of the lecture `smaller_and_faster` must do."""

import pytest
import torch

from nlmcore.compression import rounded


def test_the_step_by_hand_is_that_of_the_library(ran: dict) -> None:
    by_hand = ran["d"] * ran["q"] + ran["m"]
    assert torch.allclose(by_hand, rounded(ran["x"][None], 4)[0], atol=2e-3 * float(ran["d"]) * 15)


def test_the_file_is_rounded_already(ran: dict) -> None:
    assert ran["same"] == len(ran["large"]) == 120


def test_weights_are_as_before(ran: dict) -> None:
    assert torch.equal(ran["nats"](ran["gpt"], ran["text"][:2]), ran["before"][:2])


def test_kept_bytes_are_those_of_the_layers_and_grow_with_the_text(ran: dict) -> None:
    counted = ran["activation_bytes"]
    one, two = counted(ran["text"][:1, :33]), counted(ran["text"][:2, :33])
    assert 1.9 < two / one < 2.05
    config = ran["gpt"].config
    assert one > 4 * 32 * config.n_layers * config.d_model * 12, "fewer vectors than the equations need"


def test_your_rounding_begins_with_three_bits(ran: dict) -> None:
    w = torch.randn(2, 64, generator=torch.Generator().manual_seed(0))
    assert torch.equal(ran["my_rounding"]("w", w), rounded(w, 3))
    assert ran["mine"] == pytest.approx(ran["live"][3][1])
