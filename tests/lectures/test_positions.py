"""What the functions of the lecture do, and what its cells compute."""

import pytest
import torch

from nlmcore.positions import rotary, sinusoidal


@pytest.mark.parametrize(
    ("masked", "waves", "moves"), [(False, 0.0, False), (True, 0.0, True), (False, 1.0, True), (True, 1.0, True)]
)
def test_what_shuffling_changes(ran: dict, masked: bool, waves: float, moves: bool) -> None:
    mask = ran["causal_mask"](4) if masked else None
    with torch.no_grad():
        plain, shuffled = ran["read"](range(4), mask, waves), ran["read"]([2, 0, 3, 1], mask, waves)
    back = shuffled[torch.tensor([2, 0, 3, 1]).argsort()]
    assert torch.allclose(plain, back, atol=1e-5) != moves
    assert torch.allclose(plain.mean(0), shuffled.mean(0), atol=1e-5) != moves


def test_a_causal_head_counts(ran: dict) -> None:
    assert ran["counted"][0, :, 0].tolist() == pytest.approx([1 / t for t in range(1, 9)])


def test_the_students_functions_are_right(ran: dict) -> None:
    assert torch.allclose(ran["my_sinusoidal"](50, 64, 10_000), sinusoidal(50, 64), atol=1e-5)
    x = torch.randn(1, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    mine = ran["my_rotary"](x, torch.arange(5), 100)
    assert torch.allclose(mine, rotary(x, torch.arange(5), 100, layout="interleaved"), atol=1e-5)
