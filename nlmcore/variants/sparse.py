"""Sparse attention: a query sees its neighbours and a few other positions, so the scores grow with n and not with n².

    Longformer    i sees j  if |i − j| ≤ w/2,  or i or j is global              Beltagy et al. (2020), section 3.1
    BigBird       i sees j  if their blocks are neighbours (or the same one), j's block was drawn at random for i's,
                            or i or j is global                                 Zaheer et al. (2020), section 2

The first tokens are global. In Longformer they have separate projections, for their queries and for the keys and values
that these queries see; other queries see the usual key of a global token. BigBird has one projection for all tokens.

Sizes unless given, by the ratios of the papers, both of 4096 tokens: w = max_length / 8 (theirs 512) and one global
token; blocks of max_length / 64 (theirs 64 tokens), of which each sees two global, three neighbours and three drawn.

**What is computed.** No matrix (n, n). The text is cut into blocks, of BigBird's size or of w/2; a block gathers the
keys of c blocks and the g global tokens, and its queries score them all: g + c · block scores each, c = 3 for
Longformer and 6 for BigBird, and n for a global query. `scores(n)` is their sum; `pattern(n).sum()` counts the pairs of
the equations, for Longformer two thirds of it, because the corners of three blocks lie outside the window. Gathering
copies each key c times, which a kernel like Longformer's own avoids. On one core, d_model 96, six heads, n = max_length
= 4096, a layer takes 52 ms (Longformer) or 40 ms (BigBird), full attention 123 ms; at n = 1024 all take 7 to 10 ms.

For encoders: in the papers' encoder-decoders, the decoder keeps its full attention. For a language model with just a
window, `TransformerConfig` has `window`.

Departs from the papers: positions, in the rows of the catalogue, are sinusoids (theirs are learned); random blocks are
drawn once per layer, for max_length positions and all heads, and kept with the weights, so a shorter text has fewer;
no dilation; Longformer's global projections start at random (theirs as copies of trained ones).
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor, nn

from nlmcore.attention import scaled_dot_product_attention
from nlmcore.checks import Count, Size, door
from nlmcore.fast import Linear
from nlmcore.transformer.config import build_cross_attention
from nlmcore.variants.shapes import Mask, Vectors, check_length, real_tokens


class SparseAttention(nn.Module):
    """Attention of an encoder; `build_longformer` and `build_bigbird` choose the sizes.

    block: tokens in a block. n_global: how many tokens are global. n_random: blocks drawn for every block.
    max_distance: how far a query sees within the neighbouring blocks (None: all of them). own_global: whether global
    tokens have a separate projection.

    Raises ValueError for a max_distance above `block`.
    """

    table: Int[Tensor, "block seen"]

    @door
    def __init__(
        self,
        c: Any,
        block: Size,
        n_global: Count,
        n_random: Count = 0,
        max_distance: Count | None = None,
        own_global: bool = False,
    ) -> None:
        super().__init__()
        if max_distance is not None and max_distance > block:
            raise ValueError(f"max_distance must lie in [0, {block}], the block's size, got {max_distance}")
        self.block, self.n_global, self.max_distance = block, n_global, max_distance
        self.max_length, self.dropout = c.max_length, c.dropout
        self.attention: Any = build_cross_attention(c)
        width = (c.n_heads + 2 * (c.n_kv_heads or c.n_heads)) * c.head_size
        self.global_projection = Linear(c.d_model, width, bias=c.attention_bias) if own_global and n_global else None
        self.register_buffer("table", draw_blocks(-(-c.max_length // block), -(-n_global // block), n_random))

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        """mask (batch, 1, 1, time), True = a real token. Raises ValueError for a text longer than max_length."""
        time, real = check_length(x, self.max_length), real_tokens(x, mask)
        few = min(self.n_global, time)
        q, k, v = self._heads(self.attention.projection(x))
        mixed = self._blocks(q, k, v, real)
        allowed = None if real is None else real[:, None, None, :]
        if few:
            q_g, k_g, v_g = (q, k, v) if self.global_projection is None else self._heads(self.global_projection(x))
            mixed = torch.cat([self._attend(q_g[:, :, :few], k_g, v_g, allowed), mixed[:, :, few:]], 2)
        if self.attention.recorder is not None:  # the only whole matrix, made to be looked at
            pairs = self.pattern(time) if allowed is None else self.pattern(time) & allowed
            weights = scaled_dot_product_attention(q, k, v, pairs)[1]
            if few:
                from_global = scaled_dot_product_attention(q_g[:, :, :few], k_g, v_g, allowed)[1]
                weights = torch.cat([from_global, weights[:, :, few:]], 2)
            self.attention.recorder(weights)
        return self.attention.output(mixed.transpose(1, 2).flatten(2))

    def pattern(self, n: int) -> Bool[Tensor, "query key"]:
        """Which query of a text of n tokens sees which key."""
        place = torch.arange(n, device=self.table.device)
        block, blocks = place // self.block, -(-n // self.block)
        seen = (self.table[:blocks, :, None] == torch.arange(blocks, device=place.device)).any(1)[block][:, block]
        if self.max_distance is not None:
            seen &= (place[:, None] - place).abs() <= self.max_distance
        return seen | (place < self.n_global) | (place[:, None] < self.n_global)

    def scores(self, n: int) -> int:
        """How many scores a head computes for a text of n tokens."""
        blocks, few = -(-n // self.block), min(self.n_global, n)
        return blocks * self.block * (few + self.table.shape[1] * self.block) + few * n

    def last_matrices(self) -> list[nn.Linear]:
        return [self.attention.output]

    def _heads(self, projected: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v, each (batch, head, time, d_head)."""
        own, shared = self.attention.n_heads, self.attention.n_kv_heads
        heads = projected.unflatten(-1, (own + 2 * shared, -1)).transpose(1, 2)
        q, k, v = heads.split([own, shared, shared], dim=1)
        return q, k.repeat_interleave(own // shared, 1), v.repeat_interleave(own // shared, 1)

    def _blocks(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor | None) -> Tensor:
        """Every query, global ones included, attends to the global tokens and to the blocks in its row of the table."""
        time, few = q.shape[2], min(self.n_global, q.shape[2])
        blocks = -(-time // self.block)
        fill = (0, 0, 0, blocks * self.block - time)
        q, near_k, near_v = (F.pad(part, fill).unflatten(2, (blocks, self.block)) for part in (q, k, v))
        there = (self.table[:blocks] >= 0) & (self.table[:blocks] < blocks)
        table = self.table[:blocks].where(there, 0)
        inside = torch.arange(self.block, device=q.device)
        place = (table[:, :, None] * self.block + inside).flatten(1)  # (block, key): the position of each key
        allowed = there.repeat_interleave(self.block, 1) & (place >= few) & (place < time)
        allowed = allowed[:, None].expand(-1, self.block, -1)  # (block, query, key)
        if self.max_distance is not None:
            own = torch.arange(blocks * self.block, device=q.device).view(blocks, self.block, 1)
            allowed = allowed & ((place[:, None] - own).abs() <= self.max_distance)
        allowed = F.pad(allowed, (few, 0), value=True)
        if real is not None:
            who = F.pad(place.clamp(max=time - 1), (few, 0))
            who[:, :few] = torch.arange(few, device=q.device)
            allowed = allowed & real[:, who][:, None, :, None]  # (batch, 1, block, query, key)
        keys, values = (
            torch.cat([whole[:, :, None, :few].expand(-1, -1, blocks, -1, -1), near[:, :, table].flatten(3, 4)], 3)
            for whole, near in ((k, near_k), (v, near_v))
        )
        allowed = allowed.expand(len(q), 1, -1, -1, -1)
        mixed = self._attend(*(part.transpose(1, 2).flatten(0, 1) for part in (q, keys, values, allowed)))
        return mixed.unflatten(0, (-1, blocks)).transpose(1, 2).flatten(2, 3)[:, :, :time]

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, allowed, self.dropout if self.training else 0.0)


def draw_blocks(blocks: int, n_global: int, n_random: int) -> Int[Tensor, "block seen"]:
    """For each block its neighbours and itself, then n_random others that are not global; −1 where there is none.

    Draws follow torch.manual_seed.
    """
    rows = []
    for i in range(blocks):
        near = [i - 1, i, i + 1]
        others = [j for j in range(n_global, blocks) if j not in near]
        drawn = [others[j] for j in torch.randperm(len(others), device="cpu")[:n_random].tolist()]
        rows.append([j if j < blocks else -1 for j in near] + drawn + [-1] * (n_random - len(drawn)))
    return torch.tensor(rows)


@door
def build_longformer(c: Any, window: Size | None = None, n_global: Count = 1) -> nn.Module:
    """window: w, max_length / 8 unless given; half of it on either side."""
    window = max(2, c.max_length // 8) if window is None else window
    max_distance = window // 2
    return SparseAttention(c, max(1, max_distance), n_global, max_distance=max_distance, own_global=True)


@door
def build_bigbird(c: Any, block: Size | None = None, n_global: Count = 2, n_random: Count = 3) -> nn.Module:
    """block: max_length / 64 unless given; n_global, n_random: in blocks."""
    block = max(1, c.max_length // 64) if block is None else block
    return SparseAttention(c, block, n_global * block, n_random)
