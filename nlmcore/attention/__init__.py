"""Attention: a weighted sum of values, with weights that depend on the query.

    scores   s_j  = score(query, key_j)                    one score per key
    weights  α_j  = exp(s_j) / Σ_j' exp(s_j')              softmax; they sum to 1
    context  c    = Σ_j α_j value_j

Three scores, in the order in which they were published:

    additive    v · tanh(W_query q + W_key k_j)            Bahdanau, Cho & Bengio (2015), section A.1.2
    dot         q · k_j                                    Luong, Pham & Manning (2015), section 3.1
    bilinear    q · W k_j       ("general" in the paper)   Luong, Pham & Manning (2015), section 3.1

and the one that Transformers use, softmax(Q Kᵀ / √d_head) V with several heads: Vaswani et al. (2017),
sections 3.2.1 and 3.2.2. Heads may share keys and values: Shazeer (2019), Ainslie et al. (2023).

Symbols: their d_k is our d_head, their h is n_heads; the decoder state s or h is our query, the encoder
states h_j ("annotations") are our keys and values.

Masks are boolean and True means *may attend*. A query with nothing to attend to gets weights and a
context of zeros, never NaN.

Departs from the papers: projections carry a bias unless `bias=False` (2017: none is printed), as in
BERT and in torch.nn.MultiheadAttention.
"""

from nlmcore.attention.cache import KeyValueCache
from nlmcore.attention.masks import causal_mask, padding_mask, prefix_mask, window_mask
from nlmcore.attention.multi_head import Memory, MultiHeadAttention
from nlmcore.attention.scores import (
    additive_score,
    attend,
    bilinear_score,
    dot_score,
    masked_softmax,
    scaled_dot_product_attention,
)
