"""Sinusoids: each position is written by clock hands that turn at different speeds.

    bit_i(t) = ⌊t / 2^i⌋ mod 2                       counting in binary, where the idea comes from
    PE(pos, 2i) = sin(pos · ω_i),  PE(pos, 2i+1) = cos(pos · ω_i),  ω_i = 10000^{−2i/d_model}
                                                     Vaswani et al. (2017), section 3.5
    the same with ω learned, starting there          Wang et al. (2021), "On position embeddings in BERT",
                                                     "learnable sinusoidal" position embeddings
    y_t = W [x_t; PE(t)] = W_x x_t + W_p PE(t)       e(w); pos(t), lecture "positions"

Adding is the special case W_x = W_p = I of the concatenation.

Departs from the papers: nothing (the authors' own code of 2017 lays all sines before all cosines). From the lecture:
e(w); pos(t) itself is wider than e(w); we mix it back to d_model, so that the blocks keep their width.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.fast import Linear
from nlmcore.positions.absolute import PositionsByTable


def check_waves(name: str, size: int, base: float | int = 2, why: str = "sines and cosines come in pairs") -> None:
    """An even number of waves, and the base of their lengths."""
    if size % 2:
        raise ValueError(f"{name} must be a positive even number ({why}), got {size}")
    if not 1 < base < math.inf:
        raise ValueError(f"base must be a finite number above 1, got {base}")


def frequencies(d_model: int, base: float | int) -> Float[Tensor, " pair"]:
    """ω_i = base^{−2i/d_model} for i < d_model / 2, in float64, radians per position."""
    return base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


@checked
def sinusoidal(length: Size, d_model: Size, base: float | int = 10_000.0) -> Float[Tensor, "length d_model"]:
    """PE(0), …, PE(length − 1). The first pair of columns turns once in 2π positions, the last in nearly 2π · base.

    A shift by k positions rotates every pair by a fixed angle, so PE(pos + k) is a linear function of PE(pos) (section
    3.5). Raises ValueError for an odd d_model, or a base that is not a finite number above 1.
    """
    check_waves("d_model", d_model, base)
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)  # (length, 1)
    return waves(position * frequencies(d_model, base)).float()


def waves(angle: Float[Tensor, "length pair"]) -> Float[Tensor, "length d_model"]:
    """sin and cos of each angle, side by side."""
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


class SinusoidalPositions(PositionsByTable):
    """x_t + PE(t), computed once for max_length positions. Nothing is learned."""

    table: Tensor

    def __init__(self, max_length: Size, d_model: Size) -> None:
        super().__init__(max_length, d_model)
        self.register_buffer("table", sinusoidal(max_length, d_model), persistent=False)

    def placed(self, x: Tensor, first: int, end: int) -> Tensor:
        return x + self.table[first:end]


class LearnableSinusoidal(PositionsByTable):
    """x_t + PE(t) whose d_model / 2 frequencies ω, `frequency`, are learned.

    PE(pos) · PE(pos + k) = Σ_i cos(k ω_i) depends only on the distance k, whatever ω becomes: the frequencies decide
    which distances look alike (Wang et al. 2021). Angles are computed in float32 at least, because half precision does
    not tell position 257 from 256.
    """

    @checked
    def __init__(self, max_length: Size, d_model: Size, base: float | int = 10_000.0) -> None:
        super().__init__(max_length, d_model)
        check_waves("d_model", d_model, base)
        self.frequency = nn.Parameter(frequencies(d_model, base).float())

    def placed(self, x: Tensor, first: int, end: int) -> Tensor:
        exact = torch.promote_types(self.frequency.dtype, torch.float32)
        position = torch.arange(first, end, device=x.device, dtype=exact).unsqueeze(1)
        return x + waves(position * self.frequency).to(self.frequency.dtype)


class ConcatenatedPositions(PositionsByTable):
    """W [x_t; PE(t)] with sinusoids PE of an even width d_position (None: d_model)."""

    table: Tensor

    @checked
    def __init__(self, max_length: Size, d_model: Size, d_position: Size | None = None) -> None:
        super().__init__(max_length, d_model)
        d_position = d_model if d_position is None else d_position
        self.register_buffer("table", sinusoidal(max_length, d_position), persistent=False)
        self.mix = Linear(d_model + d_position, d_model, bias=False)

    def placed(self, x: Tensor, first: int, end: int) -> Tensor:
        positions = self.table[first:end].expand(len(x), -1, -1)
        return self.mix(torch.cat([x, positions], dim=-1))


@checked
def binary_counter(length: Size, bits: Size | None = None) -> Int[Tensor, "length bits"]:
    """The numbers 0 … length − 1 in binary, one per row, lowest bit first; bits: None, as many as the largest needs.

    Column i returns every 2^{i+1} positions. Raises ValueError if `bits` are too few for length − 1.
    """
    needed = max(1, (length - 1).bit_length())
    bits = needed if bits is None else bits
    if bits < needed:
        raise ValueError(f"{length - 1} needs {needed} bits, got bits={bits}")
    return torch.arange(length).unsqueeze(1) >> torch.arange(bits) & 1
