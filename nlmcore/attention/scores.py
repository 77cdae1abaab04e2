"""Scores: how well does each key answer the query?

    dot         q · k_j                                    Luong, Pham & Manning (2015), section 3.1
    bilinear    q · W k_j       ("general" in the paper)   Luong, Pham & Manning (2015), section 3.1
    additive    v · tanh(W_query q + W_key k_j)            Bahdanau, Cho & Bengio (2015), section A.1.2

Departs from the papers: nothing.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from nlmcore.attention.checks import check_floats


def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """s_j = q · k_j. Query and keys must have the same width d.

    query (..., d) is one query and gives scores (..., key); query (..., query, d) is many and gives
    (..., query, key). keys (..., key, d). Luong et al. (2015), section 3.1, "dot".

    Raises ValueError if the widths or the leading axes differ (nothing is broadcast), TypeError for what is no
    tensor of floating-point numbers.
    """
    check_floats(query=query, keys=keys)
    _check_keys(query, keys)
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"dot_score needs queries and keys of one width, got query {tuple(query.shape)} and keys"
            f" {tuple(keys.shape)}; bilinear_score and additive_score compare different widths"
        )
    if _one_query(query, keys):
        return (keys @ query.unsqueeze(-1)).squeeze(-1)
    return query @ keys.mT


def bilinear_score(query: Tensor, keys: Tensor, W: Float[Tensor, "d_query d_key"]) -> Tensor:
    """s_j = q · W k_j, with a learned matrix W (d_query, d_key) between the two spaces.

    Shapes as in `dot_score`, but query and keys may differ in width. Luong et al. (2015), "general".

    Raises ValueError if W does not fit.
    """
    check_floats(query=query, keys=keys, W=W)
    _check_keys(query, keys)
    _check_matrix("W", W, (query.shape[-1], keys.shape[-1]), "(d_query, d_key)")
    return dot_score(query @ W, keys)


def additive_score(
    query: Tensor,
    keys: Tensor,
    W_query: Float[Tensor, "d_score d_query"],
    W_key: Float[Tensor, "d_score d_key"],
    v: Float[Tensor, " d_score"],
) -> Tensor:
    """s_j = v · tanh(W_query q + W_key k_j): a network with one hidden layer scores the pair.

    Shapes as in `dot_score`. W_query (d_score, d_query), W_key (d_score, d_key), v (d_score,).
    Bahdanau et al. (2015), section A.1.2, where they are W_a, U_a and v_a.

    Raises ValueError if a weight does not fit.
    """
    check_floats(query=query, keys=keys, W_query=W_query, W_key=W_key, v=v)
    _check_keys(query, keys)
    _check_matrix("v", v, (v.shape[-1],) if v.ndim else (0,), "(d_score,)")
    _check_matrix("W_query", W_query, (v.shape[-1], query.shape[-1]), "(d_score, d_query)")
    _check_matrix("W_key", W_key, (v.shape[-1], keys.shape[-1]), "(d_score, d_key)")
    from_query = (query @ W_query.T).unsqueeze(-2)  # (..., [query,] 1, d_score)
    from_keys = keys @ W_key.T  # (..., key, d_score)
    if not _one_query(query, keys):
        from_keys = from_keys.unsqueeze(-3)  # (..., 1, key, d_score)
    return torch.tanh(from_query + from_keys) @ v


def _one_query(query: Tensor, keys: Tensor) -> bool:
    return query.ndim < keys.ndim


def _check_keys(query: Tensor, keys: Tensor) -> None:
    leading = {keys.ndim - 1: query.shape[:-1], keys.ndim: query.shape[:-2]}.get(query.ndim)
    if keys.ndim < 2 or query.ndim < 1 or leading != keys.shape[:-2]:
        raise ValueError(
            "a score needs keys (..., key, d) and one query (..., d) or queries (..., query, d) with the same leading"
            f" axes, got query {tuple(query.shape)} and keys {tuple(keys.shape)}"
        )


def _check_matrix(name: str, matrix: Tensor, shape: tuple[int, ...], axes: str) -> None:
    if tuple(matrix.shape) != shape:
        raise ValueError(f"{name} must have shape {axes} = {shape}, got {tuple(matrix.shape)}")
