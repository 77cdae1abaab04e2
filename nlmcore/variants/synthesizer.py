"""Synthesizer: attention whose scores S do not compare tokens.

    y_t = Σ_s softmax(S_t)_s v_s                                 Tay et al. (2021), section 3; q_t = x_t W1

    random              S_ts = R_ts             one matrix per head, for all texts; "fixed": never trained
    factorised random   S_ts = (R1 R2ᵀ)_ts      with R1 and R2 (max_length, rank)
    dense               S_ts = (W2 max(0, q_t))_s           each token says how much it attends to each position
    factorised dense    S_ts = (W_A max(0, q_t))_⌊s/b⌋ · (W_B max(0, q_t))_(s mod b)     b about √max_length

    plus                S + q_t · k_s / √d_head             S and attention's usual scores
    plus alpha          α S + (1 − α) q_t · k_s / √d_head   α = σ(a), a = 0 at the start

S is for max_length positions. T5's bias is added to it as to other scores. A random S has neither queries nor keys, a
dense one has queries, "plus" both. The rows of Narang et al. (2021), table 1, have 8 heads of 128 and not 12 of 64. Its
"factorized" is factorised random.

Symbols: R is `table`, R1 and R2 are `queries` and `keys`; W2 is `outer`, W_A and W_B are `block` and `within`; α is the
sigmoid of `alpha`.

Departs from the papers: q · k is divided by √d_head (theirs has other first weights instead). All heads share W2, W_A
and W_B, without biases, as in the code of Narang et al. (2021). R, or the product of R1 and R2, starts at N(0, 0.02²);
an R that is never trained is drawn from N(0, 1).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention import KeyValueCache, attend, window_mask
from nlmcore.attention.cache import check_cache
from nlmcore.attention.masks import check_mask
from nlmcore.checks import Size, checked
from nlmcore.fast import Linear
from nlmcore.positions.absolute import check_length
from nlmcore.variants.parts import Mask, Vectors
from nlmcore.variants.variant import Times

Queries = Float[Tensor, "batch head query d_head"]
Scores = Float[Tensor, "#batch head query key"]
Build = Callable[..., nn.Module]


class RandomScores(nn.Module):
    """S = R; trained=False: it stays as drawn."""

    reads = False  # whether S depends on the queries

    @checked
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, trained: bool = True) -> None:
        super().__init__()
        table = torch.empty(n_heads, max_length, max_length).normal_(std=0.02 if trained else 1.0)
        if trained:
            self.table = nn.Parameter(table)
        else:
            self.register_buffer("table", table)

    def forward(self, q: Queries, keys: int) -> Scores:
        return self.table[None, :, keys - q.shape[2] : keys, :keys]  # the queries are the last of the positions


class FactorisedRandomScores(nn.Module):
    """S = R1 R2ᵀ; rank: 16, as in Narang's code."""

    reads = False

    @checked
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, rank: Size = 16) -> None:
        super().__init__()
        std = math.sqrt(0.02) * rank**-0.25  # rank · std⁴ = 0.02², the variance of an entry of R1 R2ᵀ
        self.queries, self.keys = (nn.Parameter(torch.empty(n_heads, max_length, rank).normal_(std=std)) for _ in "qk")

    def forward(self, q: Queries, keys: int) -> Scores:
        return (self.queries[:, keys - q.shape[2] : keys] @ self.keys[:, :keys].mT).unsqueeze(0)


class DenseScores(nn.Module):
    """S_t = max(0, q_t) W2."""

    reads = True

    def __init__(self, n_heads: int, d_head: int, max_length: int) -> None:
        super().__init__()
        self.outer = Linear(d_head, max_length, bias=False)

    def forward(self, q: Queries, keys: int) -> Scores:
        return self.outer(q.relu(), slice(keys))


class FactorisedDenseScores(nn.Module):
    """S_ts = A_⌊s/b⌋ B_(s mod b) with A = W_A max(0, q_t), B = W_B max(0, q_t)."""

    reads = True

    def __init__(self, n_heads: int, d_head: int, max_length: int) -> None:
        super().__init__()
        b = math.isqrt(max_length - 1) + 1  # √max_length, rounded up
        self.block = nn.Linear(d_head, -(-max_length // b), bias=False)
        self.within = nn.Linear(d_head, b, bias=False)

    def forward(self, q: Queries, keys: int) -> Scores:
        hidden = q.relu()  # max(0, q_t), (batch, head, query, d_head)
        return (self.block(hidden).unsqueeze(-1) * self.within(hidden).unsqueeze(-2)).flatten(-2)[..., :keys]


class Plus(nn.Module):
    """S + q · k / √d_head."""

    def forward(self, scores: Scores, dots: Scores) -> Scores:
        return scores + dots


class PlusAlpha(nn.Module):
    """α S + (1 − α) q · k / √d_head, α = σ(a)."""

    def __init__(self) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, scores: Scores, dots: Scores) -> Scores:
        alpha = self.alpha.sigmoid()
        return alpha * scores + (1 - alpha) * dots


class Synthesizer(nn.Module):
    """c: a TransformerConfig.

    scores: (n_heads, d_head, max_length) -> S, called with (queries, number of keys); the last keys are the queries'.
    joined: () -> how S and dot products are joined; None: only S.
    """

    causal = False  # whether positions are those of a text that is read from left to right

    def __init__(self, c: Any, scores: Build, joined: Build | None = None) -> None:
        super().__init__()
        if c.n_kv_heads is not None:
            raise ValueError(f"n_kv_heads must be None: every head has values of its own, got {c.n_kv_heads}")
        sizes = self.n_heads, self.d_head, self.max_length = c.n_heads, c.head_size, c.max_length
        self.dropout, self.window = c.dropout, c.window
        self.scores: Any = scores(*sizes)
        self.joined: Any = None if joined is None else joined()
        width, bias = self.n_heads * self.d_head, c.attention_bias
        has_queries = self.scores.reads or joined is not None
        self.query: Any = Linear(c.d_model, width, bias=bias) if has_queries else None
        self.key: Any = None if joined is None else Linear(c.d_model, width, bias=bias)
        self.value = Linear(c.d_model, width, bias=bias)
        self.output = Linear(width, c.d_model, bias=bias)
        self.positions: Any = c.attention_positions and c.attention_positions(*sizes, self.causal)
        if hasattr(self.positions, "rotate") or hasattr(self.positions, "values"):
            name = type(self.positions).__name__
            raise TypeError(f"attention_positions must be a bias of the scores alone, like RelativeBias, got {name}")
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        """Raises ValueError for more than max_length tokens, TypeError or ValueError for a mask that does not fit."""
        if mask is not None:
            check_mask(mask, (len(x), self.n_heads, x.shape[1], x.shape[1]))
        return self._mix(*self._project(x), mask)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v, (batch, head, time, d_head) each; without queries or keys, v serves as these."""
        v = self._heads(self.value(x))
        q, k = (v if part is None else self._heads(part(x)) for part in (self.query, self.key))
        return q, k, v

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def _mix(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        check_length(0, k.shape[2], self.max_length)
        scores = self.scores(q, k.shape[2])  # S, (1 or batch, head, query, key)
        if self.joined is not None:
            scores = self.joined(scores, q @ k.mT * self.d_head**-0.5)
        if self.positions is not None:
            scores = scores + self.positions(q, k)
        # A random S is the same for all texts of the batch.
        output, weights = attend(scores.expand(len(q), -1, -1, -1), v, mask)
        if self.recorder is not None:
            self.recorder(weights)
        if self.training and self.dropout:
            output = F.dropout(weights, self.dropout) @ v
        return self.output(output.transpose(1, 2).flatten(2))


class CausalSynthesizer(Synthesizer):
    """Called with (x, state)."""

    causal = True

    def forward(  # type: ignore[override]
        self, x: Vectors, state: KeyValueCache | None = None
    ) -> tuple[Vectors, KeyValueCache]:
        """Continue from `state` (None: the text starts here): every position sees itself and those before it."""
        q, k, v = self._project(x)
        if state is None:
            state = KeyValueCache.start(k, v)
        else:
            check_cache(state, None)
            k, v, state = state.extend(k, v)
        time, past = x.shape[1], k.shape[2] - x.shape[1]
        return self._mix(q, k, v, window_mask(time, self.window, past, x.device)), state


def build_plain(c: Any, causal: bool, scores: Build, joined: Build | None = None) -> nn.Module:
    """A part `attention` with the heads of the configuration."""
    return (CausalSynthesizer if causal else Synthesizer)(c, scores, joined)


def build_synthesizer(c: Any, causal: bool, scores: Build, joined: Build | None = None) -> nn.Module:
    """A part `attention` of two thirds of the heads, each twice as wide: 8 of 128 instead of 12 of 64."""
    sizes = {"n_heads": Times(Fraction(2, 3))(c.n_heads), "d_head": 2 * c.head_size}
    return build_plain(replace(c, **sizes), causal, scores, joined)
