"""Labelling: one tag per token (parts of speech, names). Bidirectional by default: a tag may depend on what follows.
Graves & Schmidhuber (2005); for tagging of text Huang, Xu & Yu (2015), without their CRF.

    h_t = [forward_t ; backward_t],   P(tag_t | w_1 … w_T) = softmax(V h_t + b)

Departs from the papers: tags are predicted independently given h; no spelling features.
"""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.language_model import check_tokens
from nlmcore.recurrent.cell import Cell
from nlmcore.recurrent.recurrent import Recurrent


class SequenceTagger(nn.Module):
    """Logits (batch, time, tags) for the tag of every token."""

    def __init__(
        self,
        vocab_size: int,
        n_tags: int,
        cell: str | Callable[[int, int], Cell] = "lstm",
        d_embedding: int = 64,
        d_hidden: int = 64,
        n_layers: int = 1,
        bidirectional: bool = True,
        residual: bool = False,
        dropout: float | int = 0.0,
        fused: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(vocab_size=vocab_size, n_tags=n_tags, d_embedding=d_embedding)
        self.vocab_size, self.n_tags, self.dropout = vocab_size, n_tags, dropout
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.recurrent = Recurrent(cell, d_embedding, d_hidden, n_layers, bidirectional, residual, dropout, fused)
        self.output = nn.Linear(self.recurrent.output_size, n_tags)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Float[Tensor, "batch time tag"]:
        """tokens (batch, time); mask (batch, time), True = a real token (None: all are).

        Logits at padded positions are the output's bias: nothing to learn from; leave them out of the loss.
        A text without a real token is allowed: it is all padding.
        """
        check_tokens(tokens, self.vocab_size)
        embedded = F.dropout(self.embedding(tokens), self.dropout, self.training)
        hidden, _ = self.recurrent(embedded, mask=mask)
        return self.output(F.dropout(hidden, self.dropout, self.training))
