"""Transformer-XL: the sinusoid of the distance is a second key, and two vectors stand in for lost positions.

    score_ij = (q_i · k_j + q_i · r_{i−j} + u · k_j + v · r_{i−j}) / √d_head,   r_n = W_R PE(n)
                                        Dai et al. (2019), section 3.3, terms (a), (b), (c), (d)

(a) content, (b) a distance that depends on content, (c) keys that are sought everywhere, (d) distances that
are sought everywhere. Because r has one row per distance and not per pair, (b) and (d) are one matrix product
and a `relative_shift` (appendix B).

Symbols: their W_{k,R} is `projection.weight` (n_heads · d_head, n_heads · d_head), PE of that width; u and v
are (head, d_head).

Departs from the paper: every layer has its own u and v (theirs share them, in the equations and by default in
the code). Where a query may look ahead, distances are negative there: sines change their sign (Yang et al.
2019, XLNet).
"""

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.positions.checks import check_even, check_pair
from nlmcore.positions.relative import relative_shift
from nlmcore.positions.sinusoids import frequencies, waves


def _sinusoids(farthest: int, nearest: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """PE(farthest), PE(farthest − 1), …, PE(nearest); (distance, width)."""
    reach = 1 << farthest.bit_length()  # a power of two: as a text grows, a new table is rarely needed
    return _table(reach, width, dtype, device)[reach - farthest : reach - nearest + 1]


@lru_cache(maxsize=8)
def _table(reach: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """PE(reach), PE(reach − 1), …, PE(−reach), shared by all layers."""
    with torch.inference_mode(False), torch.no_grad():  # what is kept must serve later calls of any mode
        distance = torch.arange(reach, -reach - 1, -1, dtype=torch.float64).unsqueeze(1)
        return waves(distance * frequencies(width, 10_000.0)).to(device, dtype)


class TransformerXLPositions(nn.Module):
    """`bias(q, k)`: (u · k_j + (q_i + v) · W_R PE(i − j)) / √d_head. No length is too long.

    Raises ValueError if n_heads · d_head, the width of the sinusoids, is odd.
    """

    @door
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool) -> None:
        super().__init__()
        check_even("n_heads · d_head", n_heads * d_head, "sines and cosines come in pairs")
        self.n_heads, self.d_head, self.causal = n_heads, d_head, causal
        self.projection = nn.Linear(n_heads * d_head, n_heads * d_head, bias=False)
        self.u = nn.Parameter(torch.empty(n_heads, d_head).normal_(std=0.02))
        self.v = nn.Parameter(torch.empty(n_heads, d_head).normal_(std=0.02))

    def bias(
        self, q: Float[Tensor, "batch head query d_head"], k: Float[Tensor, "batch kv_head key d_head"]
    ) -> Float[Tensor, "batch head query key"]:
        """Terms (b), (c) and (d), divided by √d_head."""
        check_pair(q, k, self.n_heads, self.d_head)
        (batch, _, query_length, _), key_length = q.shape, k.shape[2]
        nearest = 0 if self.causal else 1 - query_length
        PE = _sinusoids(key_length - 1, nearest, self.n_heads * self.d_head, q.dtype, q.device)  # (distance, width)
        W = self.projection.weight.unflatten(0, (self.n_heads, self.d_head))  # (head, d_head, width)
        sought = (q + self.v.unsqueeze(1)) / math.sqrt(self.d_head)  # (batch, head, query, d_head)
        few = batch * query_length < self.d_head  # then (q W) PEᵀ is less work than q (W PEᵀ)
        by_distance = sought @ W @ PE.T if few else sought @ (W @ PE.T)  # (batch, head, query, distance)
        u = self.u.unflatten(0, (k.shape[1], -1)) / math.sqrt(self.d_head)  # (kv_head, group, d_head)
        everywhere = (u @ k.mT).flatten(1, 2).unsqueeze(2)  # (batch, head, 1, key)
        return relative_shift(by_distance, key_length) + everywhere
