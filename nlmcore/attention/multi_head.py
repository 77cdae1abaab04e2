"""Attention in several subspaces at once.

    head_i = attention(x W_i^Q, y W_i^K, y W_i^V),   output = [head_1; …; head_h] W^O
                                                     Vaswani et al. (2017), section 3.2.2

W^Q, W^K and W^V stand side by side in one matrix, `projection` (stored transposed): self-attention multiplies once.

Positions may act inside attention: `positions` is a module whose call is rotate(x, first) or bias(q, k), and which may
have a method values(weights), with shapes as in `nlmcore.positions`.

Departs from the paper: projections carry a bias unless `bias=False`, as in BERT and in torch.nn.MultiheadAttention;
heads may share keys and values (multi-query, Shazeer 2019; grouped-query attention, Ainslie et al. 2023).
"""

import copy
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeVar

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention.cache import KeyValueCache, check_cache
from nlmcore.attention.masks import check_mask, window_mask
from nlmcore.attention.scores import softmax_where
from nlmcore.checks import Rate, Size, checked, described
from nlmcore.fast import Linear, fused_attention
from nlmcore.fast.linear import view_of_rows

H = TypeVar("H", bound="Heads")
ADVICE = "a mask is given by name, mask=…"


class Memory(NamedTuple):
    """A source as attention keeps it: computed once, attended to by every query."""

    keys: Float[Tensor, "batch kv_head key d_head"]
    values: Float[Tensor, "batch kv_head key d_head"]


class Heads(nn.Module):
    """What all multi-head attention has: W^Q, W^K, W^V and W^O, positions, and how the heads' results are mixed.

    n_kv_heads: fewer than n_heads let groups of query heads share keys and values; 1 is multi-query attention. d_head:
    d_model / n_heads unless given. A fused kernel runs unless `nlmcore.inspect.capture` listens for the weights.

    Raises ValueError for widths or heads that do not divide, TypeError for positions with none of the three methods.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        n_heads: Size,
        n_kv_heads: Size | None = None,
        bias: bool = True,
        dropout: Rate = 0.0,
        d_head: Size | None = None,
        positions: Any = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads, n_kv_heads, d_head)
        n_kv_heads = n_kv_heads or n_heads
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head = d_head or d_model // n_heads
        self.dropout = dropout
        # W^Q, W^K, W^V, stored transposed and so one below the other: n_heads queries, n_kv_heads keys, as many values
        self.projection = Linear(d_model, (n_heads + 2 * n_kv_heads) * self.d_head, bias=bias)
        self.output = Linear(n_heads * self.d_head, d_model, bias=bias)  # W^O
        self.positions = positions
        self._rotates, self._biases, self._adds = check_positions(positions)
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    query, key, value = view_of_rows(0), view_of_rows(1), view_of_rows(2)  # W^Q, W^K, W^V: `query(x)`, `query.weight`

    @classmethod
    @checked
    def from_torch(cls: type[H], module: nn.MultiheadAttention) -> H:
        """PyTorch's weights and numbers (batch first). Raises ValueError for kdim or vdim, bias_k and add_zero_attn."""
        if module.in_proj_weight is None or module.bias_k is not None or module.add_zero_attn:
            raise ValueError("module must have one width (no kdim, no vdim), no bias_k and no add_zero_attn")
        bias = module.in_proj_bias is not None
        ours = cls(module.embed_dim, module.num_heads, bias=bias, dropout=module.dropout).to(module.in_proj_weight)
        theirs = module.state_dict().items()
        ours.load_state_dict({n.replace("in_proj_", "projection.").replace("out_proj", "output"): w for n, w in theirs})
        return ours.train(module.training)

    def _heads(self, name: str, x: Tensor, projection: Any) -> Tensor:
        """x W, cut into heads: (batch, time, d_model) -> (batch, head, time, d_head)."""
        y = projection(x)
        check_text(name, x, self.d_model)
        return y.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def _project(self, name: str, x: Tensor, first: int) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v (batch, head, time, d_head) of one text whose first position is `first`."""
        own, shared = self.n_heads, self.n_kv_heads
        # Queries and keys lie side by side, so one rotation does both.
        rotated, v = self._heads(name, x, self.projection).split([own + shared, shared], dim=1)
        if self._rotates:
            rotated = self.positions(rotated, first)
        return *rotated.split([own, shared], dim=1), v  # type: ignore[return-value]

    def _mix(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """The weighted sums of every head, (batch, head, query, d_head), put together: (batch, query, d_model)."""
        if mask is not None:
            check_mask(mask, (*q.shape[:3], k.shape[2]))
        bias = self.positions(q, k) if self._biases else None  # (1 or batch, head, query, key)
        explicit = self.recorder is not None or self._adds
        if causal and (explicit or bias is not None):  # the kernel takes either its own causal mask or ours
            mask, causal = window_mask(q.shape[2], None, 0, q.device), False
        if explicit:
            heads = self._explicit(q, k, v, mask, bias)
        else:
            heads = fused_attention(q, k, v, mask, bias, self.dropout if self.training else 0.0, causal)
        return self.output(heads.transpose(1, 2).flatten(2))  # [head_1; …; head_h] W^O

    def _explicit(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        """softmax(q kᵀ / √d_head + bias) v, and what `values` adds; weights (batch, head, query, key)."""
        sharing = self.n_heads // self.n_kv_heads  # queries i · sharing … read key head i: Ainslie et al. (2023)
        k, v = (x.repeat_interleave(sharing, dim=1) for x in (k, v)) if sharing > 1 else (k, v)
        scores = (q @ k.mT).mul_(self.d_head**-0.5)
        weights = softmax_where(mask, scores if bias is None else scores + bias)
        if self.recorder is not None:
            self.recorder(weights)
        weights = F.dropout(weights, self.dropout, self.training)  # after recording: what is shown sums to 1
        return weights @ v + self.positions.values(weights) if self._adds else weights @ v


class MultiHeadAttention(Heads):
    """Attention in n_heads subspaces; the results are concatenated and mixed by one matrix.

    `attention(x)` looks both ways, `attention(x, source)` at a source; sizes and errors as in `Heads`.
    """

    @checked(like="projection.weight")
    def forward(
        self,
        query: Float[Tensor, "batch query {self.d_model}"],
        source: Annotated[Float[Tensor, "batch key {self.d_model}"], ADVICE] | Memory | None = None,
        mask: Any = None,
    ) -> Float[Tensor, "batch query {self.d_model}"]:
        """Attend to `source` (None: `query`): its vectors, or what `project_source` made of them.

        mask broadcasts to (batch, head, query, key), True = may attend. A query in pieces needs a source, no positions.
        """
        if source is None:
            q, k, v = self._project("query", query, 0)
            return self._mix(q, k, v, mask)
        memory = source if isinstance(source, tuple) else self.project_source(source)
        q = self._heads("query", query, self.query)
        check_memory(memory, q, self.n_kv_heads)
        return self._mix(self.positions(q, 0) if self._rotates else q, *memory, mask)

    @checked(like="projection.weight")
    def project_source(self, source: Float[Tensor, "batch key {self.d_model}"]) -> Memory:
        """k = h W^K, v = h W^V of a source, once for all that attend to it: cross-attention's state."""
        k, v = (self._heads("source", source, part) for part in (self.key, self.value))
        # Rotated once here: a source begins at position 0, whoever asks.
        return Memory(self.positions(k, 0) if self._rotates else k, v)


class CausalAttention(Heads):
    """Self-attention as a language model needs it: `y, state = attention(x, state)`.

    Every position sees itself and those before it; window: only so many, itself included. Sizes and errors as in
    `Heads`. State: the keys and values of what was read.
    """

    @checked
    def __init__(self, *sizes: Any, window: Size | None = None, **more: Any) -> None:
        super().__init__(*sizes, **more)
        self.window = window

    def forward(
        self, x: Float[Tensor, "batch time {self.d_model}"], state: KeyValueCache | None = None
    ) -> tuple[Float[Tensor, "batch time {self.d_model}"], KeyValueCache]:
        """Continue from `state` (None: the text begins here).

        Raises TypeError or ValueError for a state that is another model's, or has lost what this window sees.
        """
        if state is None:
            q, k, v = self._project("x", x, 0)  # (batch, head, time, d_head), k and v with kv_head
            state = KeyValueCache.start(k, v, self.window)
        else:
            check_cache(state, self.window)
            q, k, v = self._project("x", x, state.position)
            # k and v become [old; new]; keys were rotated by their own positions and stay as they are
            k, v, state = state.extend(k, v, self.window)
        time, keys = q.shape[2], k.shape[2]
        if time == 1:  # the newest token sees all that is kept: no mask
            return self._mix(q, k, v), state
        # A text from its beginning, no longer than the window: the kernel knows this mask by name and needs none.
        causal = keys == time <= (self.window or time)
        mask = None if causal else window_mask(time, self.window, keys - time, x.device)
        return self._mix(q, k, v, mask, causal), state


def two_way(attention: Heads) -> MultiHeadAttention:
    """The same heads, weights included, called with a mask; they may be those of a `CausalAttention`."""
    other = copy.copy(attention)
    other.__class__ = MultiHeadAttention  # type: ignore[assignment]
    return other  # type: ignore[return-value]


def check_heads(d_model: int, n_heads: int, n_kv_heads: int | None, d_head: int | None) -> None:
    """The width is cut into heads without remainder, and so are the heads into groups that share keys and values."""
    if d_head is None and d_model % n_heads:
        raise ValueError(
            f"d_model must be a multiple of n_heads unless d_head is given, got d_model={d_model}, n_heads={n_heads}"
        )
    if n_kv_heads is not None and n_heads % n_kv_heads:
        raise ValueError(f"n_heads must be a multiple of n_kv_heads, got n_heads={n_heads}, n_kv_heads={n_kv_heads}")


def check_text(name: str, x: Tensor, d_model: int) -> None:
    """At least one position of every text of a batch."""
    if x.ndim != 3 or not x.shape[1]:
        raise ValueError(
            f"{name} must have shape (batch, time, {d_model}) and at least one position, got {tuple(x.shape)}"
        )


def check_positions(positions: Any) -> list[bool]:
    """Positions inside attention: None, or a module with one of three methods. Returns which of them it has."""
    methods = [callable(getattr(positions, name, None)) for name in ("rotate", "bias", "values")]
    if positions is not None and (isinstance(positions, type) or not any(methods)):
        raise TypeError(
            "positions must be None or a module with a method rotate, bias or values, like Rotary(…), got"
            f" {described(positions)}"
        )
    return methods


def check_memory(memory: tuple[Any, Any], q: Tensor, n_kv_heads: int) -> None:
    """Keys and values of a source (batch, kv_head, key, d_head) that fit the queries."""
    keys, values = memory
    if not isinstance(keys, Tensor) or not isinstance(values, Tensor) or keys.dtype != q.dtype:
        raise TypeError(f"memory must hold tensors of {q.dtype} as the model does, got {described(keys)}")
    wanted = (len(q), n_kv_heads, q.shape[3])
    if (*keys.shape[:2], *keys.shape[3:]) != wanted or values.shape != keys.shape:
        raise ValueError(
            f"memory must have keys and values of shape ({wanted[0]}, {wanted[1]}, key, {wanted[2]}), got"
            f" {tuple(keys.shape)} and {tuple(values.shape)}: another batch's, or another model's"
        )
