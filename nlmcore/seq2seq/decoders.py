"""Three ways from the source to the target. Each decoder says what it takes over from the encoder (`start`).

    initial       s_0 = h_n              s_i = g(y_{i-1}, s_{i-1})             Sutskever et al. (2014)
    every step    s_0 = c = h_n          s_i = g([y_{i-1}; c], s_{i-1})        Cho et al. (2014), section 2.2
    attention     s_0 = h_n              s_i = g([y_{i-1}; c_i], s_{i-1})      Bahdanau et al. (2015), section 3.1
                  α_i = softmax_j score(s_{i-1}, h_j),   c_i = Σ_j α_ij h_j
                  s̃_i = tanh([c_i; s_i] W)                                     Luong et al. (2015), equation 5

Symbols: y_{i-1} is the embedding of the token read, s the decoder's state (the lecture's hᵈ), h the encoder's,
c the context; logits are computed from s_i, or from s̃_i (`combine`).

Departs from the papers: s_0 is h_n itself, where Cho and Bahdanau have tanh(h V). Logits depend on c only through s_i
(every step) and s̃_i (attention); in 2014/15 a maxout layer reads y, s and c. For all three scores the query is
s_{i-1}, as in Bahdanau (Luong's is s_i). Of several layers only the first attends, as in Wu et al. (2016), section 3.

**Scores** are those of `nlmcore.attention`; the modules here hold their weights and compute what does not depend on the
query, h_j W, once per source (`project_source`). Luong, Pham & Manning (2015), section 3.1: dot and bilinear
("general"); Bahdanau, Cho & Bengio (2015), section A.1.2: additive.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import attend, dot_score
from nlmcore.checks import Rate, Size, checked
from nlmcore.recurrent import Recurrent, RecurrentState
from nlmcore.recurrent.cell import each, hidden_of
from nlmcore.recurrent.recurrent import CellName, build_cell


class Score(nn.Module, ABC):
    """score(s, h_j) for every j, in two parts: `keys = project_source(h)` once, `score(s, keys)` for every query s."""

    @checked
    def __init__(self, d_hidden: Size) -> None:
        super().__init__()

    @abstractmethod
    def project_source(self, states: Tensor) -> Tensor:
        """Encoder states (batch, source, hidden) to keys (batch, source, d_key)."""

    @abstractmethod
    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores (batch, source) of one query (batch, hidden) per text."""


class DotScore(Score):
    """s · h_j. No weights: decoder and encoder must learn one space."""

    def project_source(self, states: Tensor) -> Tensor:
        return states

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return dot_score(query, keys)


class BilinearScore(DotScore):
    """s · W h_j, a dot product with the projected source."""

    def __init__(self, d_hidden: int) -> None:
        super().__init__(d_hidden)
        self.W = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_hidden, d_hidden)))

    def project_source(self, states: Tensor) -> Tensor:
        return states @ self.W.T


class AdditiveScore(Score):
    """v · tanh(W_query s + W_key h_j)."""

    def __init__(self, d_hidden: int) -> None:
        super().__init__(d_hidden)
        self.W_query = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_hidden, d_hidden)))
        self.W_key = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_hidden, d_hidden)))
        self.v = nn.Parameter(nn.init.uniform_(torch.empty(d_hidden), -(d_hidden**-0.5), d_hidden**-0.5))

    def project_source(self, states: Tensor) -> Tensor:
        return states @ self.W_key.T

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return torch.tanh((query @ self.W_query.T).unsqueeze(-2) + keys) @ self.v


SCORES: dict[str, Callable[[int], Score]] = {"dot": DotScore, "bilinear": BilinearScore, "additive": AdditiveScore}


class Attention(nn.Module):
    """context, weights = attention(query, keys, values, mask). `nlmcore.inspect.capture` sees its weights.

    A decoder asks once per target token and passes the weights of all of them to `recorder` at the end, as
    (batch, head, query, key) with one head.
    """

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(
        self,
        query: Float[Tensor, "batch hidden"],
        keys: Float[Tensor, "batch source d_key"],
        values: Float[Tensor, "batch source hidden"],
        mask: Bool[Tensor, "batch source"] | None,
    ) -> tuple[Float[Tensor, "batch hidden"], Float[Tensor, "batch source"]]:
        sizes = [len(query), len(keys), len(values)]
        if len(set(sizes)) > 1:
            raise ValueError(f"query, keys and values must have one batch, got {sizes}")
        return attend(self.score(query, keys), values, mask)


@dataclasses.dataclass(frozen=True)
class Seq2SeqState:
    """A state of `Seq2Seq`; every tensor's first dimension is the batch, so `select` works on it."""

    recurrent: RecurrentState  # the decoder's own state, each tensor (batch, layers, hidden)
    constant: Float[Tensor, "batch constant"] | None = None  # fed at every step with the token's embedding
    keys: Float[Tensor, "batch source d_key"] | None = None  # for attention: what the score compares
    values: Float[Tensor, "batch source hidden"] | None = None  # for attention: the encoder states h_1 … h_n
    mask: Bool[Tensor, "batch source"] | None = None  # True where the source has a real token


class Decoder(nn.Module, ABC):
    """From embeddings of what has been written to the hidden states that predict what comes next."""

    @abstractmethod
    def start(self, outputs: Tensor, state: RecurrentState, mask: Tensor) -> Seq2SeqState:
        """What is taken over from the encoder: outputs (batch, source, hidden), last states, mask (batch, source)."""

    @abstractmethod
    def forward(self, embedded: Tensor, state: Seq2SeqState) -> tuple[Tensor, RecurrentState]:
        """embedded (batch, time, embedding) to hidden states (batch, time, hidden), and the state after them."""


class InitialStateDecoder(Decoder):
    """Idea 1: the last encoder state, the "thought vector", starts the decoder."""

    def __init__(self, cell: CellName, d_input: int, d_hidden: int, n_layers: int, dropout: float, fused: bool):
        super().__init__()
        self.recurrent = Recurrent(cell, d_input, d_hidden, n_layers, dropout=dropout, fused=fused)

    def start(self, outputs: Tensor, state: RecurrentState, mask: Tensor) -> Seq2SeqState:
        return Seq2SeqState(state)

    def forward(self, embedded: Tensor, state: Seq2SeqState) -> tuple[Tensor, RecurrentState]:
        return self.recurrent(feed(embedded, state.constant), state.recurrent)


class EveryStepDecoder(InitialStateDecoder):
    """Idea 2: it is also read again at every step."""

    def __init__(self, cell: CellName, d_embedding: int, d_hidden: int, n_layers: int, dropout: float, fused: bool):
        super().__init__(cell, d_embedding + d_hidden, d_hidden, n_layers, dropout, fused)

    def start(self, outputs: Tensor, state: RecurrentState, mask: Tensor) -> Seq2SeqState:
        return Seq2SeqState(state, constant=hidden_of(state)[:, -1])


class AttentionDecoder(Decoder):
    """Attention: a separate context at every step. `constant_size`: what else is fed at every step, if anything."""

    @checked
    def __init__(
        self,
        cell: CellName,
        d_embedding: Size,
        d_hidden: Size,
        n_layers: Size,
        dropout: Rate,
        fused: bool,
        score: Score,
        constant_size: int = 0,
    ) -> None:
        super().__init__()
        self.attention = Attention(score)
        self.cell = build_cell(cell, d_embedding + constant_size + d_hidden, d_hidden)
        self.upper: Recurrent | None = None
        if n_layers > 1:
            self.upper = Recurrent(cell, d_hidden, d_hidden, n_layers - 1, dropout=dropout, fused=fused)
        self.combine = nn.Linear(2 * d_hidden, d_hidden, bias=False)
        self.d_hidden, self.dropout = d_hidden, dropout

    def start(self, outputs: Tensor, state: RecurrentState, mask: Tensor) -> Seq2SeqState:
        return Seq2SeqState(state, keys=self.attention.score.project_source(outputs), values=outputs, mask=mask)

    def forward(self, embedded: Tensor, state: Seq2SeqState) -> tuple[Tensor, RecurrentState]:
        inputs = feed(embedded, state.constant)
        hidden, contexts, after = self._first_layer(inputs, state)
        if self.upper is not None:
            below = F.dropout(hidden, self.dropout, self.training)
            hidden, rest = self.upper(below, each(lambda part: part[:, 1:], state.recurrent))
            after = each(lambda *parts: torch.cat(parts, dim=1), after, rest)
        return torch.tanh(self.combine(torch.cat([contexts, hidden], dim=-1))), after

    def _first_layer(self, inputs: Tensor, state: Seq2SeqState) -> tuple[Tensor, Tensor, RecurrentState]:
        """The loop over time: attend, then step. [y; c] W = y W_y + c W_c, and y W_y does not wait for the loop."""
        keys, values = cast(Tensor, state.keys), cast(Tensor, state.values)
        W_y, W_c = self.cell.weight_ih.split([inputs.shape[-1], self.d_hidden], dim=1)
        projected = F.linear(inputs.transpose(0, 1), W_y, self.cell.input_bias())
        s = each(lambda part: part[:, 0], state.recurrent)
        hidden, contexts, weights, gates = [], [], [], []
        for input_i, projected_i in zip(inputs.unbind(1), projected.unbind(0), strict=True):
            c, alpha = self.attention(hidden_of(s), keys, values, state.mask)
            if self.cell.watched:
                s, gate = self.cell.call(torch.cat([input_i, c], dim=-1), s)
            else:
                s, gate = self.cell.step(torch.addmm(projected_i, c, W_c.T), s, self.cell.weight_hh.T)
            hidden.append(hidden_of(s))
            contexts.append(c)
            weights.append(alpha)
            gates.append(gate)
        if self.attention.recorder is not None:
            self.attention.recorder(torch.stack(weights, dim=1).unsqueeze(1))  # (batch, 1, time, source)
        self.cell.record(gates)
        return torch.stack(hidden, dim=1), torch.stack(contexts, dim=1), each(lambda part: part.unsqueeze(1), s)


def feed(embedded: Tensor, constant: Tensor | None) -> Tensor:
    """[y_t; constant] at every time."""
    if constant is None:
        return embedded
    return torch.cat([embedded, constant.unsqueeze(1).expand(-1, embedded.shape[1], -1)], dim=-1)
