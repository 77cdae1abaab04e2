"""Positions: attention alone sees a bag of vectors; these say where each one stands.

    sinusoidal    PE(pos, 2i) = sin(pos / 10000^{2i/d}),  PE(pos, 2i+1) = cos(pos / 10000^{2i/d})
                  Vaswani et al. (2017), section 3.5
    learned       one free vector per position: Gehring et al. (2017), Devlin et al. (2019)

Departs from the papers: nothing. (The authors' own code lays all sines before all cosines; we interleave
them, as their equations print it.)
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention.checks import check_floats
from nlmcore.checks import check_sizes


def sinusoidal(length: int, d_model: int, base: float | int = 10_000.0) -> Float[Tensor, "length d_model"]:
    """PE(pos, 2i) = sin(pos · base^{−2i/d_model}), PE(pos, 2i+1) = cos of the same angle; (length, d_model).

    Column pairs are clock hands that turn ever more slowly: the first pair once in 2π positions, the last
    once in nearly 2π · base. Because a shift by k positions turns every hand by a fixed angle, PE(pos + k)
    is a linear function of PE(pos) (section 3.5).

    Raises ValueError if length < 1, or d_model is not a positive even number, or base is not a finite number
    above 1; TypeError if a size is no whole number.
    """
    check_sizes(length=length)
    if not isinstance(d_model, int):
        raise TypeError(f"d_model must be a positive even number, got {d_model!r}")
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model must be a positive even number (sines and cosines come in pairs), got {d_model}")
    if not 1 < base < math.inf:
        raise ValueError(f"base must be a finite number above 1, got {base}")
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)  # (length, 1)
    frequency = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # (d_model / 2,)
    angle = position * frequency  # (length, d_model / 2), in radians
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


class LearnedPositions(nn.Module):
    """x_t + p_t with a free vector p_t for each of max_length positions; x (batch, time, d_model).

    Raises ValueError for a text longer than max_length: there is no vector for what was never trained.
    """

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        check_sizes(max_length=max_length, d_model=d_model)
        self.max_length = max_length
        self.weight = nn.Parameter(torch.empty(max_length, d_model).normal_(std=0.02))

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        _check_text(x, self.weight)
        return x + self.weight[: x.shape[1]]


class SinusoidalPositions(nn.Module):
    """x_t + PE(t), computed once for max_length positions. Nothing is learned."""

    table: Tensor

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.max_length = max_length
        self.register_buffer("table", sinusoidal(max_length, d_model), persistent=False)

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        _check_text(x, self.table)
        return x + self.table[: x.shape[1]]


def _check_text(x: Tensor, table: Tensor) -> None:
    """x must be (batch, time, d_model) with no more positions than the table (max_length, d_model) has."""
    check_floats(x=x)
    if x.ndim != 3 or x.shape[2] != table.shape[1]:
        raise ValueError(f"x must have shape (batch, time, {table.shape[1]}), got {tuple(x.shape)}")
    if x.shape[1] > len(table):
        raise ValueError(f"the text has {x.shape[1]} tokens, this model knows {len(table)} positions")
