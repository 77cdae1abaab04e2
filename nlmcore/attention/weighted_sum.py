"""From scores to a context: softmax, then a sum of values with those weights.

    α = softmax(s),   c = Σ_j α_j value_j           Bahdanau et al. (2015), equations 5 and 6
    softmax(Q Kᵀ / √d_head) V                       Vaswani et al. (2017), equation 1

Departs from the papers: a row with no key allowed gives zeros (the papers never meet one).
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from nlmcore.attention.checks import check_floats
from nlmcore.attention.masks import check_mask
from nlmcore.attention.scores import dot_score


def masked_softmax(scores: Tensor, mask: Bool[Tensor, "..."] | None = None) -> Tensor:
    """Softmax over the last dimension, of the allowed entries alone; a row with none allowed is all zeros.

    scores (..., key); mask broadcasts to it, True = may attend. A score of −inf counts as not allowed.

    Raises TypeError for scores that are no floating-point numbers or a mask that is not boolean, ValueError for a mask
    that does not broadcast to the scores.
    """
    check_floats(scores=scores)
    allowed = scores != -math.inf  # a NaN is no mask: it stays to be seen
    if mask is not None:
        check_mask(mask, scores.shape)
        allowed = allowed & mask
    # The smallest finite number, not −inf: a row of −inf would be 0/0 forward and NaN backward.
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~allowed, lowest), dim=-1) * allowed


def attend(scores: Tensor, values: Tensor, mask: Bool[Tensor, "..."] | None = None) -> tuple[Tensor, Tensor]:
    """α = softmax(scores), c = Σ_j α_j value_j. Returns (context, weights).

    scores (..., key) with values (..., key, d_value) gives context (..., d_value);
    scores (..., query, key) gives context (..., query, d_value). Weights have the shape of the scores.
    mask broadcasts to the scores; True = may attend; a row without a True gives zeros.

    Raises TypeError for a mask that is not boolean, ValueError for shapes that do not fit.
    """
    check_floats(scores=scores, values=values)
    one_query = scores.ndim < values.ndim
    leading = scores.shape[:-1] if one_query else scores.shape[:-2]
    if values.ndim < 2 or scores.ndim < 1 or (*leading, scores.shape[-1]) != tuple(values.shape[:-1]):
        raise ValueError(
            "attend needs one value per score: scores (..., key) or (..., query, key) and values (..., key, d_value)"
            " with the same leading axes,"
            f" got scores {tuple(scores.shape)} and values {tuple(values.shape)}"
        )
    weights = masked_softmax(scores, mask)
    if one_query:
        return (weights.unsqueeze(-2) @ values).squeeze(-2), weights
    return weights @ values, weights


def scaled_dot_product_attention(
    q: Float[Tensor, "*batch query d_head"],
    k: Float[Tensor, "*batch key d_head"],
    v: Float[Tensor, "*batch key d_value"],
    mask: Bool[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "*batch query d_value"], Float[Tensor, "*batch query key"]]:
    """softmax(Q Kᵀ / √d_head) V. Returns (output, weights). Vaswani et al. (2017), equation 1.

    q (..., query, d_head), k (..., key, d_head), v (..., key, d_value); mask broadcasts to
    (..., query, key), True = may attend.

    Why √d_head: if the entries of q and k are independent with mean 0 and variance 1, q · k has variance
    d_head; without the division the softmax of a wide head saturates and its gradient vanishes.

    Raises ValueError for widths or lengths that differ, TypeError for a mask that is not boolean.
    """
    check_floats(q=q, k=k, v=v)
    return attend(dot_score(q, k) / math.sqrt(q.shape[-1]), v, mask)
