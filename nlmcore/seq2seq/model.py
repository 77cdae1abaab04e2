"""Encoder and decoder together: P(y | x) = Π_i P(y_i | y_1 … y_{i-1}, x).

    h_1 … h_n = encoder(x),   s_i = decoder(y_1 … y_i, h),   P(y_{i+1} | y_1 … y_i, x) = softmax(V s_i + b)

Sutskever, Vinyals & Le (2014), "Sequence to sequence learning with neural networks"; Cho et al. (2014),
"Learning phrase representations using RNN encoder-decoder"; Bahdanau, Cho & Bengio (2015), "Neural machine
translation by jointly learning to align and translate"; Luong, Pham & Manning (2015), "Effective approaches to
attention-based neural machine translation".

The encoder is a recurrent network; its states are all that the decoder will know of the source:

    h_i = encoder(e(x_i), h_{i-1}),   i = 1 … n              left to right: c = h_n
    h_i = encoder(e(x_i), h_{i+1}),   i = n … 1              reversed (Sutskever et al. 2014, section 3.3): c = h_1
    h_i = [forward_i ; backward_i]                           both (Bahdanau et al. 2015, section 3.2)

Outputs are always in the source's order.

Symbols: e is `encoder.embedding` and `embedding`; V and b are `output`. `decoders` has the equations of s_i.

Departs from the papers: each direction of a bidirectional encoder has half of d_hidden, so that h_i and the decoder's
state have one width (in 2015 h_i is twice as wide, and only the backward half starts the decoder), and `decoders`' own.
"""

import dataclasses
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_tokens, checked
from nlmcore.language_model import check_source_state
from nlmcore.recurrent import Recurrent, RecurrentState
from nlmcore.recurrent.cell import each
from nlmcore.recurrent.recurrent import CellName
from nlmcore.seq2seq.decoders import (
    SCORES,
    AttentionDecoder,
    Decoder,
    EveryStepDecoder,
    InitialStateDecoder,
    Seq2SeqState,
)


class Encoder(nn.Module):
    """`outputs, state = encoder(source, mask)`: h_1 … h_n, and the last states, (batch, layers, hidden) each."""

    @checked
    def __init__(
        self,
        vocab_size: Size,
        cell: CellName,
        d_embedding: Size,
        d_hidden: Size,
        n_layers: Size = 1,
        bidirectional: bool = False,
        reverse: bool = False,
        dropout: Rate = 0.0,
        fused: bool = True,
    ) -> None:
        super().__init__()
        if bidirectional and d_hidden % 2:
            raise ValueError(f"d_hidden must be even for a bidirectional encoder, got {d_hidden}")
        self.reverse, self.dropout = reverse, dropout
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        nn.init.normal_(self.embedding.weight, std=0.1)
        width = d_hidden // 2 if bidirectional else d_hidden
        self.recurrent = Recurrent(cell, d_embedding, width, n_layers, bidirectional, False, dropout, fused)

    @checked
    def forward(
        self, source: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"] | None = None
    ) -> tuple[Tensor, RecurrentState]:
        """mask: True = a real token, None: all are; outputs (batch, source, hidden), zero at padding."""
        check_tokens(source, self.embedding.num_embeddings, "source")
        mask = torch.ones_like(source, dtype=torch.bool) if mask is None else mask
        embedded = F.dropout(self.embedding(source), self.dropout, self.training)
        if self.reverse:
            embedded, mask = embedded.flip(1), mask.flip(1)
        outputs, state = self.recurrent(embedded, mask=mask)
        # (batch, layers · directions, width) to (batch, layers, hidden): a layer's directions side by side
        state = each(lambda part: part.unflatten(1, (self.recurrent.n_layers, -1)).flatten(2), state)
        return outputs.flip(1) if self.reverse else outputs, state


class Seq2Seq(nn.Module):
    """A language model of the target that has read a source. `vocab_size` is the target's.

    encoder: a finished module that reads something else (`nlmcore.vision`), called like `Encoder`, of one width
    d_hidden; `source_vocab_size` is then None. `nlmcore.inspect.capture` sees attention as `decoder.attention`.
    Raises ValueError for an odd d_hidden with a bidirectional encoder, TypeError for both or neither of the two.
    """

    @checked
    def __init__(
        self,
        source_vocab_size: Size | None,
        target_vocab_size: Size,
        cell: CellName = "gru",
        d_embedding: Size = 64,
        d_hidden: Size = 128,
        n_layers: Size = 1,
        context: Literal["initial", "every_step", "attention"] = "attention",
        score: Literal["dot", "bilinear", "additive"] = "dot",
        reverse_source: bool = False,
        bidirectional: bool = False,
        dropout: Rate = 0.0,
        fused: bool = True,
        encoder: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if encoder is None and source_vocab_size is not None:
            encoder = Encoder(
                source_vocab_size, cell, d_embedding, d_hidden, n_layers, bidirectional, reverse_source, dropout, fused
            )
        elif encoder is None or source_vocab_size is not None:
            raise TypeError("source_vocab_size or encoder must be given, and not both")
        self.source_vocab_size, self.vocab_size, self.dropout = source_vocab_size, target_vocab_size, dropout
        self.encoder: Any = encoder
        self.embedding = nn.Embedding(target_vocab_size, d_embedding)
        nn.init.normal_(self.embedding.weight, std=0.1)
        sizes = (cell, d_embedding, d_hidden, n_layers, dropout, fused)
        self.decoder: Decoder
        if context == "attention":
            self.decoder = AttentionDecoder(*sizes, SCORES[score](d_hidden))
        else:
            self.decoder = {"initial": InitialStateDecoder, "every_step": EveryStepDecoder}[context](*sizes)
        self.output = nn.Linear(d_hidden, target_vocab_size)

    @checked
    def encode(self, source: Tensor, source_mask: Bool[Tensor, "batch source"] | None = None) -> Seq2SeqState:
        """Read a source (batch, source), or what an own encoder reads; source_mask: True = a real token, None: all."""
        outputs, state = self.encoder(source, source_mask)
        mask = outputs.new_ones(outputs.shape[:2]).bool() if source_mask is None else source_mask
        return self.decoder.start(outputs, state, mask)

    def forward(
        self, tokens: Tensor, state: Seq2SeqState | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], Seq2SeqState]:
        """tokens (batch, time) of the target, `<bos>` first; state from `encode` or from an earlier call.

        Raises TypeError for a state without a source, ValueError for one of another batch.
        """
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def hidden_states(
        self, tokens: Tensor, state: Seq2SeqState | None = None
    ) -> tuple[Float[Tensor, "batch time hidden"], Seq2SeqState]:
        """s_i at every time (logits are their `output`), and the state after them. Raises as `forward` does."""
        check_tokens(tokens, self.vocab_size)
        state = check_source_state(state, Seq2SeqState, len(tokens))
        embedded = F.dropout(self.embedding(tokens), self.dropout, self.training)
        hidden, recurrent = self.decoder(embedded, state)
        hidden = F.dropout(hidden, self.dropout, self.training)
        return hidden, dataclasses.replace(state, recurrent=recurrent)
