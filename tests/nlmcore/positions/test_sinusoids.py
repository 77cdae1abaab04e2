"""Positions that are told to the embeddings: equations, reading on, and what is refused."""

import math

import pytest
import torch
from torch import Tensor, nn

from nlmcore.positions import (
    ConcatenatedPositions,
    LearnableSinusoidal,
    LearnedPositions,
    NoPositions,
    SinusoidalPositions,
    binary_counter,
    sinusoidal,
)
from tests.laws import assert_close

ADDED = [LearnedPositions, SinusoidalPositions, LearnableSinusoidal]
LIMITED = [*ADDED, ConcatenatedPositions]
ALL = [*LIMITED, NoPositions]


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_it_is_the_equation_entry_by_entry() -> None:
    table = sinusoidal(5, 6)
    for position in range(5):
        for i in range(3):
            angle = position / 10_000 ** (2 * i / 6)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_far_positions_stay_exact() -> None:
    assert sinusoidal(100_001, 2)[100_000, 0].item() == pytest.approx(math.sin(100_000), abs=1e-6)


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match="even"):
        sinusoidal(3, 5)


@pytest.mark.parametrize("part", ADDED)
def test_modules_add_one_vector_per_position(part: type[nn.Module]) -> None:
    positions = part(4, 6)
    added = positions(torch.zeros(2, 3, 6))
    assert torch.equal(added[0], added[1])
    assert not torch.equal(added[0, 0], added[0, 1])
    assert_close(positions(torch.ones(2, 3, 6)), added + 1, "added, not replaced")


@pytest.mark.parametrize("part", ALL)
def test_reading_on_is_reading_at_once(part: type[nn.Module]) -> None:
    positions, x = part(5, 6), draw(2, 5, 6)
    whole = positions(x)
    for cut in range(1, 5):
        pieces = torch.cat([positions(x[:, :cut]), positions(x[:, cut:], cut)], dim=1)
        assert_close(pieces, whole, f"cut after {cut}")


def test_learnable_sinusoids_start_as_sinusoids_and_can_leave_them() -> None:
    x = draw(2, 5, 6)
    learnable = LearnableSinusoidal(5, 6)
    assert_close(learnable(x), SinusoidalPositions(5, 6)(x), "before any training")
    assert {name: tuple(p.shape) for name, p in learnable.named_parameters()} == {"frequency": (3,)}
    learnable.frequency.data[1] = 0.3
    assert learnable(torch.zeros(1, 5, 6))[0, 4, 2].item() == pytest.approx(math.sin(4 * 0.3), abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_learnable_sinusoids_tell_far_positions_apart_in_every_dtype(dtype: torch.dtype) -> None:
    """bfloat16 has no number 257; only the frequencies may be as coarse as it is, not the angles."""
    learnable = LearnableSinusoidal(600, 8).to(dtype)
    added = learnable(torch.zeros(1, 600, 8, dtype=dtype))
    assert added.dtype == dtype
    angle = torch.arange(600, dtype=torch.float64).unsqueeze(1) * learnable.frequency.detach().double()
    expected = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    assert_close(added[0].detach().double(), expected, "angles", 0.01)
    assert not torch.equal(added[0, 256], added[0, 257])


def test_the_concatenation_is_mixed_and_adding_is_its_special_case() -> None:
    x, concatenated = draw(2, 3, 6), ConcatenatedPositions(4, 6, d_position=8)
    result = concatenated(x, first=1)
    for b in range(2):
        for t in range(3):
            expected = concatenated.mix.weight @ torch.cat([x[b, t], sinusoidal(4, 8)[t + 1]])
            assert_close(result[b, t], expected, f"row {b}, position {t}")
    adding = ConcatenatedPositions(4, 6)
    adding.mix.weight.data = torch.eye(6).repeat(1, 2)
    assert_close(adding(x), SinusoidalPositions(4, 6)(x), "W = [I, I]")


def test_no_positions_change_nothing_at_any_length() -> None:
    x = draw(2, 7, 6)
    assert torch.equal(NoPositions(4, 6)(x, first=100), x)


@pytest.mark.parametrize("part", LIMITED)
def test_a_text_that_is_too_long_is_refused_with_both_numbers(part: type[nn.Module]) -> None:
    positions = part(4, 6)
    with pytest.raises(ValueError, match=r"5 tokens, this model knows 4 positions"):
        positions(torch.zeros(1, 5, 6))
    with pytest.raises(ValueError, match=r"5 tokens \(3 before and 2 now\), this model knows 4 positions"):
        positions(torch.zeros(1, 2, 6), 3)
    positions(torch.zeros(1, 1, 6), 3)


def test_nothing_but_learned_numbers_is_saved() -> None:
    saved = {part.__name__: list(part(4, 6).state_dict()) for part in ALL}
    assert saved == {
        "LearnedPositions": ["weight"],
        "SinusoidalPositions": [],
        "LearnableSinusoidal": ["frequency"],
        "ConcatenatedPositions": ["mix.weight"],
        "NoPositions": [],
    }


def test_rows_are_numbers_in_binary() -> None:
    for number, row in enumerate(binary_counter(21).flip(1).tolist()):
        assert "".join(map(str, row)) == f"{number:05b}"


@pytest.mark.parametrize(("length", "bits"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (1024, 10), (1025, 11)])
def test_as_many_bits_as_the_largest_number_needs(length: int, bits: int) -> None:
    assert binary_counter(length).shape == (length, bits)
    assert len(binary_counter(length).unique(dim=0)) == length


def test_counters_refuse_what_does_not_fit(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="8 needs 4 bits, got bits=3"):
        binary_counter(9, bits=3)
