"""Separable convolution: first the neighbours of each channel by itself, then the channels of each position.

    z_tc = Σ_j k_cj x_{t+j, c},   y_t = z_t W               Chollet (2017), "Xception"; Kaiser, Gomez & Chollet (2018)

It is a convolution whose matrix for the j-th neighbour is W diag(k_1j, …, k_dj): d_in · width + d_in · d_out parameters
instead of d_in · d_out · width. `evolved` has some.

Symbols: k is `depthwise`, W is `pointwise`.

Departs from the papers: no bias. First weights of k are PyTorch's.
"""

from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.fast import Linear


class SeparableConvolution(nn.Module):
    """x (batch, time + width − 1, d_in) -> (batch, time, d_out): the caller adds the zeros."""

    @checked
    def __init__(self, d_in: Size, d_out: Size, width: Size) -> None:
        super().__init__()
        self.width = width
        self.depthwise = nn.Conv1d(d_in, d_in, width, groups=d_in, bias=False)
        self.pointwise = Linear(d_in, d_out, bias=False)

    def forward(self, x: Float[Tensor, "batch read d_in"]) -> Float[Tensor, "batch time d_out"]:
        return self.pointwise(self.depthwise(x.transpose(1, 2)).transpose(1, 2))  # Conv1d has channels second
