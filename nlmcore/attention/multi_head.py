"""Attention in several subspaces at once.

    head_i = attention(x W_i^Q, y W_i^K, y W_i^V),   output = [head_1; …; head_h] W^O
                                                     Vaswani et al. (2017), section 3.2.2

W^Q, W^K and W^V are the rows of one matrix, `projection`, so that self-attention multiplies once.

Positions may act inside attention: `positions` is any module with one or more of these methods.

    turn(x, first)      queries and keys, (batch, head, time, d_head), at positions first, first + 1, …: rotary
    bias(q, k)          added to q·k/√d_head, (batch or 1, head, query, key); the queries stand at the end of the keys
    values(weights)     added to weights · v, (batch, head, query, d_head): Shaw's a^V

Departs from the paper: projections carry a bias unless `bias=False`, as in BERT and in torch.nn.MultiheadAttention;
heads may share keys and values (Shazeer 2019, Ainslie et al. 2023).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention.cache import KeyValueCache
from nlmcore.attention.checks import METHODS, check_floats, check_memory, check_positions, check_reach, check_source
from nlmcore.attention.masks import check_mask, window_mask
from nlmcore.attention.projections import Rows
from nlmcore.attention.weighted_sum import attend
from nlmcore.checks import check_dropout, check_sizes, check_switches
from nlmcore.fast import Linear


class Memory(NamedTuple):
    """A source as attention keeps it: computed once, looked at by every query."""

    keys: Float[Tensor, "batch kv_head key d_head"]
    values: Float[Tensor, "batch kv_head key d_head"]


class MultiHeadAttention(nn.Module):
    """Attention in n_heads subspaces at once; the results are concatenated and mixed by one matrix.

        head_i = attention(q W_i^Q, k W_i^K, v W_i^V),   output = [head_1; …; head_h] W^O

    `n_kv_heads` below n_heads lets groups of query heads share keys and values: 1 is multi-query
    (Shazeer 2019), in between is grouped-query attention (Ainslie et al. 2023). `d_head` is d_model / n_heads unless
    given. `window`: in `read`, how many positions a query sees, itself included (None: all before it).

    While `nlmcore.inspect.capture` listens, the weights are computed explicitly and handed to it;
    otherwise PyTorch's fused kernel runs and no (query, key) matrix is kept. Same numbers.

    Raises ValueError if d_model is not divisible by n_heads (and d_head is not given), or n_heads by n_kv_heads;
    TypeError for positions that have none of the three methods.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        bias: bool = True,
        dropout: float | int = 0.0,
        d_head: int | None = None,
        positions: nn.Module | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_sizes(d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
        check_sizes(**{name: size for name, size in (("d_head", d_head), ("window", window)) if size is not None})
        check_dropout(dropout)
        check_switches(bias=bias)
        check_positions(positions)
        if d_head is None and d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got d_model={d_model}, n_heads={n_heads}")
        if n_heads % n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got n_heads={n_heads}, n_kv_heads={n_kv_heads}"
            )
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head = d_model // n_heads if d_head is None else d_head
        self.dropout, self.window = dropout, window
        self.projection = Linear(d_model, (n_heads + 2 * n_kv_heads) * self.d_head, bias=bias)
        self.output = Linear(n_heads * self.d_head, d_model, bias=bias)
        self.positions: Any = positions
        self._turn, self._bias, self._values = (callable(getattr(positions, name, None)) for name in METHODS)
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    @property
    def query(self) -> Rows:
        """W^Q: a view of rows of `projection`; `query(x)`, `query.weight`, `query.bias`."""
        return Rows(self.projection, 0, self.n_heads * self.d_head)

    @property
    def key(self) -> Rows:
        """W^K: the rows after those of `query`."""
        begin = self.n_heads * self.d_head
        return Rows(self.projection, begin, begin + self.n_kv_heads * self.d_head)

    @property
    def value(self) -> Rows:
        """W^V: the last rows."""
        begin = (self.n_heads + self.n_kv_heads) * self.d_head
        return Rows(self.projection, begin, begin + self.n_kv_heads * self.d_head)

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        source: Float[Tensor, "batch key d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Read `source` (None: the queries themselves, self-attention) from every position of `query`.

        mask broadcasts to (batch, head, query, key), True = may attend: `causal_mask(n)` as it is, a
        padding mask as `mask[:, None, None, :]`.

        Raises TypeError or ValueError for what does not fit; nothing is broadcast but the mask.
        """
        if source is not None:
            check_source(source)
            self._check(query=query, source=source)
            return self.look(query, self.remember(source), mask)
        self._check(query=query)
        q, k, v = self._project(query, 0)
        return self._mix(q, k, v, mask)

    def remember(self, source: Float[Tensor, "batch key d_model"]) -> Memory:
        """k = W^K h, v = W^V h of a source, to be looked at again and again: cross-attention's state."""
        self._check(source=source)
        k, v = (self._split(part(source)) for part in (self.key, self.value))
        return Memory(self.positions.turn(k, 0) if self._turn else k, v)

    def look(
        self, query: Float[Tensor, "batch query d_model"], memory: Memory, mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch query d_model"]:
        """Read a remembered source from every position of `query`; mask as in `forward`.

        Positions inside attention take `query` for a whole text (`turn`) or for the end of the source (`bias`): only
        without them may it come in pieces. Cross-attention of a Transformer has none.

        Raises TypeError or ValueError for a memory that is none, or another model's, or of another batch.
        """
        self._check(query=query)
        q = self._split(self.query(query))
        check_memory(memory, (len(q), self.n_kv_heads, self.d_head), q.dtype)
        return self._mix(self.positions.turn(q, 0) if self._turn else q, *memory, mask)

    def read(
        self, x: Float[Tensor, "batch time d_model"], state: KeyValueCache | None = None
    ) -> tuple[Float[Tensor, "batch time d_model"], KeyValueCache]:
        """Causal self-attention as a language model needs it: read on from `state` (None: the text begins here).

        Every position sees itself and what came before, of it the last `window` positions if there is a window.

        Raises TypeError or ValueError for an x that does not fit, and for a state that is none, or another model's, or
        has lost what this window sees.
        """
        if not isinstance(x, Tensor) or x.ndim != 3 or not x.shape[1] or x.shape[2] != self.d_model:
            self._check(x=x)  # the rest `projection` says: here every token of every layer comes by
        if state is not None and not isinstance(state, KeyValueCache):
            raise TypeError(f"state must be None or the KeyValueCache of an earlier `read`, got {type(state).__name__}")
        q, k, v = self._project(x, 0 if state is None else state.position)
        time = q.shape[2]
        if state is None:
            state = KeyValueCache.start(k, v, self.window)
        else:
            past = None if self.window is None else self.window - 1
            check_reach(state.first, state.length, self.window)
            recorded = torch.is_grad_enabled() and any(p.requires_grad for p in self.parameters())
            if time == 1:
                state = state.append(k, v, self.window, recorded)
                k, v = state.read(self.window)
            else:
                old = state.read(past)
                state = state.append(k, v, self.window, recorded)
                k, v = state.read() if past is None else (torch.cat(both, 2) for both in zip(old, (k, v), strict=True))
        if time == 1:
            return self._mix(q, k, v, None), state
        keys = k.shape[2]
        if keys == time and (self.window is None or self.window >= keys):
            return self._mix(q, k, v, None, causal=True), state
        return self._mix(q, k, v, window_mask(time, self.window, keys - time, x.device)), state

    def _project(self, x: Tensor, first: int) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v (batch, head, time, d_head) of one text whose first position is `first`."""
        own, shared = self.n_heads, self.n_kv_heads
        heads = self._split(self.projection(x))
        if not self._turn:
            return heads.split([own, shared, shared], dim=1)  # type: ignore[return-value]
        turned, v = heads.split([own + shared, shared], dim=1)
        q, k = self.positions.turn(turned, first).split([own, shared], dim=1)
        return q, k, v

    def _split(self, x: Tensor) -> Tensor:
        """(batch, time, head * d_head) -> (batch, head, time, d_head)."""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def _mix(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool = False) -> Tensor:
        """The weighted sums of every head, (batch, head, query, d_head), put together: (batch, query, d_model)."""
        if mask is not None:
            check_mask(mask, (*q.shape[:3], k.shape[2]))
        bias = self.positions.bias(q, k) if self._bias else None
        explicit = self.recorder is not None or self._values
        if causal and (explicit or bias is not None):
            mask, causal = window_mask(q.shape[2], None, 0, q.device), False
        attended = (self._explicit if explicit else self._fused)(q, k, v, mask, bias, causal)
        return self.output(attended.transpose(1, 2).flatten(2))

    def _fused(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Any, causal: bool) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        grouped = self.n_kv_heads < self.n_heads
        if bias is not None:
            mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
        elif grouped and mask is None and q.shape[2] == 1:  # one query: a group's heads are rows of one small matrix
            rows = q.reshape(len(q), self.n_kv_heads, -1, self.d_head)
            return F.scaled_dot_product_attention(rows, k, v, None, dropout).reshape(q.shape)
        return F.scaled_dot_product_attention(q, k, v, mask, dropout, causal, enable_gqa=grouped)

    def _explicit(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Any, causal: bool) -> Tensor:
        """The same, with the weights (batch, head, query, key) at hand."""
        sharing = self.n_heads // self.n_kv_heads
        k, v = (x.repeat_interleave(sharing, dim=1) for x in (k, v)) if sharing > 1 else (k, v)
        scores = q @ k.transpose(-2, -1) * self.d_head**-0.5
        output, weights = attend(scores if bias is None else scores + bias, v, mask)
        if self.recorder is not None:
            self.recorder(weights)
        if self.training and self.dropout:
            weights = F.dropout(weights, self.dropout)
            output = weights @ v
        return output + self.positions.values(weights) if self._values else output

    def _check(self, **inputs: Tensor) -> None:
        check_floats(**inputs)
        batch, dtype = next(iter(inputs.values())).shape[:1], self.projection.weight.dtype
        for name, x in inputs.items():
            if x.dtype != dtype and not torch.is_autocast_enabled(x.device.type):
                raise TypeError(f"{name} must have the dtype of the weights, {dtype}, got {x.dtype}")
            if x.ndim != 3 or x.shape[2] != self.d_model or not x.shape[1] or x.shape[:1] != batch:
                shapes = " and ".join(f"{n} {tuple(t.shape)}" for n, t in inputs.items())
                raise ValueError(
                    f"{name} must have shape (batch, time, {self.d_model}), one batch and at least one position,"
                    f" got {shapes}"
                )
