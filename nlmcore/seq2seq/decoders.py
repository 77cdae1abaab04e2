"""Three ways from the source to the target. Each decoder says what it takes over from the encoder (`start`).

    initial       s_0 = h_n              s_i = g(y_{i-1}, s_{i-1})             Sutskever et al. (2014)
    every step    s_0 = c = h_n          s_i = g([y_{i-1}; c], s_{i-1})        Cho et al. (2014), section 2.2
    attention     s_0 = h_n              s_i = g([y_{i-1}; c_i], s_{i-1})      Bahdanau et al. (2015), section 3.1
                  α_i = softmax_j score(s_{i-1}, h_j),   c_i = Σ_j α_ij h_j
                  s̃_i = tanh(W [c_i; s_i])                                     Luong et al. (2015), equation 5

Symbols: y_{i-1} is the embedding of the token read, s the decoder's state (the lecture's hᵈ), h the encoder's,
c the context; logits are computed from s_i, or from s̃_i (`combine`).

Departs from the papers: s_0 is h_n itself, where Cho and Bahdanau put tanh(V h) between. Logits depend on c only
through s_i (every step) and s̃_i (attention); in 2014/15 a maxout layer reads y, s and c. For all three scores
the query is s_{i-1}, as in Bahdanau (Luong asks with s_i). With several layers, the first one attends and the
others stand on it, as in Wu et al. (2016), section 3.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.checks import check_dropout, check_sizes
from nlmcore.recurrent import Cell, CellState, LSTMState, Recurrent, RecurrentState
from nlmcore.recurrent.recurrent import build_cell
from nlmcore.seq2seq.attention import Attention, Score
from nlmcore.seq2seq.state import Seq2SeqState

CellName = str | Callable[[int, int], Cell]


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

    def __init__(self, cell: CellName, d_embedding: int, d_hidden: int, n_layers: int, dropout: float, fused: bool):
        super().__init__()
        self.recurrent = Recurrent(cell, d_embedding, d_hidden, n_layers, dropout=dropout, fused=fused)

    def start(self, outputs: Tensor, state: RecurrentState, mask: Tensor) -> Seq2SeqState:
        return Seq2SeqState(state)

    def forward(self, embedded: Tensor, state: Seq2SeqState) -> tuple[Tensor, RecurrentState]:
        return self.recurrent(embedded, state.recurrent)


class EveryStepDecoder(Decoder):
    """Idea 2: it is also read again at every step."""

    def __init__(self, cell: CellName, d_embedding: int, d_hidden: int, n_layers: int, dropout: float, fused: bool):
        super().__init__()
        self.recurrent = Recurrent(cell, d_embedding + d_hidden, d_hidden, n_layers, dropout=dropout, fused=fused)

    def start(self, outputs: Tensor, state: RecurrentState, mask: Tensor) -> Seq2SeqState:
        return Seq2SeqState(state, constant=(state.h if isinstance(state, LSTMState) else state)[:, -1])

    def forward(self, embedded: Tensor, state: Seq2SeqState) -> tuple[Tensor, RecurrentState]:
        return self.recurrent(feed(embedded, state.constant), state.recurrent)


class AttentionDecoder(Decoder):
    """Attention: a context of its own at every step. `constant_size`: more that is fed at every step, if any."""

    def __init__(
        self,
        cell: CellName,
        d_embedding: int,
        d_hidden: int,
        n_layers: int,
        dropout: float,
        fused: bool,
        score: Score,
        constant_size: int = 0,
    ) -> None:
        super().__init__()
        check_sizes(d_embedding=d_embedding, d_hidden=d_hidden, n_layers=n_layers)
        check_dropout(dropout)
        self.attention = Attention(score)
        self.cell = build_cell(cell, d_embedding + constant_size + d_hidden, d_hidden)
        self.upper = (
            Recurrent(cell, d_hidden, d_hidden, n_layers - 1, dropout=dropout, fused=fused) if n_layers > 1 else None
        )
        self.combine = nn.Linear(2 * d_hidden, d_hidden, bias=False)
        self.d_hidden, self.dropout = d_hidden, dropout

    def start(self, outputs: Tensor, state: RecurrentState, mask: Tensor) -> Seq2SeqState:
        return Seq2SeqState(state, keys=self.attention.score.prepare(outputs), values=outputs, mask=mask)

    def forward(self, embedded: Tensor, state: Seq2SeqState) -> tuple[Tensor, RecurrentState]:
        inputs = feed(embedded, state.constant)
        hidden, contexts, first = self._first_layer(inputs, state)
        after = [first]
        if self.upper is not None:
            below = F.dropout(hidden, self.dropout, self.training)
            hidden, rest = self.upper(below, _layers(state.recurrent, slice(1, None)))
            after.append(rest)
        return torch.tanh(self.combine(torch.cat([contexts, hidden], dim=-1))), _join_layers(after)

    def _first_layer(self, inputs: Tensor, state: Seq2SeqState) -> tuple[Tensor, Tensor, RecurrentState]:
        """The loop over time: look, read, step. W [y; c] = W_y y + W_c c, and W_y y does not wait for the loop."""
        keys, values = cast(Tensor, state.keys), cast(Tensor, state.values)
        W_y, W_c = self.cell.weight_ih.split([inputs.shape[-1], self.d_hidden], dim=1)
        W_c, U = W_c.T.contiguous(), self.cell.weight_hh.T.contiguous()
        projected = F.linear(inputs.transpose(0, 1), W_y, self.cell.input_bias())
        s = _first(state.recurrent)
        hidden, contexts, weights, gates = [], [], [], []
        for projected_i in projected.unbind(0):
            c, alpha = self.attention(_hidden(s), keys, values, state.mask)
            s, gate = self.cell.step(torch.addmm(projected_i, c, W_c), s, U)
            hidden.append(_hidden(s))
            contexts.append(c)
            weights.append(alpha)
            gates.append(gate)
        if self.attention.recorder is not None:
            self.attention.recorder(torch.stack(weights, dim=1).unsqueeze(1))  # (batch, 1, time, source)
        if self.cell.gate_recorder is not None:
            self.cell.gate_recorder({name: torch.stack([gate[name] for gate in gates], dim=1) for name in gates[0]})
        last = LSTMState(*(part.unsqueeze(1) for part in s)) if isinstance(s, LSTMState) else s.unsqueeze(1)
        return torch.stack(hidden, dim=1), torch.stack(contexts, dim=1), last


def feed(embedded: Tensor, constant: Tensor | None) -> Tensor:
    """[y_t; constant] at every time."""
    if constant is None:
        return embedded
    return torch.cat([embedded, constant.unsqueeze(1).expand(-1, embedded.shape[1], -1)], dim=-1)


def _hidden(s: CellState) -> Tensor:
    return s.h if isinstance(s, LSTMState) else s


def _first(state: RecurrentState) -> CellState:
    return LSTMState(state.h[:, 0], state.c[:, 0]) if isinstance(state, LSTMState) else state[:, 0]


def _layers(state: RecurrentState, which: slice) -> RecurrentState:
    return LSTMState(state.h[:, which], state.c[:, which]) if isinstance(state, LSTMState) else state[:, which]


def _join_layers(states: list[RecurrentState]) -> RecurrentState:
    if isinstance(states[0], LSTMState):
        return LSTMState(*(torch.cat(part, dim=1) for part in zip(*cast(list[LSTMState], states), strict=True)))
    return torch.cat(cast(list[Tensor], states), dim=1)
