"""Sparse attention: a query sees its neighbours and a few other positions, so the scores grow with n and not with n².

    Longformer    i sees j  if |i − j| ≤ w/2,  or i or j is global              Beltagy et al. (2020), section 3.1
    BigBird       i sees j  if their blocks are neighbours (or the same one), j's block was drawn at random for i's,
                            or i or j is global                                 Zaheer et al. (2020), section 2
    causal        the same, and only if j ≤ i; random blocks are drawn among the earlier ones

The first tokens are global. In Longformer they have separate projections, for their queries and for the keys and values
that these queries see; other queries see the usual key of a global token. BigBird has one projection for all tokens. So
has a causal Longformer.

Sizes unless given, by the ratios of the papers, both of 4096 tokens: w = max_length / 8 (theirs 512) and one global
token; blocks of max_length / 64 (theirs 64 tokens), of which each sees two global, three neighbours and three drawn.

**What is computed.** No matrix (n, n). The text is cut into blocks; a block gathers the keys of c blocks and the g
global tokens, and its queries score them all: g + c · block scores each, c = 3 for Longformer and 6 for BigBird (2 and
5 if causal), and n for a global query of an encoder. `scores(n)` is their sum; `pattern(n).sum()` counts the pairs of
the equations.

A language model has the causal pattern, and its state is all keys and values, since a random block may lie far back. In
the papers' encoder-decoders the decoder keeps its full attention, and so it does here; `attention_positions` act only
there.

Departs from the papers: positions, in the rows of the catalogue, are sinusoids (theirs are learned); random blocks are
drawn once per layer, for max_length positions and all heads, and kept with the weights, so a shorter text has fewer;
no dilation; Longformer's global projections start at random (theirs as copies of trained ones). BigBird's paper has no
causal pattern; this one is ours.
"""

from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor, nn

from nlmcore.attention import KeyValueCache, scaled_dot_product_attention
from nlmcore.attention.cache import check_cache
from nlmcore.attention.multi_head import Heads
from nlmcore.checks import Count, Size, checked
from nlmcore.fast import Linear
from nlmcore.positions.absolute import check_length
from nlmcore.transformer.block import build_stack
from nlmcore.variants.parts import Mask, Vectors, real_tokens


class SparseAttention(nn.Module):
    """In both directions; `build_longformer` and `build_bigbird` choose the sizes.

    block: tokens in a block. n_global: how many tokens are global. n_random: blocks drawn for every block.
    max_distance: how far a query sees within the neighbouring blocks (None: all of them). own_global: whether global
    tokens have a separate projection.
    """

    causal = False  # whether a query sees no later key
    table: Int[Tensor, "block seen"]

    @checked
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
        sizes = (c.d_model, c.n_heads, c.n_kv_heads, c.attention_bias, c.dropout, c.d_head)
        self.attention: Any = Heads(*sizes)  # the matrices; what sees what is decided here
        width = (c.n_heads + 2 * (c.n_kv_heads or c.n_heads)) * c.head_size
        separate = own_global and n_global > 0 and not self.causal
        self.global_projection = Linear(c.d_model, width, bias=c.attention_bias) if separate else None
        self.register_buffer(
            "table", draw_blocks(-(-c.max_length // block), -(-n_global // block), n_random, self.causal)
        )

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        """mask (batch, 1, 1, time), True = a real token."""
        time, real = x.shape[1], real_tokens(x, mask)
        check_length(0, time, self.max_length)
        few = min(self.n_global, time)  # a text may be shorter than its global tokens
        q, k, v = self._heads(self.attention.projection(x))
        # The global rows of this are thrown away in an encoder: a global query sees all, which the next lines do.
        mixed = self._blocks(q, k, v, real)
        allowed = None if real is None else real[:, None, None, :]
        if few:
            q_g, k_g, v_g = (q, k, v) if self.global_projection is None else self._heads(self.global_projection(x))
            k_g, v_g = self._shared(k_g, v_g)
            mixed = torch.cat([self._attend(q_g[:, :, :few], k_g, v_g, allowed), mixed[:, :, few:]], 2)
        if self.attention.recorder is not None:  # the only whole matrix, made to be looked at
            weights = self._weights(q, k, self.pattern(time) if allowed is None else self.pattern(time) & allowed)
            if few:
                from_global = scaled_dot_product_attention(q_g[:, :, :few], k_g, v_g, allowed)[1]
                weights = torch.cat([from_global, weights[:, :, few:]], 2)
            self.attention.recorder(weights)
        return self.attention.output(mixed.transpose(1, 2).flatten(2))

    def pattern(self, n: int) -> Bool[Tensor, "query key"]:
        """Which query of a text of n tokens sees which key."""
        position = torch.arange(n, device=self.table.device)
        block, blocks = position // self.block, -(-n // self.block)
        seen = (self.table[:blocks, :, None] == torch.arange(blocks, device=position.device)).any(1)[block][:, block]
        if self.max_distance is not None:
            seen &= (position[:, None] - position).abs() <= self.max_distance
        seen = seen | (position < self.n_global) | (position[:, None] < self.n_global)
        return seen.tril() if self.causal else seen

    def scores(self, n: int) -> int:
        """How many scores a head computes for a text of n tokens that is read in one call."""
        blocks, few = -(-n // self.block), min(self.n_global, n)  # rounded up: the last block may be part of one
        queries = blocks * self.block if blocks > 1 else n
        return queries * (few + self.table.shape[1] * self.block) + (0 if self.causal else few * n)

    def last_matrices(self) -> list[nn.Linear]:
        return [self.attention.output]

    def _heads(self, projected: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q (batch, head, time, d_head), k and v (batch, kv_head, time, d_head)."""
        own, shared = self.attention.n_heads, self.attention.n_kv_heads
        q, k, v = projected.unflatten(-1, (own + 2 * shared, -1)).transpose(1, 2).split([own, shared, shared], dim=1)
        return q, k, v

    def _shared(self, *parts: Tensor) -> tuple[Tensor, ...]:
        return tuple(x.repeat_interleave(self.attention.n_heads // x.shape[1], 1) for x in parts)

    def _blocks(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor | None = None) -> Tensor:
        """Every query, global ones included, attends to the global tokens and to the blocks in its row of the table.

        The queries are the last of the keys. Those of one block are scored as they are, those of several fill blocks.
        """
        time, end = q.shape[2], k.shape[2]
        first, few = end - time, min(self.n_global, end)
        rows = self.table[first // self.block : -(-end // self.block)]
        size, before = (time, 0) if len(rows) == 1 else (self.block, first % self.block)
        own = first - before + torch.arange(len(rows) * size, device=q.device).view(len(rows), size, 1)
        q = F.pad(q, (0, 0, before, len(rows) * size - before - time)).unflatten(2, (len(rows), size))
        position = (rows[:, :, None] * self.block + torch.arange(self.block, device=q.device)).flatten(1)
        allowed = ((position >= few) & (position < end))[:, None]  # (block, query, key); the table's −1 is below few
        if self.max_distance is not None:
            allowed = allowed & ((position[:, None] - own).abs() <= self.max_distance)
        allowed = F.pad(allowed, (few, 0), value=True).expand(-1, size, -1)
        everywhere = torch.arange(few, device=q.device).expand(len(rows), -1)
        position = torch.cat([everywhere, position.clamp(0, end - 1)], 1)  # (block, key): the position of each key
        if self.causal:
            allowed = allowed & (position[:, None] <= own)
        if real is not None:
            allowed = allowed & real[:, position][:, None, :, None]  # (batch, 1, block, query, key)
        allowed = allowed.expand(len(q), 1, -1, -1, -1)
        keys, values = self._shared(*(part[:, :, position] for part in (k, v)))
        mixed = self._attend(*(part.transpose(1, 2).flatten(0, 1) for part in (q, keys, values, allowed)))
        return mixed.unflatten(0, (-1, len(rows))).transpose(1, 2).flatten(2, 3)[:, :, before : before + time]

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, allowed, self.dropout if self.training else 0.0)

    def _weights(self, q: Tensor, k: Tensor, allowed: Tensor) -> Tensor:
        (k,) = self._shared(k)
        return scaled_dot_product_attention(q, k, k, allowed)[1]


class CausalSparseAttention(SparseAttention):
    """Called with (x, state)."""

    causal = True

    def forward(  # type: ignore[override]
        self, x: Vectors, state: KeyValueCache | None = None
    ) -> tuple[Vectors, KeyValueCache]:
        """The causal pattern, continued from `state` (None: the text begins here)."""
        q, k, v = self._heads(self.attention.projection(x))
        if state is None:
            check_length(0, x.shape[1], self.max_length)
            state = KeyValueCache.start(k, v)
        else:
            check_cache(state, None)
            check_length(state.position, x.shape[1], self.max_length)
            k, v, state = state.extend(k, v)
        if self.attention.recorder is not None:
            self.attention.recorder(self._weights(q, k, self.pattern(k.shape[2])[-x.shape[1] :]))
        return self.attention.output(self._blocks(q, k, v).transpose(1, 2).flatten(2)), state


def draw_blocks(blocks: int, n_global: int, n_random: int, causal: bool = False) -> Int[Tensor, "block seen"]:
    """For each block its neighbours and itself, then n_random others that are not global; negative: no block.

    causal: only itself and earlier blocks. Draws follow torch.manual_seed.
    """
    rows = []
    for i in range(blocks):
        near = [i - 1, i] if causal else [i - 1, i, i + 1]
        others = [j for j in range(n_global, i if causal else blocks) if j not in near]
        drawn = [others[j] for j in torch.randperm(len(others), device="cpu")[:n_random].tolist()]
        rows.append([j if j < blocks else -1 for j in near] + drawn + [-1] * (n_random - len(drawn)))
    return torch.tensor(rows)


@checked
def build_longformer(c: Any, causal: bool, window: Size | None = None, n_global: Count = 1) -> nn.Module:
    """A part `attention`; window: w, max_length / 8 unless given; half of it on either side, or before if causal."""
    window = max(2, c.max_length // 8) if window is None else window
    max_distance = window // 2
    kind = CausalSparseAttention if causal else SparseAttention
    return kind(c, max(1, max_distance), n_global, max_distance=max_distance, own_global=True)


@checked
def build_bigbird(c: Any, causal: bool, block: Size | None = None, n_global: Count = 2, n_random: Count = 3) -> Any:
    """A part `attention`; block: max_length / 64 unless given; n_global, n_random: in blocks."""
    block = max(1, c.max_length // 64) if block is None else block
    return (CausalSparseAttention if causal else SparseAttention)(c, block, n_global * block, n_random)


def sparse_stack(part: Any, c: Any, causal: bool, cross: bool) -> nn.Module:
    """A part `stack`: the usual layers with `part` as their attention; that of a decoder with a source stays full."""
    return build_stack(c if cross else replace(c, attention=part), causal, cross)
