"""Rotary positions: queries and keys are rotated by an angle that grows with their position.

    (y_a, y_b) = (x_a cos mθ_i − x_b sin mθ_i,  x_b cos mθ_i + x_a sin mθ_i),   θ_i = base^{−2i/d_head}
                                                     Su et al. (2021), section 3.2.2, equations 14, 15 and 34

for the i-th pair (a, b) of a vector at position m. Rotating both sides of a dot product by one angle changes nothing,
so (R_m q) · (R_n k) = q · R_{n−m} k, and the score depends only on the distance. Two layouts say what is a pair:

    "interleaved"   (2i, 2i + 1)             the paper, GPT-J, Llama's own code, GGUF files
    "half"          (i, i + d_head / 2)      GPT-NeoX, Hugging Face; one roll instead of a reshuffle

Departs from the paper: nothing ("half" is a change of basis).
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.positions.sinusoids import check_waves, frequencies

Layout = Literal["half", "interleaved"]
PAIRS = "rotary positions rotate pairs of numbers"


# layout -> (lay two halves of pairs into one vector, swap the two numbers of every pair)
_LAYOUTS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "half": (lambda a, b: torch.cat([a, b], -1), lambda x: x.roll(x.shape[-1] // 2, -1)),
    "interleaved": (
        lambda a, b: torch.stack([a, b], -1).flatten(-2),
        lambda x: x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
    ),
}


@checked
def rotary(
    x: Float[Tensor, "batch head time d_head"],
    positions: Tensor,
    base: float | int = 10_000.0,
    layout: Layout = "half",
) -> Float[Tensor, "batch head time d_head"]:
    """Rotate the i-th pair of the vector at position m by the angle m · base^{−2i/d_head}.

    positions (time,), or (batch, time) each. Raises ValueError for an odd d_head, or positions that do not fit.
    """
    check_waves("d_head", x.shape[3], base, PAIRS)
    if positions.dtype == torch.bool or positions.is_complex():
        raise TypeError(f"positions must be a tensor of numbers, got {positions.dtype}")
    if positions.shape not in ((x.shape[2],), (x.shape[0], x.shape[2])):
        raise ValueError(
            f"positions must have shape (time,) = ({x.shape[2]},) or (batch, time) = ({x.shape[0]}, {x.shape[2]}),"
            f" got {tuple(positions.shape)}"
        )
    if positions.ndim == 2:
        positions = positions.unsqueeze(1)  # (batch, 1, time): the same for every head
    return _rotate(x, *_cos_sin(positions, x.shape[3], base, layout, x.dtype), layout)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """x cos + swap(x) sin, where sin is negative for the first of each pair."""
    swap = _LAYOUTS[layout][1]
    return torch.addcmul(x * cos, swap(x), sin)


def _cos_sin(
    positions: Tensor, d_head: int, base: float | int, layout: str, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """(…, time, d_head) each; angles in float64, because far positions are large numbers."""
    angle = positions.double().unsqueeze(-1) * frequencies(d_head, base).to(positions.device)
    cos, sin, lay = angle.cos(), angle.sin(), _LAYOUTS[layout][0]
    return lay(cos, cos).to(dtype), lay(-sin, sin).to(dtype)


@lru_cache(maxsize=8)
def _cos_sin_of_a_stretch(
    first: int, time: int, d_head: int, base: float | int, layout: str, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Those of positions first … first + time − 1: every layer asks for the same ones, for queries and for keys."""
    with torch.inference_mode(False), torch.no_grad():  # what is kept must serve later calls of any mode
        return _cos_sin(torch.arange(first, first + time, device=device), d_head, base, layout, dtype)


class Rotary(nn.Module):
    """`rotary` for attention: `rotate(x, first)` rotates queries or keys. Nothing is learned, no length is too long.

    All layers share the sines and cosines of a stretch of text, so one more token costs each layer three operations.
    """

    @checked
    def __init__(
        self,
        n_heads: Size,
        d_head: Size,
        max_length: Size,
        causal: bool,
        *,
        base: float | int = 10_000.0,
        layout: Layout = "half",
    ) -> None:
        super().__init__()
        check_waves("d_head", d_head, base, PAIRS)
        self.d_head, self.base, self.layout = d_head, base, layout

    def rotate(
        self, x: Float[Tensor, "batch head time d_head"], first: int = 0
    ) -> Float[Tensor, "batch head time d_head"]:
        """Rotate x, whose vectors are at positions first, first + 1, …; any number of heads."""
        if x.ndim != 4 or x.shape[3] != self.d_head or first < 0:
            shape = f"(batch, head, time, {self.d_head})"
            raise ValueError(f"x must have shape {shape} and first be at least 0, got {tuple(x.shape)} and {first}")
        cos, sin = _cos_sin_of_a_stretch(first, x.shape[2], self.d_head, self.base, self.layout, x.dtype, x.device)
        return _rotate(x, cos, sin, self.layout)

    forward = rotate

    def extra_repr(self) -> str:
        return f"d_head={self.d_head}, base={self.base}, layout={self.layout!r}"
