"""Attention: a weighted sum of values, with weights that depend on the query.

    scores   s_j  = score(query, key_j)                    one score per key
    weights  α_j  = exp(s_j) / Σ_j' exp(s_j')              softmax; they sum to 1
    context  c    = Σ_j α_j value_j

Symbols: their d_k is our d_head, their h is n_heads; the decoder state s or h is our query, the encoder states h_j
("annotations") are our keys and values.
"""

from nlmcore.attention.cache import KeyValueCache
from nlmcore.attention.masks import causal_mask, padding_mask, prefix_mask, window_mask
from nlmcore.attention.multi_head import CausalAttention, Memory, MultiHeadAttention, two_way
from nlmcore.attention.pooling import AttentionPool, FixedPool, last_pool, mean_pool
from nlmcore.attention.scores import (
    additive_score,
    attend,
    bilinear_score,
    dot_score,
    masked_softmax,
    scaled_dot_product_attention,
)

__all__ = [
    "AttentionPool",
    "CausalAttention",
    "FixedPool",
    "KeyValueCache",
    "Memory",
    "MultiHeadAttention",
    "additive_score",
    "attend",
    "bilinear_score",
    "causal_mask",
    "dot_score",
    "last_pool",
    "masked_softmax",
    "mean_pool",
    "padding_mask",
    "prefix_mask",
    "scaled_dot_product_attention",
    "two_way",
    "window_mask",
]
