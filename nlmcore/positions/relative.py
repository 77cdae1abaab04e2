"""How far apart: tables of offsets, and the shift that turns scores by distance into scores by key.

    offset(i, j) = j − (key_length − query_length + i)         negative: the key lies before the query

With one vector per distance, one matrix product scores a query against every *distance*. `relative_shift` turns that
into scores against every *key*: each row is shifted by one position more than the row above it.

    y[i, j] = x[i, j + query_length − 1 − i]        Huang et al. (2018), section 3.4.1, "skewing";
                                                    Dai et al. (2019), appendix B

Departs from the papers: a key in the future of a causal query, which has no distance in x, gets zero (theirs gets
another distance's score; both are masked).

**Relative positions as vectors beside keys and beside values** (`ShawPositions`).

    e_ij = q_i · (k_j + a^K_ij) / √d_head,   z_i = Σ_j α_ij (v_j + a^V_ij)
    a_ij = w_{clip(j − i, −max_distance, max_distance)}
                                        Shaw, Uszkoreit & Vaswani (2018), equations 3, 4 and section 3.2

The heads share the vectors.

Symbols: their w^K, w^V are `key_vectors` and `value_vectors` (distance, d_head), the farthest key behind first; their k
is max_distance; their d_z is our d_head.

Departs from the paper: a causal model has no vectors for keys ahead, which it could never use.

**A learned vector per head and distance**, met only by the queries (`MusicTransformerPositions`).

    score_ij = (q_i · k_j + q_i · E_{i−j}) / √d_head        Huang et al. (2018), section 3.4, equation 3

Symbols: their E^r is `weight` (head, distance, d_head), the farthest distance first, as they order it.

Departs from the paper: distances beyond max_distance share its vector; where a query may look ahead, there are vectors
for that too (the paper's model is causal).

**The sinusoid of the distance as a second key** (`TransformerXLPositions`).

    score_ij = (q_i · k_j + q_i · r_{i−j} + u · k_j + v · r_{i−j}) / √d_head,   r_n = W_R PE(n)
                                        Dai et al. (2019), section 3.3, terms (a), (b), (c), (d)

Symbols: their W_{k,R} is `projection.weight` (n_heads · d_head, n_heads · d_head), PE of that width; u and v are (head,
d_head).

Departs from the paper: every layer has its own u and v (theirs share them, in the equations and by default in the
code). Where a query may look ahead, distances are negative there: sines change their sign (Yang et al. 2019, XLNet).
"""

import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.positions.sinusoids import check_waves, frequencies, waves

Q = Float[Tensor, "batch head query d_head"]
K = Float[Tensor, "batch kv_head key d_head"]


def check_lengths(query_length: int, key_length: int) -> None:
    """Queries are the last of the keys, so there are no more of them."""
    if query_length > key_length:
        raise ValueError(
            "the queries are the last of the keys, so query_length must not exceed key_length,"
            f" got {query_length} and {key_length}"
        )


def check_pair(q: Tensor, k: Tensor, n_heads: int, d_head: int) -> None:
    """q (batch, n_heads, query, d_head) and k (batch, kv_head, key, d_head), queries at the end of the keys."""
    if q.ndim != 4 or q.shape[1] != n_heads or q.shape[3] != d_head:
        raise ValueError(f"q must have shape (batch, {n_heads}, query, {d_head}), got {tuple(q.shape)}")
    if k.ndim != 4 or k.shape[0] != q.shape[0] or k.shape[3] != d_head or not k.shape[1] or n_heads % k.shape[1]:
        raise ValueError(
            f"k must have shape ({q.shape[0]}, kv_head, key, {d_head}) with a number of heads that divides {n_heads},"
            f" got {tuple(k.shape)}"
        )
    if q.dtype != k.dtype:
        raise TypeError(f"k must have the dtype of q, {q.dtype}, got {k.dtype}")
    check_lengths(q.shape[2], k.shape[2])


@checked
def relative_shift(
    x: Float[Tensor, "*batch query distance"], key_length: Size | None = None
) -> Float[Tensor, "*batch query key"]:
    """The equation above; 0 where x has no such column. The queries are the last of the keys.

    x holds one column per distance, from the farthest, key_length − 1, down to 0 (causal; `key_length` may be left
    out), or down to −(query_length − 1) (both directions). Raises ValueError for fewer keys, or other columns.
    """
    query_length, columns = x.shape[-2:]
    key_length = columns if key_length is None else key_length
    check_lengths(query_length, key_length)
    both = key_length + query_length - 1
    if columns not in (key_length, both):
        raise ValueError(
            f"{query_length} queries and {key_length} keys need {key_length} distances (causal)"
            f" or {both} (both directions), got x of shape {tuple(x.shape)}"
        )
    if query_length == 1:
        return x
    # One column of zeros before each row, the first query_length numbers dropped, and the rest read as rows
    # of the old width: each row begins one number earlier in its own row of x than the row above.
    padded = F.pad(x, (1, 0)).flatten(-2)[..., query_length:]
    shifted = padded.unflatten(-1, (query_length, columns))[..., :key_length]
    return shifted if columns == both else shifted.tril(key_length - query_length)


def offsets(query_length: int, key_length: int, device: torch.device | None = None) -> Tensor:
    """offset(i, j) = j − (key_length − query_length + i), integers (query, key)."""
    keys = torch.arange(key_length, device=device)
    return keys - keys[key_length - query_length :].unsqueeze(1)


def rows_of_offsets(offset: Tensor, max_distance: int, causal: bool) -> Tensor:
    """Which row of a table serves which offset, clipped: row 0 is max_distance back, row max_distance is here."""
    return offset.clamp(-max_distance, 0 if causal else max_distance) + max_distance


@lru_cache(maxsize=8)
def rows_of_distances(
    query_length: int, key_length: int, max_distance: int, causal: bool, device: torch.device
) -> Tensor:
    """The table's row for each column that `relative_shift` wants: farthest first; (distance,). For all layers."""
    nearest = 1 if causal else query_length
    with torch.inference_mode(False):  # what is kept must serve later calls of any mode
        return rows_of_offsets(torch.arange(1 - key_length, nearest, device=device), max_distance, causal)


class BiasedScores(nn.Module):
    """The base of positions with a `bias(q, k)`. No length is too long, and few use max_length."""

    is_table = True  # its parameters are looked up

    @checked
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool) -> None:
        super().__init__()
        self.n_heads, self.d_head, self.causal = n_heads, d_head, causal

    def bias(self, q: Q, k: K) -> Float[Tensor, "sharing head query key"]:
        """What is added to q · k / √d_head, in the dtype of q; one for all texts, or one each."""
        check_pair(q, k, self.n_heads, self.d_head)
        return self.scores(q, k)

    forward = bias

    def scores(self, q: Q, k: K) -> Tensor:
        """The equation of each; q and k fit it."""
        raise NotImplementedError


class ClippedDistances(BiasedScores):
    """With a table of vectors (…, row, d_head) by distance; those farther than max_distance share its vector."""

    def __init__(self, n_heads: int, d_head: int, max_length: int, causal: bool, max_distance: int) -> None:
        super().__init__(n_heads, d_head, max_length, causal)
        self.max_distance, self.rows = max_distance, max_distance + 1 if causal else 2 * max_distance + 1

    def vectors(self, *shape: int) -> nn.Parameter:
        """A table that is learned, (*shape, row, d_head)."""
        return nn.Parameter(torch.empty(*shape, self.rows, self.d_head).normal_(std=self.d_head**-0.5))

    def by_key(self, q: Q, k: K, vectors: Tensor) -> Float[Tensor, "batch head query key"]:
        """q_i · vectors of the distance i − j / √d_head."""
        rows = rows_of_distances(q.shape[2], k.shape[2], self.max_distance, self.causal, q.device)
        E = vectors.index_select(-2, rows)  # (…, distance, d_head)
        return relative_shift(q / math.sqrt(self.d_head) @ E.mT, k.shape[2])


class ShawPositions(ClippedDistances):
    """`bias(q, k)`: q_i · a^K_ij / √d_head; `values(weights)`: Σ_j α_ij a^V_ij."""

    @checked
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool, *, max_distance: Size = 16) -> None:
        super().__init__(n_heads, d_head, max_length, causal, max_distance)
        self.key_vectors, self.value_vectors = self.vectors(), self.vectors()

    def scores(self, q: Q, k: K) -> Tensor:
        return self.by_key(q, k, self.key_vectors)

    def values(self, weights: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query d_head"]:
        """Σ_j α_ij a^V_ij: the weights are summed by distance first, so that no vector per pair is needed."""
        if weights.ndim != 4 or weights.shape[1] != self.n_heads:
            raise ValueError(f"weights must have shape (batch, {self.n_heads}, query, key), got {tuple(weights.shape)}")
        query_length, key_length = weights.shape[2:]
        check_lengths(query_length, key_length)
        rows = rows_of_offsets(offsets(query_length, key_length, weights.device), self.max_distance, self.causal)
        by_row = weights.new_zeros(*weights.shape[:3], self.rows).scatter_add(3, rows.expand(weights.shape), weights)
        return by_row @ self.value_vectors


class MusicTransformerPositions(ClippedDistances):
    """`bias(q, k)`: q_i · E_{i−j} / √d_head; max_distance: max_length − 1 unless given."""

    @checked
    def __init__(
        self, n_heads: Size, d_head: Size, max_length: Size, causal: bool, *, max_distance: Size | None = None
    ) -> None:
        max_distance = max(1, max_length - 1) if max_distance is None else max_distance
        super().__init__(n_heads, d_head, max_length, causal, max_distance)
        self.weight = self.vectors(n_heads)

    def scores(self, q: Q, k: K) -> Tensor:
        return self.by_key(q, k, self.weight)


class TransformerXLPositions(BiasedScores):
    """`bias(q, k)`: (u · k_j + (q_i + v) · W_R PE(i − j)) / √d_head.

    Raises ValueError if n_heads · d_head, the width of the sinusoids, is odd.
    """

    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool) -> None:
        super().__init__(n_heads, d_head, max_length, causal)
        check_waves("n_heads · d_head", n_heads * d_head)
        self.projection = nn.Linear(n_heads * d_head, n_heads * d_head, bias=False)
        self.u, self.v = (nn.Parameter(torch.empty(n_heads, d_head).normal_(std=0.02)) for _ in range(2))

    def scores(self, q: Q, k: K) -> Tensor:
        """Terms (b), (c) and (d), divided by √d_head."""
        (batch, _, query_length, _), key_length = q.shape, k.shape[2]
        nearest = 0 if self.causal else 1 - query_length
        PE = _sinusoids(key_length - 1, nearest, self.n_heads * self.d_head, q.dtype, q.device)  # (distance, width)
        W = self.projection.weight.unflatten(0, (self.n_heads, self.d_head))  # (head, d_head, width)
        sought = (q + self.v.unsqueeze(1)) / math.sqrt(self.d_head)  # (batch, head, query, d_head)
        few = batch * query_length < self.d_head  # then (q W) PEᵀ is less work than q (W PEᵀ)
        if self.projection._forward_hooks or self.projection._forward_pre_hooks:  # a hook wants W_R PE as it is written
            turned = self.projection(PE).T.unflatten(0, W.shape[:2])
        else:
            turned = None if few else W @ PE.T
        by_distance = sought @ W @ PE.T if turned is None else sought @ turned  # (batch, head, query, distance)
        u = self.u.unflatten(0, (k.shape[1], -1)) / math.sqrt(self.d_head)  # (kv_head, group, d_head)
        everywhere = (u @ k.mT).flatten(1, 2).unsqueeze(2)  # (batch, head, 1, key)
        return relative_shift(by_distance, key_length) + everywhere


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
