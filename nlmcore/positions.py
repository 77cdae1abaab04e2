"""Positions: attention alone sees a bag of vectors; these say where each one stands.

    sinusoidal    PE(pos, 2i) = sin(pos / 10000^{2i/d}),  PE(pos, 2i+1) = cos(pos / 10000^{2i/d})
                  Vaswani et al. (2017), section 3.5
    learned       one free vector per position: Gehring et al. (2017), Devlin et al. (2019)

Departs from the papers: nothing. (The authors' own code lays all sines before all cosines; we interleave
them, as their equations print it.)
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def sinusoidal(length: int, d_model: int, base: float | int = 10_000.0) -> Float[Tensor, "length d_model"]:
    """PE(pos, 2i) = sin(pos · base^{−2i/d_model}), PE(pos, 2i+1) = cos of the same angle; (length, d_model).

    Column pairs are clock hands that turn ever more slowly: the first pair once in 2π positions, the last
    once in nearly 2π · base. Because a shift by k positions turns every hand by a fixed angle, PE(pos + k)
    is a linear function of PE(pos) (section 3.5).

    Raises ValueError if length < 1, or d_model is not a positive even number, or base <= 1.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model must be a positive even number (sines and cosines come in pairs), got {d_model}")
    if base <= 1:
        raise ValueError(f"base must be above 1, got {base}")
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
        self.max_length = max_length
        self.weight = nn.Parameter(torch.empty(max_length, d_model).normal_(std=0.02))

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        if x.shape[1] > self.max_length:
            raise ValueError(f"the text has {x.shape[1]} tokens, this model knows {self.max_length} positions")
        return x + self.weight[: x.shape[1]]


class SinusoidalPositions(nn.Module):
    """x_t + PE(t), computed once for max_length positions. Nothing is learned."""

    table: Tensor

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.max_length = max_length
        self.register_buffer("table", sinusoidal(max_length, d_model), persistent=False)

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        if x.shape[1] > self.max_length:
            raise ValueError(f"the text has {x.shape[1]} tokens, this model was built for {self.max_length}")
        return x + self.table[: x.shape[1]]
