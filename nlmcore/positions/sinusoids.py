"""Sinusoids: each position is written by clock hands that turn at different speeds.

    PE(pos, 2i) = sin(pos · ω_i),  PE(pos, 2i+1) = cos(pos · ω_i),  ω_i = 10000^{−2i/d_model}
                                                     Vaswani et al. (2017), section 3.5
    the same with ω learned, starting there          Wang et al. (2021), "On position embeddings in BERT",
                                                     "learnable sinusoidal" position embeddings

Departs from the papers: nothing. (The authors' own code of 2017 lays all sines before all cosines; we
interleave them, as their equations print it.)
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.positions.checks import check_base, check_even, check_text


def frequencies(d_model: int, base: float | int) -> Float[Tensor, " pair"]:
    """ω_i = base^{−2i/d_model} for i < d_model / 2, in float64, radians per position."""
    return base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def sinusoidal(length: int, d_model: int, base: float | int = 10_000.0) -> Float[Tensor, "length d_model"]:
    """PE(pos, 2i) = sin(pos · base^{−2i/d_model}), PE(pos, 2i+1) = cos of the same angle; (length, d_model).

    Column pairs are clock hands that turn ever more slowly: the first pair once in 2π positions, the last
    once in nearly 2π · base. Because a shift by k positions turns every hand by a fixed angle, PE(pos + k)
    is a linear function of PE(pos) (section 3.5).

    Raises ValueError if length < 1, or d_model is not a positive even number, or base is not a finite number
    above 1; TypeError if a size is no whole number.
    """
    check_sizes(length=length)
    check_even("d_model", d_model, "sines and cosines come in pairs")
    check_base(base)
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)  # (length, 1)
    return waves(position * frequencies(d_model, base)).float()


def waves(angle: Float[Tensor, "length pair"]) -> Float[Tensor, "length d_model"]:
    """sin and cos of each angle, side by side."""
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


class SinusoidalPositions(nn.Module):
    """x_t + PE(t), computed once for max_length positions. Nothing is learned.

    Raises ValueError for a text longer than max_length. There are sinusoids for every position, and a larger
    max_length changes no other vector: it is the model that has not been trained that far.
    """

    table: Tensor

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        check_sizes(max_length=max_length)
        self.max_length = max_length
        self.register_buffer("table", sinusoidal(max_length, d_model), persistent=False)

    def forward(self, x: Float[Tensor, "batch time d_model"], first: int = 0) -> Float[Tensor, "batch time d_model"]:
        """x_t + PE(first + t): `first` tokens were read before x."""
        check_text(x, self.table.shape[1], first, self.max_length)
        return x + self.table[first : first + x.shape[1]]


class LearnableSinusoidal(nn.Module):
    """x_t + PE(t) whose d_model / 2 frequencies ω are parameters: d_model / 2 numbers instead of a table.

    PE(pos) · PE(pos + k) = Σ_i cos(k ω_i) depends on the distance k alone, whatever ω becomes: the
    frequencies decide which distances look alike (Wang et al. 2021). Symbols: ω is `frequency`. Angles are computed in
    float32 at least: the numbers of a half-precision model do not tell position 257 from 256.

    Raises ValueError for a text longer than max_length, TypeError and ValueError for sizes as `sinusoidal`.
    """

    def __init__(self, max_length: int, d_model: int, base: float | int = 10_000.0) -> None:
        super().__init__()
        check_sizes(max_length=max_length)
        check_even("d_model", d_model, "sines and cosines come in pairs")
        check_base(base)
        self.max_length, self.d_model = max_length, d_model
        self.frequency = nn.Parameter(frequencies(d_model, base).float())

    def forward(self, x: Float[Tensor, "batch time d_model"], first: int = 0) -> Float[Tensor, "batch time d_model"]:
        """x_t + PE(first + t): `first` tokens were read before x."""
        check_text(x, self.d_model, first, self.max_length)
        exact = torch.promote_types(self.frequency.dtype, torch.float32)
        position = torch.arange(first, first + x.shape[1], device=x.device, dtype=exact).unsqueeze(1)
        return x + waves(position * self.frequency).to(self.frequency.dtype)
