"""Without attention: a Fourier transform or a network over the places mixes what stands at them.

    FNet         y = Re F_place(F_width(x)),   F(x)_k = Σ_n x_n e^(−2πi kn / N)     Lee-Thorp et al. (2022), section 3
    MLP-Mixer    y_c = W2 GELU(W1 x_c + b1) + b2,  for every channel c, x_c its value at every place
                                                                      Tolstikhin et al. (2021), equation 1

Neither compares what it mixes: its weights are those of the places, whatever the words are. FNet has no parameters at
all, and N log N operations by the fast transform; MLP-Mixer has 2 · places · hidden, with hidden = d_model / 2 as in
the paper's table 1. Both see the whole text, so they are for encoders alone, and a text has at most max_length places.

Departs from the papers: FNet's sum is divided by √(max_length · d_model), so that a layer neither lengthens nor
shortens what it is given: theirs is not, and is followed by a norm, where the baseline's norm comes before; its
positions, in the row of the catalogue, are sinusoids (theirs are learned). A text shorter than max_length has zeros in
the other places: over as many places as the text has, padding would change every frequency. So FNet's transform takes
the operations of max_length places, whatever the text; MLP-Mixer leaves out the rows and columns that meet zeros.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.fast import Linear
from nlmcore.variants.encoders import check_places, without_padding


def fourier(x: Float[Tensor, "*batch time d_model"]) -> Float[Tensor, "*batch time d_model"]:
    """The real part of the discrete Fourier transform along both; Lee-Thorp et al. (2022), equation 3.

    In float32 at least: there is no transform of half precision.
    """
    exact = torch.promote_types(x.dtype, torch.float32)
    return torch.fft.fft2(x.to(exact)).real.to(x.dtype)


class FourierMixing(nn.Module):
    """FNet: `fourier(x)` / √(max_length · d_model) in place of attention. c: a TransformerConfig."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.places = c.max_length

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        """mask (batch, 1, 1, time), True = a real token. Raises ValueError for a text longer than max_length."""
        time = check_places(x, self.places)
        all_places = F.pad(without_padding(x, mask), (0, 0, 0, self.places - time))
        return fourier(all_places)[:, :time] / math.sqrt(self.places * x.shape[-1])

    def extra_repr(self) -> str:
        return f"places={self.places}"


class TokenMixing(nn.Module):
    """MLP-Mixer: one network for all channels, from max_length places to `hidden` and back, in place of attention.

    c: a TransformerConfig; hidden: d_model / 2 unless given.
    """

    @door
    def __init__(self, c: Any, hidden: Size | None = None) -> None:
        super().__init__()
        hidden = max(1, c.d_model // 2) if hidden is None else hidden
        self.inner, self.outer = Linear(c.max_length, hidden), Linear(hidden, c.max_length)

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        """mask (batch, 1, 1, time), True = a real token. Raises ValueError for a text longer than max_length."""
        time = check_places(x, self.inner.in_features)
        channels = without_padding(x, mask).mT  # (batch, d_model, time)
        hidden = F.gelu(F.linear(channels, self.inner.weight[:, :time], self.inner.bias))
        return F.linear(hidden, self.outer.weight[:time], self.outer.bias[:time]).mT

    def last_matrices(self) -> list[nn.Linear]:
        return [self.outer]
