"""Relative positions as vectors beside keys and beside values.

    e_ij = q_i · (k_j + a^K_ij) / √d_head,   z_i = Σ_j α_ij (v_j + a^V_ij)
    a_ij = w_{clip(j − i, −max_distance, max_distance)}
                                        Shaw, Uszkoreit & Vaswani (2018), equations 3, 4 and section 3.2

The vectors are shared by the heads. All distances beyond max_distance look alike.

Symbols: their w^K, w^V are `key_vectors` and `value_vectors` (distance, d_head), the farthest key behind
first; their k is max_distance; their d_z is our d_head.

Departs from the paper: a causal model has no vectors for keys ahead, which it could never use. The scores by
distance are moved to their keys by `relative_shift` (Huang et al. 2018), not by reshaping.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.positions.checks import check_lengths, check_pair
from nlmcore.positions.relative import number_of_rows, offsets, relative_shift, rows_of_distances, rows_of_offsets


class ShawPositions(nn.Module):
    """`bias(q, k)`: q_i · a^K_ij / √d_head; `values(weights)`: Σ_j α_ij a^V_ij.

    No length is too long; max_length is not used.
    """

    @door
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool, *, max_distance: Size = 16) -> None:
        super().__init__()
        self.n_heads, self.d_head, self.causal, self.max_distance = n_heads, d_head, causal, max_distance
        rows = number_of_rows(max_distance, causal)
        self.key_vectors = nn.Parameter(torch.empty(rows, d_head).normal_(std=d_head**-0.5))
        self.value_vectors = nn.Parameter(torch.empty(rows, d_head).normal_(std=d_head**-0.5))

    def bias(
        self, q: Float[Tensor, "batch head query d_head"], k: Float[Tensor, "batch kv_head key d_head"]
    ) -> Float[Tensor, "batch head query key"]:
        """q_i · a^K_ij / √d_head."""
        check_pair(q, k, self.n_heads, self.d_head)
        rows = rows_of_distances(q.shape[2], k.shape[2], self.max_distance, self.causal, q.device)
        a = self.key_vectors.index_select(0, rows)  # (distance, d_head)
        return relative_shift(q / math.sqrt(self.d_head) @ a.T, k.shape[2])

    def values(self, weights: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query d_head"]:
        """Σ_j α_ij a^V_ij: the weights are summed by distance first, so that no vector per pair is needed."""
        if weights.ndim != 4 or weights.shape[1] != self.n_heads:
            raise ValueError(f"weights must have shape (batch, {self.n_heads}, query, key), got {tuple(weights.shape)}")
        query_length, key_length = weights.shape[2:]
        check_lengths(query_length, key_length)
        offset = offsets(query_length, key_length, weights.device)
        rows = rows_of_offsets(offset, self.max_distance, self.causal).expand(weights.shape)
        by_row = weights.new_zeros(*weights.shape[:3], len(self.value_vectors)).scatter_add(3, rows, weights)
        return by_row @ self.value_vectors
