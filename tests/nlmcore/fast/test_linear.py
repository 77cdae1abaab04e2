"""Every fast path gives what the explained one gives: the same numbers, up to the order in which sums are added."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nlmcore.fast import linear
from nlmcore.fast.linear import Linear, sum_of_rows

N_IN, N_OUT = 96, 52


def layer(bias: bool, stored: str, n_out: int = N_OUT) -> Linear:
    made = Linear(N_IN, n_out, bias=bias)
    if stored == "(in, out)":
        made.weight = torch.nn.Parameter(made.weight.detach().t().contiguous().t())
    return made


def explained(made: Linear, x: Tensor) -> Tensor:
    """y_i = b_i + Σ_j W_ij x_j, in double precision."""
    y = torch.einsum("oi,bti->bto", made.weight.detach().double(), x.double())
    return y if made.bias is None else y + made.bias.detach().double()


@pytest.fixture
def everything_pays(monkeypatch) -> None:
    monkeypatch.setattr(linear, "WORTH", 0)
    monkeypatch.setattr(linear, "WORTH_WITH_GRADIENT", 0)


@pytest.fixture
def no_f_linear(monkeypatch) -> None:
    def refuse(*arguments: object) -> Tensor:
        raise AssertionError("F.linear was called")

    monkeypatch.setattr(F, "linear", refuse)


@pytest.mark.usefixtures("everything_pays")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("stored", ["(in, out)", "(out, in)"])
@pytest.mark.parametrize(("batch", "time"), [(1, 1), (1, 3), (4, 1), (5, 7)])
def test_a_large_product_is_the_product(bias: bool, stored: str, batch: int, time: int):
    made, x = layer(bias, stored), torch.randn(batch, time, N_IN)
    with torch.no_grad():
        y = made(x)
        torch.testing.assert_close(y, F.linear(x, made.weight, made.bias), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(y.double(), explained(made, x), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("everything_pays", "no_f_linear")
@pytest.mark.skipif(not linear.FBGEMM or linear._onednn() is None, reason="the libraries are not in this PyTorch")
@pytest.mark.parametrize(("stored", "batch"), [("(in, out)", 1), ("(in, out)", 3), ("(out, in)", 1)])
def test_the_fast_paths_are_taken(stored: str, batch: int):
    with torch.no_grad():
        assert layer(True, stored)(torch.randn(batch, 1, N_IN)).shape == (batch, 1, N_OUT)


def gradients(y: Tensor, upstream: Tensor, made: Linear, x: Tensor) -> tuple[Tensor, ...]:
    given = [x, made.weight, *([] if made.bias is None else [made.bias])]
    return torch.autograd.grad((y * upstream).sum(), given)


@pytest.mark.usefixtures("everything_pays")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("stored", ["(in, out)", "(out, in)"])
@pytest.mark.parametrize("n_out", [N_OUT, 2 * N_IN])
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (6,)])
def test_gradients_are_those_of_the_product(bias: bool, stored: str, n_out: int, shape: tuple[int, ...]):
    made, x = layer(bias, stored, n_out), torch.randn(*shape, N_IN, requires_grad=True)
    upstream = torch.randn(*shape, n_out)
    fast, usual = made(x), F.linear(x, made.weight, made.bias)
    torch.testing.assert_close(fast, usual, rtol=1e-5, atol=1e-5)
    for got, expected in zip(gradients(fast, upstream, made, x), gradients(usual, upstream, made, x), strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("everything_pays", "no_f_linear")
@pytest.mark.skipif(linear._onednn() is None, reason="the library is not in this PyTorch")
def test_training_takes_the_fast_path():
    made, x = layer(True, "(out, in)"), torch.randn(5, 7, N_IN)
    made(x).sum().backward()
    assert made.weight.grad is not None
    torch.testing.assert_close(made.weight.grad, x.sum((0, 1)).expand(N_OUT, -1), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("everything_pays")
def test_nothing_is_computed_for_what_is_frozen():
    made, x = layer(True, "(out, in)").requires_grad_(False), torch.randn(5, 7, N_IN, requires_grad=True)
    made(x).sum().backward()
    assert x.grad is not None
    assert made.weight.grad is None
    torch.testing.assert_close(x.grad[2, 3], made.weight.sum(0), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("everything_pays")
def test_a_gradient_can_be_differentiated():
    made, x = layer(True, "(out, in)"), torch.randn(5, 7, N_IN, requires_grad=True)

    def penalty(y: Tensor) -> Tensor:
        (dx,) = torch.autograd.grad(y.tanh().sum(), x, create_graph=True)
        return torch.autograd.grad(dx.square().sum(), made.weight)[0]

    usual = penalty(F.linear(x, made.weight, made.bias))
    torch.testing.assert_close(penalty(made(x)), usual, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_threads_share_the_sum_of_rows(threads: int, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    made, x = layer(False, "(in, out)"), torch.randn(1, 1, N_IN)
    with torch.no_grad():
        y = sum_of_rows(x, made.weight)
    torch.testing.assert_close(y.double(), explained(made, x), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("everything_pays")
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_numbers_go_the_usual_way(dtype: torch.dtype):
    made, x = layer(True, "(in, out)").to(dtype), torch.randn(1, 1, N_IN, dtype=dtype)
    with torch.no_grad():
        assert torch.equal(made(x), F.linear(x, made.weight, made.bias))


@pytest.mark.usefixtures("everything_pays")
@pytest.mark.parametrize("stored", ["(in, out)", "(out, in)"])
def test_a_library_that_is_not_there_is_not_missed(stored: str, monkeypatch):
    monkeypatch.setattr(linear, "FBGEMM", False)
    monkeypatch.setattr(linear, "_onednn", lambda: None)
    made = layer(True, stored)
    for batch in (1, 3):
        x = torch.randn(batch, 1, N_IN)
        with torch.no_grad():
            torch.testing.assert_close(made(x), F.linear(x, made.weight, made.bias))


@pytest.mark.usefixtures("everything_pays")
def test_a_part_of_a_larger_matrix_is_multiplied_too():
    whole = torch.randn(N_IN, 2 * N_OUT).t()
    made = layer(False, "(in, out)")
    made.weight = torch.nn.Parameter(whole[:N_OUT])  # its columns do not follow each other in memory
    x = torch.randn(1, 1, N_IN)
    with torch.no_grad():
        torch.testing.assert_close(made(x), x @ whole[:N_OUT].t(), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("everything_pays")
def test_infinite_and_no_numbers_are_not_hidden():
    made = layer(False, "(in, out)")
    x = torch.zeros(1, 1, N_IN)
    x[..., 5] = torch.nan
    with torch.no_grad():
        assert made(x).isnan().all()


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        (None, TypeError, "x must be a tensor, got NoneType"),
        (torch.zeros(2, 5), ValueError, r"x must have a last dimension of 3, got shape \(2, 5\)"),
        (torch.zeros(()), ValueError, r"last dimension of 3, got shape \(\)"),
        (torch.zeros(2, 3).long(), TypeError, "dtype of the weights, torch.float32, got torch.int64"),
        (torch.zeros(2, 3).double(), TypeError, "dtype of the weights, torch.float32, got torch.float64"),
    ],
)
def test_what_cannot_be_multiplied_is_named(plain_errors: None, x: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        Linear(3, 4)(x)


def test_mixed_precision_is_no_mistake():
    with torch.autocast("cpu", torch.bfloat16):
        assert Linear(3, 4)(torch.zeros(2, 3).bfloat16()).dtype == torch.bfloat16
