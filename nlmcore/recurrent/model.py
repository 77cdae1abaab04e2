"""The recurrent language model. Mikolov et al. (2010), "Recurrent neural network based language model";
with LSTM cells and dropout: Zaremba, Sutskever & Vinyals (2014); tied weights: Press & Wolf (2017), Inan et al. (2017).

    h_t = recurrent(e(w_t), h_{t-1}),   P(w_{t+1} | w_1 … w_t) = softmax(h_t V + b)
    tied:  Vᵀ is the embedding matrix, so that P is softmax(h_t · e(w) + b)

Symbols: e is `embedding`, V and b are `output`.

Initialisation: embeddings N(0, 0.1²), small because with tied weights they are also V; b is 0.

Departs from the papers: where tied embeddings differ in width from h_t, a linear map V' joins them
(`to_embedding`), like Press & Wolf's projection but without their regulariser.

**Labels**: one per token (parts of speech, names), or one per text (sentiment, spam).

    SequenceTagger        h_t = [forward_t ; backward_t],   P(tag_t | w_1 … w_T) = softmax(h_t V + b)
    SequenceClassifier    P(class | w_1 … w_T) = softmax(s V + b),   s = the last state or mean_t h_t

The tagger is bidirectional by default, because a tag may depend on what follows: Graves & Schmidhuber (2005); Huang, Xu
& Yu (2015). The classifier's last state (Dai & Le 2015, section 2) must carry all that matters through every later
step; the mean has a short path to every token. Departs from the papers: tags are independent given h (Huang et al. have
a CRF and spelling features); no pretraining.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_tokens, checked
from nlmcore.recurrent.cell import AnyState, hidden_of
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


class SequenceTagger(nn.Module):
    """Logits (batch, time, tags) for the tag of every token."""

    @checked
    def __init__(
        self,
        vocab_size: Size,
        n_tags: Size,
        cell: CellName = "lstm",
        d_embedding: Size = 64,
        d_hidden: Size = 64,
        n_layers: Size = 1,
        bidirectional: bool = True,
        residual: bool = False,
        dropout: Rate = 0.0,
        fused: bool = True,
    ) -> None:
        super().__init__()
        self.vocab_size, self.n_tags, self.dropout = vocab_size, n_tags, dropout
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.recurrent = Recurrent(cell, d_embedding, d_hidden, n_layers, bidirectional, residual, dropout, fused)
        self.output = nn.Linear(self.recurrent.output_size, n_tags)

    @checked
    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Float[Tensor, "batch time tag"]:
        """mask: True = a real token (None: all are); leave the logits at padding, b, out of the loss."""
        check_tokens(tokens, self.vocab_size)
        embedded = F.dropout(self.embedding(tokens), self.dropout, self.training)
        hidden, _ = self.recurrent(embedded, mask=mask)
        return self.output(F.dropout(hidden, self.dropout, self.training))


# (outputs, state, mask, directions) to one vector per text, (batch, directions · hidden)
Pool = Callable[[Tensor, RecurrentState, Tensor, int], Tensor]


def last_state(outputs: Tensor, state: RecurrentState, mask: Tensor, directions: int) -> Tensor:
    """The last layer's final hidden state: of both directions, if there are two."""
    return hidden_of(state)[:, -directions:].flatten(1)  # of (batch, layers · directions, hidden)


def mean_output(outputs: Tensor, state: RecurrentState, mask: Tensor, directions: int) -> Tensor:
    """The mean of the outputs over real tokens; zeros for a text without any."""
    return outputs.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # outputs at padding are zero already


POOLS: dict[str, Pool] = {"last": last_state, "mean": mean_output}


class SequenceClassifier(nn.Module):
    """Logits (batch, classes). `pool` is "last", "mean", or any function like those two."""

    @checked
    def __init__(
        self,
        vocab_size: Size,
        n_classes: Size,
        cell: CellName = "lstm",
        d_embedding: Size = 64,
        d_hidden: Size = 64,
        n_layers: Size = 1,
        bidirectional: bool = False,
        residual: bool = False,
        dropout: Rate = 0.0,
        pool: str | Pool = "last",
        fused: bool = True,
    ) -> None:
        super().__init__()
        chosen = POOLS.get(pool) if isinstance(pool, str) else pool
        if not callable(chosen):
            refusal = ValueError if isinstance(pool, str) else TypeError
            raise refusal(f"pool must be one of {sorted(POOLS)} or a function, got {pool!r}")
        self.pool = chosen
        self.vocab_size, self.n_classes, self.dropout = vocab_size, n_classes, dropout
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.recurrent = Recurrent(cell, d_embedding, d_hidden, n_layers, bidirectional, residual, dropout, fused)
        self.output = nn.Linear(self.recurrent.output_size, n_classes)

    @checked
    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Float[Tensor, "batch classes"]:
        """mask: True = a real token (None: all are)."""
        check_tokens(tokens, self.vocab_size)
        embedded = F.dropout(self.embedding(tokens), self.dropout, self.training)
        outputs, state = self.recurrent(embedded, mask=mask)
        mask = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
        pooled = self.pool(outputs, state, mask, self.recurrent.directions)
        return self.output(F.dropout(pooled, self.dropout, self.training))
