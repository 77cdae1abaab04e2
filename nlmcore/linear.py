"""A linear map that reads a text as fast as memory delivers its matrix.

    y = W x + b,  that is  y = b + Σ_j x_j w_j  with w_j the j-th column of W

It is torch.nn.Linear. While no gradient is recorded (a text is written, a model is measured), a large product takes
one of two other ways, for the BLAS that F.linear calls packs W anew before it multiplies by few rows, and on processors
of another maker than its own it leaves half of their width unused:

    one row, W stored (in, out)    the sum above, literally: columns lie one after the other, weighted and added
                                   as an EmbeddingBag does it, which fetches them ahead
    anything else                  oneDNN, which PyTorch brings along

Measured on one core (AMD, AVX-512), W (3072, 576), times as fast as F.linear with W stored (out, in):

    rows                        1      4      8     64
    W stored (out, in)        1.50   1.36   1.43   2.03
    W stored (in, out)        1.80   1.88   1.68   1.99        1.30 by F.linear in the first column, 1 in the others

Departs from the literature: nothing, y is y; sums are added in another order, so the last digits differ.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

WORTH = 2**18
"""Multiplications from which the other ways pay for their call of 10 µs."""

FBGEMM = "fbgemm" in torch.backends.quantized.supported_engines
"""Whether EmbeddingBag has its fast kernel here."""


class Linear(nn.Linear):
    """W x + b; x (..., in) gives (..., out)."""

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch out_features"]:
        weight, bias, numbers = self.weight, self.bias, x.numel()
        if torch.is_grad_enabled() or numbers * self.out_features < WORTH or not _single_on_cpu(x, weight):
            return F.linear(x, weight, bias)
        if numbers == self.in_features and FBGEMM and weight.t().is_contiguous():
            return sum_of_columns(x, weight) if bias is None else sum_of_columns(x, weight) + bias
        multiply = _onednn()
        return multiply(x, weight, bias, "none", [], "") if multiply else F.linear(x, weight, bias)


def sum_of_columns(x: Float[Tensor, "*one in"], weight: Float[Tensor, "out in"]) -> Float[Tensor, "*one out"]:
    """Σ_j x_j w_j for one x and W stored (in, out); each thread sums its part of the outputs."""
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
    return x.dtype is weight.dtype is torch.float32 and x.is_cpu and weight.is_cpu


@lru_cache(maxsize=1)
def _onednn() -> Callable[..., Tensor] | None:
    """PyTorch's door to it, which torch.compile uses too; None where there is none, or it does not multiply."""
    try:
        multiply = torch.ops.mkldnn._linear_pointwise.default
        two = multiply(torch.ones(1, 2), torch.ones(1, 2), None, "none", [], "")
        return multiply if two.tolist() == [[2.0]] else None
    except (AttributeError, RuntimeError, TypeError):
        return None
