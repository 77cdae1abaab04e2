"""The recurrent language model. Mikolov et al. (2010), "Recurrent neural network based language model";
with LSTM cells and dropout: Zaremba, Sutskever & Vinyals (2014); tied weights: Press & Wolf (2017), Inan et al. (2017).

    h_t = recurrent(e(w_t), h_{t-1}),   P(w_{t+1} | w_1 … w_t) = softmax(h_t V + b)
    tied:  Vᵀ is the embedding matrix, so that P is softmax(h_t · e(w) + b)

Symbols: e is `embedding`, V and b are `output`. U and W are in the cells.

Initialisation: embeddings N(0, 0.1²), small because with tied weights they are also V; b is 0.

Departs from the papers: where tied embeddings differ in width from h_t, a linear map V' joins them
(`to_embedding`), like Press & Wolf's projection but without their regulariser.
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_tokens, checked
from nlmcore.recurrent.cell import AnyState
from nlmcore.recurrent.recurrent import CellName, Recurrent, RecurrentState


class RecurrentLM(nn.Module):
    """`logits, state = model(tokens, state)` with any recurrent cell. Its state is that of `Recurrent`.

    d_embedding is d_hidden unless given. Raises as `Recurrent` does.
    """

    @checked
    def __init__(
        self,
        vocab_size: Size,
        cell: CellName = "lstm",
        d_embedding: Size | None = None,
        d_hidden: Size = 256,
        n_layers: Size = 1,
        residual: bool = False,
        dropout: Rate = 0.0,
        tie_embeddings: bool = False,
        fused: bool = True,
    ) -> None:
        super().__init__()
        d_embedding = d_hidden if d_embedding is None else d_embedding
        self.vocab_size, self.dropout = vocab_size, dropout
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.recurrent = Recurrent(cell, d_embedding, d_hidden, n_layers, False, residual, dropout, fused)
        bridge = tie_embeddings and d_embedding != d_hidden
        self.to_embedding = nn.Linear(d_hidden, d_embedding, bias=False) if bridge else nn.Identity()
        self.output = nn.Linear(d_embedding if tie_embeddings else d_hidden, vocab_size)
        nn.init.zeros_(self.output.bias)
        if tie_embeddings:
            self.output.weight = self.embedding.weight

    def forward(
        self, tokens: Tensor, state: AnyState | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], RecurrentState]:
        """Score the token after each of `tokens` (batch, time), having read what `state` remembers."""
        hidden, after = self.hidden_states(tokens, state)
        return self.output(hidden), after

    def hidden_states(
        self, tokens: Tensor, state: AnyState | None = None
    ) -> tuple[Float[Tensor, "batch time hidden"], RecurrentState]:
        """h_t at every time (h_t V' where there is a V'), and the state after them."""
        check_tokens(tokens, self.vocab_size)
        embedded = F.dropout(self.embedding(tokens), self.dropout, self.training)
        hidden, after = self.recurrent(embedded, state)
        hidden = F.dropout(hidden, self.dropout, self.training)
        return self.to_embedding(hidden), after
