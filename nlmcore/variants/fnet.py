"""FNet: a Fourier transform over positions and dimensions instead of attention, for encoders only.

    y = Re F_time(F_width(x)),   F(x)_k = Σ_n x_n e^(−2πi kn / N)      Lee-Thorp et al. (2022), section 3

It has no parameters and takes N log N operations. Its weights depend on positions, whatever the words are, so a text
has at most max_length tokens; and they cannot hide the future, so a decoder keeps its attention (`parts.in_encoder`).

Departs from the paper: positions (theirs are learned). The sum is divided by √(max_length · d_model), so that a layer
keeps the length of its input; theirs is followed by a norm instead. Padding counts as zero, and a text shorter than
max_length is padded with zeros.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.positions.absolute import check_length
from nlmcore.variants.parts import Mask, Vectors, without_padding


def fourier(x: Float[Tensor, "*batch time d_model"]) -> Float[Tensor, "*batch time d_model"]:
    """The real part of the discrete Fourier transform along both axes; Lee-Thorp et al. (2022), equation 3.

    In float32 at least, because there is no transform in half precision.
    """
    exact = torch.promote_types(x.dtype, torch.float32)
    return torch.fft.fft2(x.to(exact)).real.to(x.dtype)


class FourierMixing(nn.Module):
    """FNet: `fourier(x)` / √(max_length · d_model); c: a TransformerConfig."""

    never_causal = "cannot hide the future: every frequency is a sum over all positions"

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.max_length = c.max_length

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        time = x.shape[1]
        check_length(0, time, self.max_length)
        whole = F.pad(without_padding(x, mask), (0, 0, 0, self.max_length - time))  # (batch, max_length, d_model)
        return fourier(whole)[:, :time] / math.sqrt(self.max_length * x.shape[-1])

    def extra_repr(self) -> str:
        return f"max_length={self.max_length}"
