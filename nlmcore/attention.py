"""Attention: a weighted sum of values, with weights that depend on what is asked.

    scores   s_j  = score(query, key_j)                    one number per key
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

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

# --- Scores: how well does a key answer the query? -----------------------------------------------------


def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """s_j = q · k_j. Query and keys must have the same width d.

    query (..., d) is one query and gives scores (..., key); query (..., query, d) is many and gives
    (..., query, key). keys (..., key, d). Luong et al. (2015), section 3.1, "dot".

    Raises ValueError if the widths differ.
    """
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
    _check_keys(query, keys)
    _check_matrix("v", v, (v.shape[-1],), "(d_score,)")
    _check_matrix("W_query", W_query, (v.shape[-1], query.shape[-1]), "(d_score, d_query)")
    _check_matrix("W_key", W_key, (v.shape[-1], keys.shape[-1]), "(d_score, d_key)")
    from_query = (query @ W_query.T).unsqueeze(-2)  # (..., [query,] 1, d_score)
    from_keys = keys @ W_key.T  # (..., key, d_score)
    if not _one_query(query, keys):
        from_keys = from_keys.unsqueeze(-3)  # (..., 1, key, d_score)
    return torch.tanh(from_query + from_keys) @ v


# --- From scores to a context ---------------------------------------------------------------------------


def masked_softmax(scores: Tensor, mask: Bool[Tensor, "..."] | None = None) -> Tensor:
    """Softmax over the last dimension, of the allowed entries alone; a row with none allowed is all zeros.

    scores (..., key); mask broadcasts to it, True = may attend. A score of −inf counts as not allowed.
    """
    allowed = scores > -math.inf
    if mask is not None:
        _check_mask(mask, scores.shape)
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
    if values.ndim < 2 or scores.shape[-1] != values.shape[-2]:
        raise ValueError(
            f"attend needs one value per score: scores (..., key) and values (..., key, d_value),"
            f" got scores {tuple(scores.shape)} and values {tuple(values.shape)}"
        )
    weights = masked_softmax(scores, mask)
    if scores.ndim < values.ndim:  # one query
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
    return attend(dot_score(q, k) / math.sqrt(q.shape[-1]), v, mask)


# --- Masks ----------------------------------------------------------------------------------------------


def causal_mask(n: int, past: int = 0, device: torch.device | str | None = None) -> Bool[Tensor, "query key"]:
    """True where query i may look: at key j ≤ i. Shape (n, past + n), with `past` keys read before.

    Raises ValueError if n < 1 or past < 0.
    """
    if n < 1 or past < 0:
        raise ValueError(f"causal_mask needs n of at least 1 and past of at least 0, got n={n}, past={past}")
    return torch.ones(n, past + n, dtype=torch.bool, device=device).tril(past)


def padding_mask(lengths: Tensor, length: int | None = None) -> Bool[Tensor, "batch time"]:
    """True where a token is real: lengths (batch,) gives (batch, length), by default the longest.

    Give it to `MultiHeadAttention` as `padding_mask(lengths)[:, None, None, :]`.

    Raises TypeError if lengths are not whole numbers, ValueError if one is negative or exceeds `length`.
    """
    lengths = torch.as_tensor(lengths)
    if lengths.ndim != 1 or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise TypeError(
            f"lengths must be a one-dimensional tensor of integers, got {lengths.dtype} of shape {tuple(lengths.shape)}"
        )
    longest = int(lengths.max()) if len(lengths) else 0
    length = longest if length is None else length
    if len(lengths) and (int(lengths.min()) < 0 or longest > length):
        raise ValueError(f"lengths must lie in [0, {length}], got {int(lengths.min())} to {longest}")
    return torch.arange(length, device=lengths.device) < lengths.unsqueeze(-1)


# --- Many heads -----------------------------------------------------------------------------------------


class MultiHeadAttention(nn.Module):
    """Attention in n_heads subspaces at once; the results are concatenated and mixed by one matrix.

        head_i = attention(q W_i^Q, k W_i^K, v W_i^V),   output = [head_1; …; head_h] W^O

    `n_kv_heads` below n_heads lets groups of query heads share keys and values: 1 is multi-query
    (Shazeer 2019), in between is grouped-query attention (Ainslie et al. 2023).

    While `nlmcore.inspect.capture` listens, the weights are computed explicitly and handed to it;
    otherwise PyTorch's fused kernel runs and no (query, key) matrix is kept. Same numbers.

    Raises ValueError if d_model is not divisible by n_heads, or n_heads by n_kv_heads.
    """

    def __init__(
        self, d_model: int, n_heads: int, n_kv_heads: int | None = None, bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if n_heads < 1 or d_model < 1 or d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got d_model={d_model}, n_heads={n_heads}")
        if n_kv_heads < 1 or n_heads % n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got n_heads={n_heads}, n_kv_heads={n_kv_heads}"
            )
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head, self.dropout = d_model // n_heads, dropout
        self.query = nn.Linear(d_model, n_heads * self.d_head, bias=bias)
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.output = nn.Linear(n_heads * self.d_head, d_model, bias=bias)
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        source: Float[Tensor, "batch key d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Read `source` (None: the queries themselves, self-attention) from every position of `query`.

        mask broadcasts to (batch, head, query, key), True = may attend: `causal_mask(n)` as it is, a
        padding mask as `mask[:, None, None, :]`.
        """
        source = query if source is None else source
        q = self._split(self.query(query))  # (batch, head, query, d_head)
        k = self._split(self.key(source))  # (batch, kv_head, key, d_head)
        v = self._split(self.value(source))
        if mask is not None:
            _check_mask(mask, (query.shape[0], self.n_heads, query.shape[1], source.shape[1]))
        mixed = self._attend(q, k, v, mask)  # (batch, head, query, d_head)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        """(batch, time, head * d_head) -> (batch, head, time, d_head)."""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if self.recorder is None:
            grouped = self.n_kv_heads < self.n_heads
            return F.scaled_dot_product_attention(q, k, v, mask, dropout, enable_gqa=grouped)
        sharing = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(sharing, dim=1), v.repeat_interleave(sharing, dim=1)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        self.recorder(weights)
        return F.dropout(weights, dropout) @ v if dropout else output


# --- Saying what is wrong -------------------------------------------------------------------------------


def _one_query(query: Tensor, keys: Tensor) -> bool:
    return query.ndim < keys.ndim


def _check_keys(query: Tensor, keys: Tensor) -> None:
    if query.ndim < 1 or keys.ndim < 2 or query.ndim > keys.ndim:
        raise ValueError(
            "a score needs keys (..., key, d) and a query (..., d) or queries (..., query, d),"
            f" got query {tuple(query.shape)} and keys {tuple(keys.shape)}"
        )


def _check_matrix(name: str, matrix: Tensor, shape: tuple[int, ...], axes: str) -> None:
    if tuple(matrix.shape) != shape:
        raise ValueError(f"{name} must have shape {axes} = {shape}, got {tuple(matrix.shape)}")


def _check_mask(mask: Tensor, shape: tuple[int, ...] | torch.Size) -> None:
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean, True = may attend, got {mask.dtype}")
    try:
        fits = torch.broadcast_shapes(mask.shape, shape) == tuple(shape)
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"mask must broadcast to the scores' shape {tuple(shape)}, got {tuple(mask.shape)}")
