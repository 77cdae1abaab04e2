"""Rounding and pruning: laws, a loop over single weights, and the blocks of a GGUF file."""

import pytest
import torch
from torch import Tensor

from nlmcore.compression import BLOCK, pruned, quantise, replaced, rounded
from nlmcore.pretrained.weights import from_q4_1, from_q8_0

GROUPS = (4, 12, 60)  # of a row's 12 weights: a third, all, and those of all five rows


def weights(seed: int = 0, rows: int = 5, columns: int = 12) -> Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) + 0.3


def half(x: float) -> float:
    return float(torch.tensor(x).half())


def by_hand(row: list[float], bits: int, symmetric: bool) -> list[float]:
    """The equations, one weight after another."""
    if symmetric:
        top, minimum = 2 ** (bits - 1) - 1, 0.0
        scale = half(max(map(abs, row)) / top)
        low = -top
    else:
        low, top, minimum = 0, 2**bits - 1, half(min(row))
        scale = half((max(row) - min(row)) / top)
    return [min(max(round((x - minimum) / scale), low), top) * scale + minimum for x in row]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_every_weight_is_the_nearest_level(bits: int, group: int, symmetric: bool) -> None:
    x = weights()
    wanted = [v for piece in x.flatten().split(group) for v in by_hand(piece.tolist(), bits, symmetric)]
    assert torch.allclose(rounded(x, bits, group, symmetric=symmetric).flatten(), torch.tensor(wanted), atol=1e-5)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("bits", [1, 2, 4, 7])
def test_rounding_twice_is_rounding_once(bits: int, group: int) -> None:
    once = rounded(weights(), bits, group)
    assert torch.equal(rounded(once, bits, group), once)


def test_a_constant_group_and_zeros_stay() -> None:
    assert torch.equal(rounded(torch.full((2, 4), 0.5), 3, 4), torch.full((2, 4), 0.5))
    assert torch.equal(rounded(torch.zeros(2, 4), 3, 4, symmetric=True), torch.zeros(2, 4))


def test_4_bits_of_a_4_bit_file_are_the_identity() -> None:
    """A block of Q4_1 uses its lowest and its highest level, so its scale is the one that we compute."""
    generator = torch.Generator().manual_seed(1)
    data = torch.randint(256, (6, 3, 4 + BLOCK // 2), generator=generator, dtype=torch.uint8)
    scales = torch.rand(6, 3, 2, generator=generator).half().view(torch.uint8).view(6, 3, 4)
    data[..., :4] = scales
    data[..., 4] = 0xF0  # the levels 0 and 15
    x = from_q4_1(data.flatten(1))
    assert torch.equal(rounded(x, 4), x)
    assert not torch.equal(rounded(x, 3), x)


def test_symmetric_8_bits_are_those_of_a_file() -> None:
    x = weights(rows=3, columns=2 * BLOCK)
    kept = quantise(x, 8, symmetric=True)
    data = torch.cat([kept.scale.half().view(torch.uint8), kept.codes.to(torch.int8).view(torch.uint8)], dim=1)
    assert torch.equal(from_q8_0(data.view(3, -1)), rounded(x, 8, symmetric=True))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_the_smallest_are_left_out(share: float) -> None:
    x = weights()
    out, gone = pruned(x, share), round(share * x.numel())
    assert int((out == 0).sum()) == gone
    assert torch.equal(out[out != 0], x[out != 0])
    if 0 < gone < x.numel():
        assert x[out == 0].abs().max() <= x[out != 0].abs().min()
    assert torch.equal(pruned(x.t(), share), out.t())  # any strides


def test_replaced_weights_are_restored_even_after_an_error() -> None:
    layer = torch.nn.Linear(3, 2)
    w = {"w": layer.weight}
    before = layer.weight.detach().clone()
    with replaced(w, lambda name, x: x * 3 if name == "w" else x) as error:
        assert torch.equal(layer.weight, 3 * before)
        assert error == pytest.approx(2.0)
    with pytest.raises(ZeroDivisionError), replaced(w, lambda _, x: 0 * x):
        raise ZeroDivisionError
    assert torch.equal(layer.weight, before)


@pytest.mark.parametrize(
    ("bits", "group", "symmetric", "says"),
    [(0, 4, False, "bits"), (1, 4, True, "between 2 and 16"), (17, 4, False, "got 17"), (4, 7, False, "divide the 60")],
)
def test_refusals_say_why(bits: int, group: int, symmetric: bool, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        quantise(weights(), bits, group, symmetric=symmetric)
