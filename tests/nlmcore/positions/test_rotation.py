"""Rotary positions: the equation, the law of distance, the two layouts, and reading on."""

import math

import pytest
import torch
from torch import Tensor

from nlmcore.positions import Rotary, rotary
from tests.laws import assert_close

LAYOUTS = ["half", "interleaved"]


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def pairs(layout: str, d: int) -> list[tuple[int, int]]:
    half = d // 2
    return [(i, i + half) for i in range(half)] if layout == "half" else [(2 * i, 2 * i + 1) for i in range(half)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_pair_is_turned_by_its_own_angle(layout: str) -> None:
    x, places, base = draw(2, 3, 4, 6), torch.tensor([0, 5, 2, 300]), 50.0
    expected = torch.empty_like(x)
    for b in range(2):
        for h in range(3):
            for t, m in enumerate(places.tolist()):
                for i, (first, second) in enumerate(pairs(layout, 6)):
                    z = complex(x[b, h, t, first].item(), x[b, h, t, second].item())
                    z *= complex(math.cos(m * base ** (-2 * i / 6)), math.sin(m * base ** (-2 * i / 6)))
                    expected[b, h, t, first], expected[b, h, t, second] = z.real, z.imag
    assert_close(rotary(x, places, base, layout), expected, layout)


def test_the_default_is_the_layout_of_hugging_face() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).reshape(1, 1, 1, 4)
    rotated_half = torch.tensor([-3.0, -4.0, 1.0, 2.0])
    angle = torch.tensor([7.0, 7.0 / 100, 7.0, 7.0 / 100])
    assert_close(rotary(x, torch.tensor([7]))[0, 0, 0], x[0, 0, 0] * angle.cos() + rotated_half * angle.sin(), "half")


def test_rows_may_stand_at_positions_of_their_own() -> None:
    x, places = draw(2, 3, 4, 6), torch.tensor([[0, 1, 2, 3], [7, 5, 3, 9]])
    each = torch.cat([rotary(x[b : b + 1], places[b]) for b in range(2)])
    assert_close(rotary(x, places), each, "(batch, time)")


def test_far_positions_stay_exact() -> None:
    x = torch.tensor([1.0, 0.0]).reshape(1, 1, 1, 2)
    assert rotary(x, torch.tensor([1_000_003]))[0, 0, 0, 0].item() == pytest.approx(math.cos(1_000_003), abs=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_module_is_the_function(layout: str, dtype: torch.dtype) -> None:
    module, x = Rotary(3, 6, 4, True, base=500, layout=layout), draw(2, 3, 5, 6).to(dtype)
    for first in (0, 3, 1000):
        turned = module.rotate(x, first)
        assert turned.dtype == dtype
        assert torch.equal(turned, rotary(x, torch.arange(first, first + 5), 500, layout))


def test_two_modules_do_not_disturb_each_other() -> None:
    x = draw(1, 2, 3, 6)
    modules = [Rotary(2, 6, 9, True, base=base, layout=layout) for base in (10.0, 1e4) for layout in LAYOUTS]
    results = [module.rotate(x, 5) for module in modules]
    for module, result in zip(modules, results, strict=True):
        assert torch.equal(module.rotate(x, 5), result)
    assert all(not torch.allclose(results[0], other) for other in results[1:])


def test_gradients_flow_also_after_a_first_call_in_inference_mode() -> None:
    module, x = Rotary(2, 6, 9, True, base=123.0), draw(1, 2, 3, 6)
    with torch.inference_mode():
        module.rotate(x, 2)
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: module.rotate(x, 2), x.detach().double().requires_grad_())
    module.rotate(x, 2).square().sum().backward()
    assert_close(x.grad, 2 * x.detach(), "a rotation's square is the square")


def test_what_does_not_fit_is_refused(plain_errors: None) -> None:
    x, places = draw(2, 3, 4, 6), torch.arange(4)
    with pytest.raises(ValueError, match=r"d_head must be a positive even number .*pairs.*, got 5"):
        rotary(x[..., :5], places)
    with pytest.raises(ValueError, match=r"d_head must be a positive even number .*, got 5"):
        Rotary(3, 5, 9, True)
    with pytest.raises(ValueError, match=r"positions must have shape \(time,\) = \(4,\)"):
        rotary(x, torch.arange(3))
    with pytest.raises(ValueError, match="'half' or 'interleaved', got 'llama'"):
        rotary(x, places, layout="llama")
    with pytest.raises(ValueError, match="base must be a finite number above 1, got 1"):
        Rotary(3, 6, 9, True, base=1)
    with pytest.raises(ValueError, match=r"x must have shape \(batch, head, time, 6\)"):
        Rotary(3, 6, 9, True).rotate(x[..., :4], 0)
    with pytest.raises(ValueError, match="first"):
        Rotary(3, 6, 9, True).rotate(x, -1)
