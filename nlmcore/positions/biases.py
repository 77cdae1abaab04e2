"""Biases: a number per head and distance, learned or not, added to the scores.

**ALiBi**, attention with linear biases: the farther a key, the lower its score, at one rate per head.

    score_ij = q_i · k_j / √d_head − m_h |i − j|,   m_h = 2^{−8h/n_heads},  h = 1 … n_heads
                                                    Press, Smith & Lewis (2022), section 3

For head counts that are not powers of two, slopes as in the authors' code: those of the next lower power, then every
second of twice that.

Departs from the paper: it is for causal models; where a query may look ahead, the same |i − j| counts.

**T5's relative bias**: one learned number per head and bucket of distances.

    score_ij = q_i · k_j + b_h[bucket(j − i)]       Raffel et al. (2020), section 2.1

Near distances have a bucket each; farther ones share buckets that widen geometrically; from max_distance on there is
only one. With n buckets for one direction, half of them near:

    bucket(d) = d                                                             for d < n/2
    bucket(d) = n/2 + ⌊ln(d / (n/2)) / ln(max_distance / (n/2)) · n/2⌋        at most n − 1

In both directions each has half of the buckets, the keys behind first; a causal model spends all of them on the keys
behind. Symbols: the table is (bucket, head), as T5 stores it.

Departs from the paper: the scores here are divided by √d_head (T5 puts it into the initialisation), and every layer has
its own table unless the model's `share` ties them (T5 has one for all).
"""

import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.positions.relative import BiasedScores, K, Q, check_lengths, offsets


@checked
def alibi_slopes(n_heads: Size) -> Float[Tensor, " head"]:
    """m_h for h = 1 … n_heads."""
    power = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2 ** (-4 * h / power) for h in range(1, 2 * power, 2)]
    return torch.tensor((slopes + between)[:n_heads])


@checked
def alibi(n_heads: Size, query_length: Size, key_length: Size) -> Float[Tensor, "1 head query key"]:
    """−m_h |i − j|, to be added to the scores. The queries are the last of the keys, and no more of them."""
    check_lengths(query_length, key_length)
    return _linear(alibi_slopes(n_heads), query_length, key_length)


def _linear(slopes: Tensor, query_length: int, key_length: int) -> Tensor:
    distance = offsets(query_length, key_length, slopes.device).abs()
    return (-slopes[:, None, None] * distance).unsqueeze(0)


class ALiBi(BiasedScores):
    """`alibi` for attention. Nothing is learned."""

    slopes: Tensor

    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool) -> None:
        super().__init__(n_heads, d_head, max_length, causal)
        self.register_buffer("slopes", alibi_slopes(n_heads), persistent=False)

    def scores(self, q: Q, k: K) -> Tensor:
        return _linear(self.slopes, q.shape[2], k.shape[2]).to(q.dtype)


@checked
def relative_buckets(
    offset: Int[Tensor, "*shape"], n_buckets: Size = 32, bidirectional: bool = True, max_distance: Size = 128
) -> Int[Tensor, "*shape"]:
    """The bucket, 0 … n_buckets − 1, of each offset j − i. If not bidirectional, all keys ahead are in bucket 0.

    Raises ValueError for too few buckets, an odd number for two directions, or a max_distance within the near ones.
    """
    _check_buckets(n_buckets, bidirectional, max_distance)
    n = n_buckets // 2 if bidirectional else n_buckets
    near = n // 2
    distance = offset.abs() if bidirectional else (-offset).clamp(min=0)
    # float32, as in T5's code. The clamp keeps ln away from 0; those are near and not taken from here.
    ratio = torch.log(distance.clamp(min=near).float() / near) / math.log(max_distance / near)
    far = (near + (ratio * (n - near)).long()).clamp(max=n - 1)
    bucket = torch.where(distance < near, distance, far)
    return bucket + n * (offset > 0) if bidirectional else bucket


@checked
def relative_bias(
    table: Float[Tensor, "bucket head"],
    query_length: Size,
    key_length: Size,
    bidirectional: bool = True,
    max_distance: Size = 128,
) -> Float[Tensor, "1 head query key"]:
    """table[bucket(j − i)], to be added to the scores. The queries are the last of the keys."""
    check_lengths(query_length, key_length)
    _check_buckets(len(table), bidirectional, max_distance)
    return _bias(table, query_length, key_length, bidirectional, max_distance)


def _bias(table: Tensor, query_length: int, key_length: int, bidirectional: bool, max_distance: int) -> Tensor:
    bucket = _buckets(query_length, key_length, len(table), bidirectional, max_distance, table.device)
    return F.embedding(bucket, table).permute(2, 0, 1).unsqueeze(0)


@lru_cache(maxsize=2)
def _buckets(
    query_length: int, key_length: int, n_buckets: int, bidirectional: bool, max_distance: int, device: torch.device
) -> Tensor:
    """(query, key), shared by all layers; two are kept, for an encoder and a decoder."""
    with torch.inference_mode(False):  # what is kept must serve later calls of any mode
        return relative_buckets(offsets(query_length, key_length, device), n_buckets, bidirectional, max_distance)


def _check_buckets(n_buckets: int, bidirectional: bool, max_distance: int) -> None:
    if bidirectional and n_buckets % 2:
        raise ValueError(f"two directions need an even number of buckets, got {n_buckets}")
    near = n_buckets // 4 if bidirectional else n_buckets // 2
    if near < 1:
        raise ValueError(f"at least {4 if bidirectional else 2} buckets are needed, got {n_buckets}")
    if max_distance <= near:
        raise ValueError(
            f"max_distance must exceed {near}, the number of buckets for one distance each, got {max_distance}"
        )


class RelativeBias(BiasedScores):
    """`relative_bias` for attention, of a learned table `weight` (bucket, head). Raises as `relative_buckets` does."""

    @checked
    def __init__(
        self,
        n_heads: Size,
        d_head: Size,
        max_length: Size,
        causal: bool,
        *,
        n_buckets: Size = 32,
        max_distance: Size = 128,
    ) -> None:
        super().__init__(n_heads, d_head, max_length, causal)
        _check_buckets(n_buckets, not causal, max_distance)
        self.max_distance = max_distance
        self.weight = nn.Parameter(torch.empty(n_buckets, n_heads).normal_(std=(n_heads * d_head) ** -0.5))

    def scores(self, q: Q, k: K) -> Tensor:
        return _bias(self.weight, q.shape[2], k.shape[2], not self.causal, self.max_distance)
