"""Mixing of all positions at once, for encoders only: Linformer, and without attention FNet and MLP-Mixer.

    Linformer    head_i = softmax(Q_i (E K_i)ᵀ / √d_head) F V_i,   E, F (k, n)      Wang et al. (2020), section 4
    FNet         y = Re F_time(F_width(x)),   F(x)_k = Σ_n x_n e^(−2πi kn / N)      Lee-Thorp et al. (2022), section 3
    MLP-Mixer    y_c = GELU(x_c W1 + b1) W2 + b2,  for every channel c, x_c its value at every position
                                                                      Tolstikhin et al. (2021), equation 1

Linformer mixes the keys and values of n positions into k, so a head has n · k scores instead of n². In trained models
the matrix softmax(Q Kᵀ) is nearly of low rank (section 3), so k may be small and need not grow with n: 128 for their n
of 512, a quarter, which is the rule here. All heads of a layer share E and F ("headwise", section 4), which start at
N(0, 1 / n), so that a mixed key is as long as a key.

The weights of FNet and MLP-Mixer depend on positions, whatever the words are. FNet has no parameters and takes N log N
operations; MLP-Mixer has 2 · positions · hidden, with hidden = d_model / 2 as in the paper's table 1.

The weights belong to positions, so a text has at most max_length tokens; and they cannot hide the future, so a decoder
keeps its attention. There are no scores of pairs for a bias by distance, so rows that need positions add sinusoids to
the embeddings. Padding counts as zero, or is not attended to, so real tokens get the vectors of the text alone.

Departs from the papers: Linformer's first weights, and its positions and FNet's (theirs are learned). FNet's sum is
divided by √(max_length · d_model), so that a layer keeps the length of its input; theirs is followed by a norm instead.
Linformer leaves padding out of the sums; in FNet and MLP-Mixer a text shorter than max_length is padded with zeros,
since a transform of the text's own length would let padding change every frequency. So FNet always takes the operations
of max_length positions; MLP-Mixer leaves out the rows and columns that meet zeros.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, door
from nlmcore.fast import Linear
from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_attention, build_cross_attention
from nlmcore.variants.shapes import Mask, Vectors, check_length, real_tokens, without_padding


@encoder_only
def in_encoder(part: Callable[[Any], nn.Module], c: Any, causal: bool) -> nn.Module:
    """part(c) in an encoder, the usual attention in a decoder."""
    return build_attention(c, causal) if causal else part(c)


class LinformerAttention(nn.Module):
    """k: how many keys are left, max_length / 4 unless given; c: a TransformerConfig."""

    never_causal = (
        "cannot hide the future: E and F mix the keys and values of all positions into k before a query meets them, so"
        " each of the k contains later tokens and no mask can take them out"
    )

    @door
    def __init__(self, c: Any, k: Size | None = None) -> None:
        super().__init__()
        k = max(1, c.max_length // 4) if k is None else k
        self.attention: Any = build_cross_attention(c)
        self.E, self.F = (nn.Parameter(torch.randn(k, c.max_length) / math.sqrt(c.max_length)) for _ in range(2))

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        time, real = check_length(x, self.E.shape[1]), real_tokens(x, mask)
        keys, values = self.attention.project_source(x)  # (batch, kv_head, time, d_head)
        if real is not None:
            keys, values = (part * real[:, None, :, None] for part in (keys, values))
        return self.attention(x, Memory(self.E[:, :time] @ keys, self.F[:, :time] @ values))

    def last_matrices(self) -> list[nn.Linear]:
        return [self.attention.output]


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
        time = check_length(x, self.max_length)
        whole = F.pad(without_padding(x, mask), (0, 0, 0, self.max_length - time))
        return fourier(whole)[:, :time] / math.sqrt(self.max_length * x.shape[-1])

    def extra_repr(self) -> str:
        return f"max_length={self.max_length}"


class TokenMixing(nn.Module):
    """MLP-Mixer: one network for all channels; hidden: d_model / 2 unless given; c: a TransformerConfig."""

    never_causal = "cannot hide the future: W1 mixes all positions into hidden units before W2 reads them"

    @door
    def __init__(self, c: Any, hidden: Size | None = None) -> None:
        super().__init__()
        hidden = max(1, c.d_model // 2) if hidden is None else hidden
        self.inner, self.outer = Linear(c.max_length, hidden), Linear(hidden, c.max_length)

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        time = check_length(x, self.inner.in_features)
        channels = without_padding(x, mask).mT  # (batch, d_model, time)
        hidden = F.gelu(self.inner(channels, slice(None), slice(time)))
        return self.outer(hidden, slice(time)).mT
