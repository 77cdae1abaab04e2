"""Places of a text mixed all at once, for encoders alone: Linformer, and without attention FNet and MLP-Mixer.

    Linformer    head_i = softmax(Q_i (E K_i)ᵀ / √d_head) F V_i,   E, F (k, n)      Wang et al. (2020), section 4
    FNet         y = Re F_place(F_width(x)),   F(x)_k = Σ_n x_n e^(−2πi kn / N)     Lee-Thorp et al. (2022), section 3
    MLP-Mixer    y_c = W2 GELU(W1 x_c + b1) + b2,  for every channel c, x_c its value at every place
                                                                      Tolstikhin et al. (2021), equation 1

Linformer mixes keys and values of n places into those of k, and every query looks at k: n · k scores per head in place
of n². The matrix softmax(Q Kᵀ) of trained models is nearly of low rank, they found (section 3), which is why k may be
small and need not grow with n: 128 for their n of 512, a quarter, which is the rule here. E and F are shared by all
heads of a layer ("headwise", section 4). First weights: N(0, 1 / n), so that a mixed key begins as long as a key.

FNet and MLP-Mixer do not compare what they mix: the weights are those of the places, whatever the words are. FNet has
no parameters at all, and N log N operations by the fast transform; MLP-Mixer has 2 · places · hidden, with hidden =
d_model / 2 as in the paper's table 1.

Weights belong to places, not to words, so a text has at most max_length of them; and the future cannot be hidden, so a
decoder keeps its attention. Such a part is built by `part(config)` and called `y = part(x, mask)`, mask (batch, 1, 1,
time), True = a real token, and raises ValueError for a text of more than max_length places; `partial(in_encoder, part)`
is what the field `attention` of `TransformerConfig` takes. There are no scores for pairs of places to which a bias by
distance could be added, so a row says where a token stands by `positions`, if it must be said; the decoder is then told
that as well, beside its distances. What stands at padding is taken as zero, or is not looked at: the vectors of real
tokens are those of the text alone.

Departs from the papers: Linformer's first weights. FNet's sum is divided by √(max_length · d_model), so that a layer
neither lengthens nor shortens what it is given: theirs is not, and is followed by a norm, where the baseline's norm
comes before. Positions of Linformer and FNet, in the rows of the catalogue, are sinusoids (theirs are learned).
Linformer leaves padding out of the sums; in FNet and MLP-Mixer a text shorter than max_length has zeros in the other
places: over as many places as the text has, padding would change every frequency. So FNet's transform takes the
operations of max_length places, whatever the text; MLP-Mixer leaves out the rows and columns that meet zeros.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, door
from nlmcore.fast import Linear
from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_attention, build_cross_attention
from nlmcore.variants.shapes import Mask, Vectors


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

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
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

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        time = check_places(x, self.inner.in_features)
        channels = without_padding(x, mask).mT  # (batch, d_model, time)
        hidden = F.gelu(F.linear(channels, self.inner.weight[:, :time], self.inner.bias))
        return F.linear(hidden, self.outer.weight[:time], self.outer.bias[:time]).mT


@encoder_only
def in_encoder(part: Callable[[Any], nn.Module], c: Any, causal: bool) -> nn.Module:
    """part(c) where every position sees every other, the usual attention in a decoder."""
    return build_attention(c, causal) if causal else part(c)


def check_places(x: Vectors, places: int) -> int:
    """How long the text is. Raises ValueError if it is longer than the part has places."""
    if x.shape[1] > places:
        raise ValueError(f"a text may have {places} places, max_length, got {x.shape[1]}")
    return x.shape[1]


def real_places(x: Vectors, mask: Mask) -> Bool[Tensor, "batch time"] | None:
    """Where a token is real. mask: that of a padded text, (batch, 1, 1, time), True = a real token.

    Raises ValueError for another: what mixes all places at once cannot hide some of them from some queries.
    """
    if mask is None:
        return None
    if mask.shape != (len(x), 1, 1, x.shape[1]):
        raise ValueError(
            f"mask must say which tokens are real, {(len(x), 1, 1, x.shape[1])} here, got {tuple(mask.shape)}"
        )
    return mask[:, 0, 0]


def without_padding(x: Vectors, mask: Mask) -> Vectors:
    """x with zeros where no token is real."""
    real = real_places(x, mask)
    return x if real is None else x * real[:, :, None]


class LinformerAttention(nn.Module):
    """x (batch, time, d_model) in and out; k: how many keys are left, max_length / 4 unless given.

    c: a TransformerConfig.
    """

    @door
    def __init__(self, c: Any, k: Size | None = None) -> None:
        super().__init__()
        k = max(1, c.max_length // 4) if k is None else k
        self.attention: Any = build_cross_attention(c)
        self.E, self.F = (nn.Parameter(torch.randn(k, c.max_length) / math.sqrt(c.max_length)) for _ in range(2))

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        time, real = check_places(x, self.E.shape[1]), real_places(x, mask)
        keys, values = self.attention.project_source(x)  # (batch, kv_head, time, d_head)
        if real is not None:
            keys, values = (part * real[:, None, :, None] for part in (keys, values))
        return self.attention.cross_attend(x, Memory(self.E[:, :time] @ keys, self.F[:, :time] @ values))

    def last_matrices(self) -> list[nn.Linear]:
        return [self.attention.output]
