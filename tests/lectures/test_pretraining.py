"""What the functions of the lecture do, and what its cells compute."""

import pytest
import torch

from lectures import stored
from nlmcore.attention import prefix_mask


def test_what_is_hidden(ran: dict) -> None:
    example = ran["example"]
    assert 1000 * float((example.tokens == 100).float().mean()) == pytest.approx(120, abs=5)
    assert ran["several"] == pytest.approx(1 / 0.15, rel=0.03)
    left = example.mask & (example.tokens == ran["text"])
    assert float(left.float().mean()) == pytest.approx(0.015, abs=0.002)


def test_lora_is_the_librarys(ran: dict) -> None:
    W, A, B = torch.randn(4, 6), torch.randn(2, 6), torch.randn(4, 2)
    assert torch.allclose(ran["low_rank"](W, A, B, 2), W + B @ A)
    assert torch.allclose(ran["layer"].weight, ran["low_rank"](ran["W"], ran["part"].A, ran["part"].B, 2))


def test_a_causal_models_state_does_not_depend_on_what_follows() -> None:
    ways = stored("senses")["rows"]["SmolLM2"]
    assert ways["whole, clue after"] == ways["cut, clue after"]


def test_a_students_mask(ran: dict) -> None:
    mine = ran["my_mask"](6, 3)
    assert not torch.equal(mine, prefix_mask(torch.tensor([3]), 6)[0])
    assert torch.equal(mine | (torch.arange(6) < 3), prefix_mask(torch.tensor([3]), 6)[0])
