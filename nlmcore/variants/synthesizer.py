"""Synthesizer: attention whose scores S are made without comparing tokens.

    y_t = Σ_s softmax(S_t)_s v_s                                             Tay et al. (2021), section 3

    plus            S + q_t · k_s / √d_head                                  S and attention's own scores
    plus alpha      α S + (1 − α) q_t · k_s / √d_head                        α = σ(a), a = 0 at the start

with S of `synthetic_scores`: random, dense, or factorised. S belongs to places of a text, of which there are
max_length. T5's bias is added to it as it is to other scores. A random S has neither queries nor keys, a dense one has
queries, "plus" both.

The rows of Narang et al. (2021), table 1, have 8 heads of 128 beside the model's 12 of 64: with these, the default of
their code, all seven have the parameters that its column "Params" prints. Its "factorized" is factorised random.

Symbols: α is the sigmoid of `alpha`.

Departs from the papers: q · k is divided by √d_head (theirs has other first weights instead).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import KeyValueCache, attend, window_mask
from nlmcore.attention.checks import check_mask
from nlmcore.fast import Linear
from nlmcore.variants.variant import Times


class Plus(nn.Module):
    """S + q · k / √d_head."""

    def forward(
        self, scores: Float[Tensor, "#batch head query key"], dots: Float[Tensor, "batch head query key"]
    ) -> Float[Tensor, "batch head query key"]:
        return scores + dots


class PlusAlpha(nn.Module):
    """α S + (1 − α) q · k / √d_head, α = σ(a)."""

    def __init__(self) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(
        self, scores: Float[Tensor, "#batch head query key"], dots: Float[Tensor, "batch head query key"]
    ) -> Float[Tensor, "batch head query key"]:
        alpha = self.alpha.sigmoid()
        return alpha * scores + (1 - alpha) * dots


class Synthesizer(nn.Module):
    """A part `attention`; c: a TransformerConfig.

    scores: (n_heads, d_head, max_length) -> S, called with (queries, number of keys); joined: () -> how S and dot
    products are put together, None: S alone.

    Raises ValueError for a configuration with n_kv_heads, TypeError for positions that are no bias of the scores.
    """

    def __init__(
        self,
        c: Any,
        causal: bool,
        scores: Callable[[int, int, int], nn.Module],
        joined: Callable[[], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        if c.n_kv_heads is not None:
            raise ValueError(f"n_kv_heads must be None: every head has values of its own, got {c.n_kv_heads}")
        self.n_heads, self.d_head, self.max_length = c.n_heads, c.head_size, c.max_length
        self.dropout, self.window = c.dropout, c.window if causal else None
        self.scores: Any = scores(self.n_heads, self.d_head, self.max_length)
        self.joined: Any = None if joined is None else joined()
        width, bias = self.n_heads * self.d_head, c.attention_bias
        has_queries = self.scores.reads or joined is not None
        self.query: Any = Linear(c.d_model, width, bias=bias) if has_queries else None
        self.key: Any = None if joined is None else Linear(c.d_model, width, bias=bias)
        self.value = Linear(c.d_model, width, bias=bias)
        self.output = Linear(width, c.d_model, bias=bias)
        build = c.attention_positions
        self.positions: Any = None if build is None else build(self.n_heads, self.d_head, self.max_length, causal)
        if self.positions is not None and (hasattr(self.positions, "rotate") or hasattr(self.positions, "values")):
            name = type(self.positions).__name__
            raise TypeError(f"attention_positions must be a bias of the scores alone, like RelativeBias, got {name}")
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        """mask broadcasts to (batch, head, query, key), True = may attend.

        Raises ValueError for more than max_length tokens, TypeError or ValueError for a mask that does not fit.
        """
        if mask is not None:
            check_mask(mask, (len(x), self.n_heads, x.shape[1], x.shape[1]))
        return self._mix(*self._project(x), mask)

    def step(
        self, x: Float[Tensor, "batch time d_model"], state: KeyValueCache | None = None
    ) -> tuple[Float[Tensor, "batch time d_model"], KeyValueCache]:
        """Read on from `state` (None: the text begins here): every position sees itself and what came before.

        Raises ValueError for more than max_length tokens in all, TypeError or ValueError for a state that is none, or
        another model's.
        """
        if state is not None and not isinstance(state, KeyValueCache):
            raise TypeError(f"state must be None or the KeyValueCache of an earlier `step`, got {type(state).__name__}")
        q, k, v = self._project(x)
        recorded = torch.is_grad_enabled() and any(p.requires_grad for p in self.parameters())
        state = KeyValueCache.start(k, v) if state is None else state.append(k, v, recorded=recorded)
        k, v = state.read()
        time, past = x.shape[1], k.shape[2] - x.shape[1]
        return self._mix(q, k, v, window_mask(time, self.window, past, x.device)), state

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v, (batch, head, time, d_head) each; values in the place of queries or keys that there are not."""
        v = self._split(self.value(x))
        q, k = (v if part is None else self._split(part(x)) for part in (self.query, self.key))
        return q, k, v

    def _split(self, x: Tensor) -> Tensor:
        """(batch, time, head * d_head) -> (batch, head, time, d_head)."""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def _mix(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        if k.shape[2] > self.max_length:
            raise ValueError(f"a text has at most max_length={self.max_length} places here, got {k.shape[2]} tokens")
        scores = self.scores(q, k.shape[2])
        if self.joined is not None:
            scores = self.joined(scores, q @ k.mT * self.d_head**-0.5)
        if self.positions is not None:
            scores = scores + self.positions.bias(q, k)
        output, weights = attend(scores.expand(len(q), -1, -1, -1), v, mask)
        if self.recorder is not None:
            self.recorder(weights)
        if self.training and self.dropout:
            output = F.dropout(weights, self.dropout) @ v
        return self.output(output.transpose(1, 2).flatten(2))


def build_synthesizer(
    c: Any, causal: bool, scores: Callable[[int, int, int], nn.Module], joined: Callable[[], nn.Module] | None = None
) -> nn.Module:
    """A Synthesizer of two thirds of the heads, each twice as wide: 8 of 128 in place of 12 of 64."""
    sizes = {"n_heads": Times(Fraction(2, 3))(c.n_heads), "d_head": 2 * c.head_size}
    return Synthesizer(replace(c, **sizes), causal, scores, joined)
