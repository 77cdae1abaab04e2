"""Many to one: one answer per text (sentiment, spam).

    P(class | w_1 … w_T) = softmax(V s + b),   s = the last state (pool=last_state) or mean_t h_t (pool=mean_output)

The last state must carry all that matters through every later step; the mean has a short path to every token,
which is what makes it easier to train on long texts. Dai & Le (2015), section 2, classify with the last state.

Departs from the paper: no pretraining here.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.language_model import check_tokens
from nlmcore.recurrent.cell import Cell, LSTMState
from nlmcore.recurrent.checks import check_function
from nlmcore.recurrent.masks import check_no_text_is_empty, check_padding_mask
from nlmcore.recurrent.recurrent import Recurrent, RecurrentState

Pool = Callable[[Tensor, RecurrentState, Tensor, int], Tensor]
"""(outputs, state, mask, directions) to one vector per text, (batch, directions · hidden)."""


def last_state(outputs: Tensor, state: RecurrentState, mask: Tensor, directions: int) -> Tensor:
    """The last layer's final hidden state: of both directions, if there are two."""
    h = state.h if isinstance(state, LSTMState) else state  # (batch, layers · directions, hidden)
    return h[:, -directions:].flatten(1)


def mean_output(outputs: Tensor, state: RecurrentState, mask: Tensor, directions: int) -> Tensor:
    """The mean of the outputs over real tokens; zeros for a text without any."""
    return outputs.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # outputs at padding are zero already


POOLS: dict[str, Pool] = {"last": last_state, "mean": mean_output}


class SequenceClassifier(nn.Module):
    """Logits (batch, classes). `pool` is "last", "mean", or any function like those two."""

    def __init__(
        self,
        vocab_size: int,
        n_classes: int,
        cell: str | Callable[[int, int], Cell] = "lstm",
        d_embedding: int = 64,
        d_hidden: int = 64,
        n_layers: int = 1,
        bidirectional: bool = False,
        residual: bool = False,
        dropout: float | int = 0.0,
        pool: str | Pool = "last",
        fused: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(vocab_size=vocab_size, n_classes=n_classes, d_embedding=d_embedding)
        if isinstance(pool, str) and pool not in POOLS:
            raise ValueError(f"pool must be one of {sorted(POOLS)} or a function, got {pool!r}")
        check_function("pool", POOLS[pool] if isinstance(pool, str) else pool)
        self.vocab_size, self.n_classes, self.dropout = vocab_size, n_classes, dropout
        self.pool = POOLS[pool] if isinstance(pool, str) else pool
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.recurrent = Recurrent(cell, d_embedding, d_hidden, n_layers, bidirectional, residual, dropout, fused)
        self.output = nn.Linear(self.recurrent.output_size, n_classes)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Float[Tensor, "batch classes"]:
        """tokens (batch, time); mask (batch, time), True = a real token (None: all are).

        Raises ValueError for a text without a real token: there is nothing to classify.
        """
        check_tokens(tokens, self.vocab_size)
        if mask is not None:
            check_padding_mask(mask, tuple(tokens.shape))
            check_no_text_is_empty(mask)
        embedded = F.dropout(self.embedding(tokens), self.dropout, self.training)
        outputs, state = self.recurrent(embedded, mask=mask)
        mask = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
        pooled = self.pool(outputs, state, mask, self.recurrent.directions)
        return self.output(F.dropout(pooled, self.dropout, self.training))
