"""Product-key memory: a layer that looks up a few of very many vectors, by keys that are pairs of half keys.

    q = norm(x W) = [q_1; q_2]
    I_1 = the k half keys c_i with the largest q_1 · c_i,   I_2 = those c'_j with the largest q_2 · c'_j
    I   = the k pairs (i, j) of I_1 × I_2 with the largest s_ij = q_1 · c_i + q_2 · c'_j
    y   = Σ softmax(s)_ij v_ij over I, summed over heads              Lample et al. (2019), section 3

The best k of all n² pairs are among these k², so 2 n + k² products find what n² would. Heads have their own W and half
keys, and share v.

The memory replaces the feed-forward network of the last layer but one, in the decoder only: Narang et al. (2021), whose
512² vectors of 768 turn 223 M parameters into 421 M, at few more operations. Sizes that are not given follow theirs at
d_model = 768: n = d_model · 2/3, k = d_model / 24 (at least 4), a key of d_model / 6 (at least 8).

Departs from the papers: queries are normalised over their dimensions (LayerNorm), where Lample et al. normalise each
dimension over the batch, which in a language model would let every position see later ones. All gradients are dense.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.variants.parts import Vectors, stack_of_two_kinds


class ProductKeyMemory(nn.Module):
    """Σ softmax(s)_ij v_ij over the best k of n_keys² pairs, summed over heads. A part `feed_forward` without d_ff.

    d_key: width of a whole key, twice that of a half one.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        d_ff: Size | None = None,
        n_keys: Size | None = None,
        k: Size | None = None,
        d_key: Size | None = None,
        n_heads: Size = 4,
    ) -> None:
        super().__init__()
        n_keys = max(4, d_model * 2 // 3) if n_keys is None else n_keys
        k = min(n_keys, max(4, d_model // 24)) if k is None else k
        d_key = 2 * max(4, d_model // 12) if d_key is None else d_key
        if k > n_keys:
            raise ValueError(f"k must be at most n_keys, got k={k}, n_keys={n_keys}")
        if d_key % 2:
            raise ValueError(f"d_key must be even: a key is two halves, got {d_key}")
        self.k = k
        self.query = nn.Linear(d_model, n_heads * d_key)
        self.norm = nn.LayerNorm(d_key)
        self.half_keys = nn.Parameter(torch.empty(2, n_heads, n_keys, d_key // 2))
        nn.init.uniform_(self.half_keys, -math.sqrt(2 / d_key), math.sqrt(2 / d_key))
        self.values = nn.Embedding(n_keys**2, d_model)

    def find(self, x: Vectors) -> tuple[Float[Tensor, "batch time head k"], Int[Tensor, "batch time head k"]]:
        """s of the best k pairs, best first, and their rows in `values`: i · n_keys + j."""
        n_heads, n_keys, half = self.half_keys.shape[1:]
        q = self.norm(self.query(x).unflatten(-1, (n_heads, 2 * half)))  # (batch, time, head, d_key)
        # I_1 and I_2: the best k half keys for each half of the query, (batch, time, head, k).
        left, right = (
            torch.einsum("bthd,hnd->bthn", part, keys).topk(self.k, dim=-1)
            for part, keys in zip(q.chunk(2, dim=-1), self.half_keys, strict=True)
        )
        pairs = (left.values.unsqueeze(-1) + right.values.unsqueeze(-2)).flatten(-2)  # (…, k²)
        rows = (left.indices.unsqueeze(-1) * n_keys + right.indices.unsqueeze(-2)).flatten(-2)
        best = pairs.topk(self.k, dim=-1)  # I: the best k pairs among the k²
        return best.values, rows.gather(-1, best.indices)

    def forward(self, x: Vectors) -> Vectors:
        scores, rows = self.find(x)
        return torch.einsum("bthk,bthkd->btd", scores.softmax(-1), self.values(rows))


def build_with_memory(
    c: Any, causal: bool, cross: bool, n_keys: int | None = None, k: int | None = None, d_key: int | None = None
) -> nn.Module:
    """A part `stack`: a decoder has the memory in its last layer but one; if it has one layer, in that."""
    with_memory = replace(c, feed_forward=partial(ProductKeyMemory, n_keys=n_keys, k=k, d_key=d_key))
    return stack_of_two_kinds(c, causal, cross, with_memory, {max(0, c.n_layers - 2)} if causal else ())
