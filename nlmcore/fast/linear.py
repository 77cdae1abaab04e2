"""A linear map as fast as the processor allows: for one row while a text is written, for a batch in training.

    y = x W + b,  that is  y = b + Σ_j x_j w_j  with w_j the j-th row of W

It is torch.nn.Linear, whose `weight` is Wᵀ, (out, in). A large product in single precision takes one of two other ways:

    one row, W stored (in, out)    the sum above: an EmbeddingBag adds the weighted rows, and fetches them ahead
    anything else                  oneDNN, which PyTorch brings along; with gradients too, `Product`

Measured on one core (AMD, AVX-512), W (3072, 576), times as fast as F.linear with W stored (out, in):

    rows                        1      4      8     64
    W stored (out, in)        1.50   1.36   1.43   2.03
    W stored (in, out)        1.80   1.88   1.68   1.99        1.30 by F.linear in the first column, 1 in the others

Departs from the literature: nothing, but terms are summed in a different order, so the last digits differ.

**Multi-head attention** takes few calls: W^Q, W^K and W^V lie in one matrix, of whose rows code that needs one of them
gets a view, which may be written to; PyTorch's fused kernel keeps no (query, key) matrix, and gives the same results.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

WORTH = 2**18  # multiplications from which the other ways pay for their call of 10 µs
WORTH_WITH_GRADIENT = 2**22  # with a gradient: an autograd function in Python costs 50 µs
FBGEMM = "fbgemm" in torch.backends.quantized.supported_engines  # whether EmbeddingBag has its fast kernel here


class Linear(nn.Linear):
    """x W + b; x (..., in) gives (..., out). Raises TypeError or ValueError if x has the wrong dtype or width."""

    def forward(self, x: Float[Tensor, "*batch read"], *part: slice) -> Float[Tensor, "*batch given"]:
        """part: only these outputs, and from these inputs, as if W had no others."""
        weight, bias = self.weight, self.bias
        if part:
            return F.linear(x, weight[part], None if bias is None else bias[part[0]])
        if not isinstance(x, Tensor) or x.dtype is not weight.dtype or x.shape[-1:] != (self.in_features,):
            _check(x, weight)
        numbers = x.numel()
        worth = WORTH_WITH_GRADIENT if torch.is_grad_enabled() else WORTH
        if numbers * self.out_features < worth or not _single_on_cpu(x, weight) or (multiply := _onednn()) is None:
            return F.linear(x, weight, bias)
        if torch.is_grad_enabled():
            return Product.apply(x, weight, bias)
        if numbers == self.in_features and FBGEMM and weight.t().is_contiguous():
            return sum_of_rows(x, weight) if bias is None else sum_of_rows(x, weight) + bias
        return multiply(x, weight, bias)


def _check(x: object, weight: Tensor) -> None:
    """Say what does not fit; under autocast PyTorch makes the dtypes one."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor, got {type(x).__name__} {str(x)[:60]!r}")
    if x.shape[-1:] != weight.shape[1:]:
        raise ValueError(f"x must have a last dimension of {weight.shape[1]}, got shape {tuple(x.shape)}")
    if not (x.is_floating_point() and torch.is_autocast_enabled(x.device.type)):
        raise TypeError(f"x must have the dtype of the weights, {weight.dtype}, got {x.dtype}")


class Product(torch.autograd.Function):
    """y = x Wᵀ + b by oneDNN, W as stored, and its gradients: dx = dy W,  dW = dyᵀ x,  db = Σ_rows dy."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return _onednn()(x, weight, bias)  # type: ignore[misc]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor | None], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        dx = dW = db = None
        if ctx.needs_input_grad[0]:
            dx = _times(dy, weight)
        rows, x = dy.flatten(0, -2), x.flatten(0, -2)
        if ctx.needs_input_grad[1]:  # of dyᵀ x and (xᵀ dy)ᵀ the one that turns the narrower matrix over
            dW = _times(rows.t().contiguous(), x) if len(weight) < weight.shape[1] else _times(x.t(), rows).t()
        if ctx.needs_input_grad[2]:
            db = rows.sum(0)
        return dx, dW, db


def _times(a: Tensor, b: Tensor) -> Tensor:
    """a b; the usual way where the gradient itself is differentiated."""
    multiply = None if torch.is_grad_enabled() else _onednn()
    return a @ b if multiply is None else multiply(a, b.t(), None)


def sum_of_rows(x: Float[Tensor, "*one in"], weight: Float[Tensor, "out in"]) -> Float[Tensor, "*one out"]:
    """Σ_j x_j w_j for one x and a weight stored (in, out); each thread sums its part of the outputs."""
    n_out, n_in = weight.shape
    parts = math.gcd(n_out, torch.get_num_threads())
    pieces = weight.t().view(n_in * parts, n_out // parts)
    order, begins = _order(n_in, parts)
    weights = x.reshape(n_in).repeat(parts) if parts > 1 else x.reshape(n_in)
    return F.embedding_bag(order, pieces, begins, mode="sum", per_sample_weights=weights).view(*x.shape[:-1], n_out)


@lru_cache(maxsize=64)
def _order(n_in: int, parts: int) -> tuple[Tensor, Tensor]:
    """Which pieces make up part 0, part 1, …, (part * in), and where each part begins among them, (part,)."""
    pieces = torch.arange(n_in * parts).view(n_in, parts).t().flatten()
    return pieces, torch.arange(0, n_in * parts, n_in)


def _single_on_cpu(x: Tensor, weight: Tensor) -> bool:
    """Where the other ways apply. Autocast knows only F.linear."""
    single = x.dtype is weight.dtype is torch.float32
    return single and x.is_cpu and weight.is_cpu and not torch.is_autocast_enabled("cpu")


@lru_cache(maxsize=1)
def _onednn() -> Callable[[Tensor, Tensor, Tensor | None], Tensor] | None:
    """x Wᵀ + b by PyTorch's entry point to it, which torch.compile also uses; None if this build lacks it."""
    try:
        kernel = torch.ops.mkldnn._linear_pointwise.default
        two = kernel(torch.ones(1, 2), torch.ones(1, 2), None, "none", [], "")
    except (AttributeError, RuntimeError, TypeError):
        return None
    return (lambda x, weight, bias: kernel(x, weight, bias, "none", [], "")) if two.tolist() == [[2.0]] else None


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, dropout: float, causal: bool
) -> Tensor:
    """softmax(q kᵀ / √d_head + bias) v; q (batch, head, query, d_head), k and v with as many heads or a divisor."""
    grouped = k.shape[1] < q.shape[1]
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    elif grouped and mask is None and q.shape[2] == 1:  # one query: a group's heads are rows of one small matrix
        queries = q.reshape(len(q), k.shape[1], -1, q.shape[3])
        return F.scaled_dot_product_attention(queries, k, v, None, dropout).reshape(q.shape)
    return F.scaled_dot_product_attention(q, k, v, mask, dropout, causal, enable_gqa=grouped)


class Rows:
    """y = x Wᵀ + b, with W and b the rows begin to end of `whole`, which is called for them alone."""

    def __init__(self, whole: nn.Linear, begin: int, end: int) -> None:
        self.whole, self.part = whole, slice(begin, end)
        self.weight: Tensor = whole.weight[begin:end]
        self.bias: Tensor | None = None if whole.bias is None else whole.bias[begin:end]

    def __call__(self, x: Tensor) -> Tensor:
        return self.whole(x, self.part)


def view_of_rows(part: int) -> Any:
    """A property of multi-head attention: the rows of W^Q (part 0), W^K (1) or W^V (2) in its `projection`."""

    def view(attention: Any) -> Rows:
        own, shared = attention.n_heads * attention.d_head, attention.n_kv_heads * attention.d_head
        edges = (0, own, own + shared, own + 2 * shared)
        return Rows(attention.projection, edges[part], edges[part + 1])

    return property(view)
