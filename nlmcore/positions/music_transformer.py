"""Music Transformer: a learned vector per head and distance, met only by the queries, without much memory.

    score_ij = (q_i · k_j + q_i · E_{i−j}) / √d_head        Huang et al. (2018), section 3.4, equation 3

Q Eᵀ scores every query against every distance, and `relative_shift` moves the scores to their keys: memory
for (query, key) numbers and not for (query, key, d_head).

Symbols: their E^r is `weight` (head, distance, d_head), the farthest distance first, as they order it.

Departs from the paper: distances beyond max_distance share its vector (the paper has one for every distance
of its longest text; Shaw et al. (2018) clip); where a query may look ahead, there are vectors for that too
(the paper's model is causal).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.positions.checks import check_pair
from nlmcore.positions.relative import number_of_rows, relative_shift, rows_of_distances


class MusicTransformerPositions(nn.Module):
    """`bias(q, k)`: q_i · E_{i−j} / √d_head, with max_distance (None: max_length − 1) the farthest told apart.

    No length is too long.
    """

    @door
    def __init__(
        self, n_heads: Size, d_head: Size, max_length: Size, causal: bool, *, max_distance: Size | None = None
    ) -> None:
        super().__init__()
        max_distance = max(1, max_length - 1) if max_distance is None else max_distance
        self.n_heads, self.d_head, self.causal, self.max_distance = n_heads, d_head, causal, max_distance
        rows = number_of_rows(max_distance, causal)
        self.weight = nn.Parameter(torch.empty(n_heads, rows, d_head).normal_(std=d_head**-0.5))

    def bias(
        self, q: Float[Tensor, "batch head query d_head"], k: Float[Tensor, "batch kv_head key d_head"]
    ) -> Float[Tensor, "batch head query key"]:
        """q_i · E_{i−j} / √d_head."""
        check_pair(q, k, self.n_heads, self.d_head)
        rows = rows_of_distances(q.shape[2], k.shape[2], self.max_distance, self.causal, q.device)
        E = self.weight.index_select(1, rows)  # (head, distance, d_head)
        return relative_shift(q / math.sqrt(self.d_head) @ E.mT, k.shape[2])
