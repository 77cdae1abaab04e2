"""From a query and keys to a context: scores, their softmax, and a sum of values with those weights.

    α = softmax(s),   c = Σ_j α_j value_j                      Bahdanau et al. (2015), equations 5 and 6
    softmax(Q Kᵀ / √d_head) V                                  Vaswani et al. (2017), equation 1

Departs from the papers: a row with no key allowed gives zeros.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from nlmcore.attention.masks import check_mask
from nlmcore.checks import checked


@checked
def dot_score(query: Float[Tensor, "*queries d"], keys: Float[Tensor, "*batch key d"]) -> Tensor:
    """s_j = q · k_j, of query and keys of one width d. Luong et al. (2015), section 3.1, "dot".

    One query (..., d) gives scores (..., key), many (..., query, d) give (..., query, key); nothing is broadcast.
    """
    if _one_query(query, keys):
        return (keys @ query.unsqueeze(-1)).squeeze(-1)  # (..., key, d) @ (..., d, 1)
    return query @ keys.mT  # (..., query, d) @ (..., d, key)


@checked
def bilinear_score(
    query: Float[Tensor, "*queries d_query"], keys: Float[Tensor, "*batch key d_key"], W: Float[Tensor, "d_query d_key"]
) -> Tensor:
    """s_j = q · W k_j: a learned W compares vectors of two widths. Luong et al. (2015), section 3.1, "general"."""
    return dot_score(query @ W, keys)


@checked
def additive_score(
    query: Float[Tensor, "*queries d_query"],
    keys: Float[Tensor, "*batch key d_key"],
    W_query: Float[Tensor, "d_score d_query"],
    W_key: Float[Tensor, "d_score d_key"],
    v: Float[Tensor, " d_score"],
) -> Tensor:
    """s_j = v · tanh(W_query q + W_key k_j): a network with one hidden layer scores the pair; shapes as in `dot_score`.

    Bahdanau et al. (2015), section A.1.2, where the weights are W_a, U_a and v_a.
    """
    from_query = (query @ W_query.T).unsqueeze(-2)  # (..., [query,] 1, d_score)
    from_keys = keys @ W_key.T  # (..., key, d_score)
    if not _one_query(query, keys):
        from_keys = from_keys.unsqueeze(-3)  # (..., 1, key, d_score)
    return torch.tanh(from_query + from_keys) @ v  # (..., [query,] key, d_score) @ (d_score): every pair is scored


@checked
def masked_softmax(scores: Float[Tensor, "*any key"], mask: Bool[Tensor, "..."] | None = None) -> Tensor:
    """Softmax over the last dimension, only over the allowed entries; a row with none allowed is all zeros.

    mask broadcasts to the scores, True = may attend (ValueError if not). A score of −inf counts as not allowed.
    """
    if mask is not None:
        check_mask(mask, scores.shape)
    return softmax_where(mask, scores)


@checked
def attend(
    scores: Float[Tensor, "*queries key"],
    values: Float[Tensor, "*batch key d_value"],
    mask: Bool[Tensor, "..."] | None = None,
) -> tuple[Tensor, Tensor]:
    """α = softmax(scores), c = Σ_j α_j value_j. Returns (context, weights).

    scores (..., key) or (..., query, key) give context (..., d_value) or (..., query, d_value). mask broadcasts to the
    scores, True = may attend; a row without a True gives zeros.
    """
    one_query = _one_query(scores, values, "scores", "values")
    weights = masked_softmax(scores, mask)
    if one_query:
        return (weights.unsqueeze(-2) @ values).squeeze(-2), weights  # (..., 1, key) @ (..., key, d_value)
    return weights @ values, weights


@checked
def scaled_dot_product_attention(
    q: Float[Tensor, "*batch query d_head"],
    k: Float[Tensor, "*batch key d_head"],
    v: Float[Tensor, "*batch key d_value"],
    mask: Bool[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "*batch query d_value"], Float[Tensor, "*batch query key"]]:
    """softmax(Q Kᵀ / √d_head) V. Returns (output, weights). Vaswani et al. (2017), equation 1.

    mask broadcasts to (..., query, key), True = may attend.

    Why √d_head: if the entries of q and k are independent with mean 0 and variance 1, q · k has variance
    d_head; without the division the softmax of a wide head saturates and its gradient vanishes.
    """
    scores = (q @ k.mT).div_(math.sqrt(q.shape[-1]))  # (..., query, key); in place, since nobody else has seen them
    if mask is not None:
        check_mask(mask, scores.shape)
    weights = softmax_where(mask, scores)
    return weights @ v, weights


def softmax_where(mask: Tensor | None, scores: Tensor) -> Tensor:
    """`masked_softmax` of what was checked."""
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log_()  # ln 1 = 0, ln 0 = −∞; a sum is faster than to fill by a mask
    weights = torch.softmax(scores, dim=-1)
    total = weights.sum().item()
    if total == total:
        return weights
    # Some row is exp(−∞)/0, or a score is NaN. (A NaN is not masked: it should be seen.)
    allowed = scores != -math.inf if mask is None else (scores != -math.inf) & mask
    # The smallest finite number, not −∞, which would make the gradient NaN as well.
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~allowed, lowest), dim=-1) * allowed


def _one_query(query: Tensor, keys: Tensor, asks: str = "query", answers: str = "keys") -> bool:
    """Whether `query` is one (..., d), not many (..., query, d). Raises ValueError unless they share leading axes."""
    if query.shape[:-1] == keys.shape[:-2]:
        return True
    if query.ndim == keys.ndim and query.shape[:-2] == keys.shape[:-2]:
        return False
    raise ValueError(
        f"{answers} (..., key, width) need one row of {asks} (..., width) or several (..., query, width) with the same"
        f" leading axes, got {asks} {tuple(query.shape)} and {answers} {tuple(keys.shape)}"
    )
