import math

import pytest
import torch

from nlmcore.positions import LearnedPositions, SinusoidalPositions, sinusoidal
from tests.laws import assert_close


def test_it_is_the_equation_entry_by_entry() -> None:
    table = sinusoidal(5, 6)
    for position in range(5):
        for i in range(3):
            angle = position / 10_000 ** (2 * i / 6)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_a_shift_is_one_rotation_wherever_it_starts() -> None:
    """PE(pos + k) = R_k PE(pos) with the same R_k for every pos (section 3.5)."""
    table, k = sinusoidal(40, 8).double(), 3
    rotation = torch.linalg.lstsq(table[:20], table[k : 20 + k]).solution
    assert_close(table[20:37] @ rotation, table[20 + k :], "positions that the fit has not seen", 1e-4)


def test_far_positions_stay_exact() -> None:
    assert sinusoidal(100_001, 2)[100_000, 0].item() == pytest.approx(math.sin(100_000), abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "word"), [((0, 4), "length"), ((3, 5), "even"), ((3, 0), "even"), ((3, 4, 1.0), "base")]
)
def test_bad_sizes_are_refused(arguments: tuple, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        sinusoidal(*arguments)


@pytest.mark.parametrize("positions", [LearnedPositions(4, 6), SinusoidalPositions(4, 6)])
def test_modules_add_one_vector_per_position(positions: torch.nn.Module) -> None:
    added = positions(torch.zeros(2, 3, 6))
    assert torch.equal(added[0], added[1])
    assert not torch.equal(added[0, 0], added[0, 1])
    assert_close(positions(torch.ones(2, 3, 6)), added + 1, "added, not replaced")
    with pytest.raises(ValueError, match="5 tokens"):
        positions(torch.zeros(1, 5, 6))


@pytest.mark.parametrize("positions", [LearnedPositions(4, 6), SinusoidalPositions(4, 6)])
def test_nothing_is_broadcast(plain_errors: None, positions: torch.nn.Module) -> None:
    for x in (torch.zeros(1, 3, 1), torch.zeros(3, 6), torch.zeros(1, 3, 5)):
        with pytest.raises(ValueError, match=r"\(batch, time, 6\)"):
            positions(x)
    with pytest.raises(TypeError, match="x must hold floating-point"):
        positions(torch.zeros(1, 3, 6, dtype=torch.long))


@pytest.mark.parametrize("arguments", [(3.0, 4), (3, 4.0), ("3", 4)])
def test_sizes_are_whole_numbers(plain_errors: None, arguments: tuple) -> None:
    with pytest.raises(TypeError, match="must be a"):
        sinusoidal(*arguments)


@pytest.mark.parametrize("base", [math.nan, math.inf])
def test_a_base_that_is_no_number_is_refused(base: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        sinusoidal(3, 4, base)
