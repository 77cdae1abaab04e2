"""Sinusoids of the distance, added to every key: the relative twins of `SinusoidalPositions`.

    score_ij = q_i · (k_j + PE(i − j)) / √d_head,   PE(n) = [sin n ω_0, cos n ω_0, sin n ω_1, …]
                        Wei et al. (2019), NEZHA: the vectors a_ij of Shaw, Uszkoreit & Vaswani (2018) as sinusoids;
                        Wang et al. (2021), "On position embeddings in BERT", compares fixed and learned ω

`SinusoidalDistances` keeps ω_i = 10000^{−2i/d_head}; `LearnableSinusoidalDistances` starts there and learns them. The
heads share the vectors, as in Shaw et al.

Symbols: ω is `frequency` (d_head / 2); a_ij of Shaw et al. is PE(i − j), with the sign turned around.

Departs from the papers: nothing is added to the values.
"""

import math

import torch
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.positions.relative import BiasedScores, K, Q, relative_shift
from nlmcore.positions.sinusoids import check_waves, frequencies, waves


class SinusoidalDistances(BiasedScores):
    """`bias(q, k)`: q_i · PE(i − j) / √d_head. Nothing is learned. Raises ValueError for an odd d_head."""

    frequency: Tensor  # (d_head / 2,), radians per position

    @checked
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool) -> None:
        super().__init__(n_heads, d_head, max_length, causal)
        check_waves("d_head", d_head)
        self.register_buffer("frequency", frequencies(d_head, 10_000.0), persistent=False)

    def scores(self, q: Q, k: K) -> Tensor:
        """Angles are computed in float32 at least: half precision does not tell distance 257 from 256."""
        query_length, key_length = q.shape[2], k.shape[2]
        exact = torch.promote_types(self.frequency.dtype, torch.float32)
        nearest = 0 if self.causal else 1 - query_length
        distance = torch.arange(key_length - 1, nearest - 1, -1, device=q.device, dtype=exact).unsqueeze(1)
        PE = waves(distance * self.frequency.to(exact)).to(q.dtype)  # (distance, d_head), the farthest first
        return relative_shift(q / math.sqrt(self.d_head) @ PE.T, key_length)


class LearnableSinusoidalDistances(SinusoidalDistances):
    """The same with learned frequencies."""

    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool) -> None:
        super().__init__(n_heads, d_head, max_length, causal)
        start = self.frequency.float()
        del self.frequency  # a buffer
        self.frequency = nn.Parameter(start)
