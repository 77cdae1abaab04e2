"""How far apart: tables of offsets, and the trick that turns scores by distance into scores by key.

    offset(i, j) = j − (key_length − query_length + i)         negative: the key lies before the query

A model that has one vector per distance scores a query against every *distance* with one matrix product,
and then needs the scores against every *key*. Row i of the wanted matrix is row i of the other, shifted by
one more place than the row above it; no (query, key, d_head) array of vectors is ever built:

    y[i, j] = x[i, j + query_length − 1 − i]        Huang et al. (2018), section 3.4.1, "skewing";
                                                    Dai et al. (2019), appendix B

Departs from the papers: a key in the future of a causal query, which has no distance in x, gets zero (theirs
gets what happens to stand there; both are masked). With columns for negative distances too, as in Yang et al.
(2019), XLNet, nothing is missing and the same shift serves attention in both directions.
"""

from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from nlmcore.checks import Size, door
from nlmcore.positions.checks import check_lengths


@door
def relative_shift(
    x: Float[Tensor, "*batch query distance"], key_length: Size | None = None
) -> Float[Tensor, "*batch query key"]:
    """y[i, j] = x[i, j + query_length − 1 − i], or 0 where x has no such column.

    x (…, query, distance) holds one column per distance, from the farthest, key_length − 1, downwards: to 0
    (causal; `key_length` may be left out), or to −(query_length − 1) (both directions; distance is then
    key_length + query_length − 1). The queries are the last of the keys.

    Raises ValueError if there are fewer keys than queries, or another number of columns.
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


def number_of_rows(max_distance: int, causal: bool) -> int:
    """max_distance back and here; and as many ahead, where a query may look there."""
    return max_distance + 1 if causal else 2 * max_distance + 1
