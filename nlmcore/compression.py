"""Fewer bits for trained weights: round them to a few levels, or leave out the smallest.

A **group** of weights that lie side by side in a row shares a scale d and a minimum m. With b bits a weight is one of
2^b levels:

    d = (max x − min x) / (2^b − 1),   m = min x,   q_i = round((x_i − m) / d) in 0 … 2^b − 1,   x'_i = d q_i + m
    symmetric:  d = max |x| / (2^{b−1} − 1),   m = 0,   q_i in −(2^{b−1} − 1) … 2^{b−1} − 1

Error: |x_i − x'_i| ≤ d / 2. d and m are kept in half precision, so a weight costs b + 32 / group bits (symmetric: b +
16 / group).

Symbols: b is `bits`, q `codes`, d `scale`, m `minimum`, x' `rounded`.

Source: ggml (Gerganov et al.), whose Q4_1 is b = 4 with groups of 32, and Q8_0 the symmetric b = 8; no paper describes
them. Pruning by magnitude: Han et al. (2015, "Learning both Weights and Connections", section 3).

Departs from ggml: any b and any group; half-precision scales also round q. Departs from Han et al.: no retraining.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nlmcore.checks import Probability, Size, checked

__all__ = ["BLOCK", "Quantised", "dequantise", "pruned", "quantise", "replaced", "rounded"]

BLOCK = 32
"""Weights that share a scale in a GGUF file."""


class Quantised(NamedTuple):
    """Integers, and what they stand for: x' = scale · codes + minimum. scale and minimum hold half-precision values."""

    codes: Int[Tensor, "group member"]
    scale: Float[Tensor, "group 1"]
    minimum: Float[Tensor, "group 1"]


@checked
def quantise(
    weights: Float[Tensor, "row column"], bits: Size, group: Size = BLOCK, *, symmetric: bool = False
) -> Quantised:
    """Round to nearest. So many weights share a scale: `weights.shape[1]` is a row, `weights.numel()` the matrix.

    Raises ValueError for fewer than two levels, more than 16 bits, or a group that does not divide the weights.
    """
    if not 1 + symmetric <= bits <= 16:
        raise ValueError(f"bits must be between {1 + symmetric} and 16, got {bits}")
    if weights.numel() % group:
        raise ValueError(f"group must divide the {weights.numel()} weights, got {group}")
    x = weights.reshape(-1, group)
    if symmetric:
        top = 2 ** (bits - 1) - 1
        low, minimum, scale = -top, x.new_zeros(len(x), 1), x.abs().amax(1, keepdim=True) / top
    else:
        low, top, minimum = 0, 2**bits - 1, x.amin(1, keepdim=True)
        scale = (x.amax(1, keepdim=True) - minimum) / top
    scale, minimum = scale.half().to(x.dtype), minimum.half().to(x.dtype)  # as the file keeps them
    steps = torch.where(scale > 0, (x - minimum) / scale, 0.0)  # a constant group has no step
    return Quantised(steps.round().clamp(low, top).int(), scale, minimum)


def dequantise(kept: Quantised, shape: torch.Size) -> Tensor:
    """x' = d q + m, in this shape."""
    return (kept.codes * kept.scale + kept.minimum).reshape(shape)


def rounded(weights: Tensor, bits: int, group: int = BLOCK, *, symmetric: bool = False) -> Tensor:
    """The weights that `quantise` keeps, as floating-point numbers again."""
    return dequantise(quantise(weights, bits, group, symmetric=symmetric), weights.shape)


@checked
def pruned(weights: Float[Tensor, "row column"], share: Probability) -> Float[Tensor, "row column"]:
    """The weights with this share of them, the smallest in absolute value, set to zero."""
    smallest = weights.abs().flatten().argsort(stable=True)[: round(share * weights.numel())]
    return weights.flatten().index_fill(0, smallest, 0.0).view(weights.shape)


@contextmanager
def replaced(weights: Mapping[str, Tensor], change: Callable[[str, Tensor], Tensor]) -> Iterator[float]:
    """Inside the `with`, each of a model's weights is change(name, weight) in place; afterwards it is as before.

    Yields the relative error √(Σ |x' − x|² / Σ |x|²) over all of them.
    """
    kept = {name: weight.detach().clone() for name, weight in weights.items()}
    try:
        error = size = 0.0
        with torch.no_grad():
            for name, weight in weights.items():
                weight.copy_(change(name, kept[name]))
                error += float((weight - kept[name]).square().sum())
                size += float(kept[name].square().sum())
        yield (error / size) ** 0.5 if size else 0.0
    finally:
        with torch.no_grad():
            for name, weight in weights.items():
                weight.copy_(kept[name])
