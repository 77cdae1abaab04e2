"""Sequence to sequence without recurrence: convolutions on both sides, attention in every decoder layer.

Source: Gehring, Auli, Grangier, Yarats & Dauphin (2017), "Convolutional sequence to sequence learning", section 3.

    g_i = C(y_i) + p_i        h⁰ = g
    u^l = GLU(W^l [h^{l-1}_{i-k+1}; …; h^{l-1}_i] + b^l)                 causal: nothing to the right of i
    h^l = √½ (h^{l-1} + √½ (u^l + c^l))                                  c^l: what layer l's attention fetches
    p(y_{i+1} | y_1…y_i, x) = softmax(W_o h^L_i + b_o)

Symbols: C is `embedding`, p is `positions`, W^l and b^l are `layers.{l-1}.convolution.linear`, c^l comes
from `layers.{l-1}.attention`, W_o and b_o are `output`; the source's side is `encoder`.

Departs from the paper: as the encoder and the attention do, which see; the √½ around u + c is the authors' code.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.convolutional.checks import check_mask, check_options
from nlmcore.convolutional.conv_encoder import HALF, ConvEncoder
from nlmcore.convolutional.gated import GatedConvolution, causal_inputs
from nlmcore.convolutional.multi_step_attention import MultiStepAttention
from nlmcore.language_model import check_tokens


@dataclass(frozen=True)
class ConvSeq2SeqState:
    """The source as the encoder left it, and as much of the target as the convolutions can still see."""

    keys: Float[Tensor, "batch source d_model"]
    values: Float[Tensor, "batch source d_model"]
    mask: Bool[Tensor, "batch source"]
    length: Int[Tensor, " batch"]
    """How many target tokens have been read."""
    past: tuple[Float[Tensor, "batch past d_model"], ...]
    """Each layer's last kernel_size-1 inputs."""


class ConvDecoderLayer(nn.Module):
    """u = GLU(W ∗ h + b), then the attention's c, then the residual."""

    def __init__(self, d_model: int, kernel_size: int, dropout: float) -> None:
        super().__init__()
        self.convolution = GatedConvolution(d_model, kernel_size, dropout=dropout)
        self.attention = MultiStepAttention(d_model)

    def forward(self, h: Tensor, g: Tensor, past: Tensor, source: ConvSeq2SeqState) -> tuple[Tensor, Tensor]:
        inputs, past = causal_inputs(h, past)
        u = self.convolution(inputs)
        c = self.attention(u, g, source.keys, source.values, source.mask)
        return HALF * (h + HALF * (u + c)), past


class ConvSeq2Seq(nn.Module):
    """`state = model.encode(source, source_mask)`, then `logits, state = model(tokens, state)`.

    `vocab_size` is the target's. The weights of the attention in layer l are seen by
    `nlmcore.inspect.capture` as `layers.{l}.attention`.

    Raises ValueError for sizes below 1, an even kernel_size, or a dropout outside [0, 1).
    """

    def __init__(
        self,
        source_vocab_size: int,
        target_vocab_size: int,
        d_model: int = 128,
        n_encoder_layers: int = 4,
        n_decoder_layers: int = 3,
        kernel_size: int = 3,
        max_length: int = 1024,
        dropout: float | int = 0.0,
    ) -> None:
        super().__init__()
        check_options(
            dropout,
            source_vocab_size=source_vocab_size,
            target_vocab_size=target_vocab_size,
            d_model=d_model,
            n_encoder_layers=n_encoder_layers,
            n_decoder_layers=n_decoder_layers,
            kernel_size=kernel_size,
            max_length=max_length,
        )
        self.source_vocab_size, self.vocab_size, self.d_model = source_vocab_size, target_vocab_size, d_model
        self.max_length, self.dropout, self.past = max_length, dropout, kernel_size - 1
        self.encoder = ConvEncoder(source_vocab_size, d_model, n_encoder_layers, kernel_size, max_length, dropout)
        self.embedding = nn.Embedding(target_vocab_size, d_model)
        self.positions = nn.Embedding(max_length, d_model)
        self.layers = nn.ModuleList(ConvDecoderLayer(d_model, kernel_size, dropout) for _ in range(n_decoder_layers))
        self.output = nn.Linear(d_model, target_vocab_size)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.1)

    def encode(self, source: Tensor, source_mask: Tensor | None = None) -> ConvSeq2SeqState:
        """Read source (batch, source); source_mask like it, True = a real token, None: all are."""
        check_tokens(source, self.source_vocab_size, "source")
        mask = check_mask(source_mask, source, "source_mask")
        keys, values = self.encoder(source, mask)
        nothing = keys.new_zeros(len(source), self.past, self.d_model)
        return ConvSeq2SeqState(
            keys, values, mask, source.new_zeros(len(source), dtype=torch.int64), (nothing,) * len(self.layers)
        )

    def forward(self, tokens: Tensor, state: ConvSeq2SeqState | None = None) -> tuple[Tensor, ConvSeq2SeqState]:
        """tokens (batch, time), `<bos>` first -> logits (batch, time, vocab), new state."""
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def hidden_states(self, tokens: Tensor, state: ConvSeq2SeqState | None = None) -> tuple[Tensor, ConvSeq2SeqState]:
        """h^L (batch, time, d_model), of which `output` makes the logits, and the new state."""
        check_tokens(tokens, self.vocab_size)
        if not isinstance(state, ConvSeq2SeqState):
            raise TypeError(f"state must come from encode(source): there is no source yet, got {type(state).__name__}")
        self._check_state(state, len(tokens))
        length = state.length + tokens.shape[1]
        if int(length.max()) > self.max_length:
            raise ValueError(
                f"tokens must come to at most max_length = {self.max_length} tokens, got {int(length.max())}"
            )
        places = state.length.unsqueeze(1) + torch.arange(tokens.shape[1], device=tokens.device)
        g = F.dropout(self.embedding(tokens) + self.positions(places), self.dropout, self.training)
        h, kept = g, []
        for layer, past in zip(self.layers, state.past, strict=True):
            h, past = layer(h, g, past, state)
            kept.append(past)
        hidden = F.dropout(h, self.dropout, self.training)
        return hidden, ConvSeq2SeqState(state.keys, state.values, state.mask, length, tuple(kept))

    def receptive_field(self) -> int:
        """How many target tokens, the newest included, a prediction can depend on; of the source, all."""
        return 1 + len(self.layers) * self.past

    def _check_state(self, state: ConvSeq2SeqState, batch: int) -> None:
        for rows in {len(part) for part in (state.keys, state.values, state.mask, state.length, *state.past)}:
            if rows != batch:
                raise ValueError(f"state must have one source per text, got {rows} for {batch} texts")
        shapes = {tuple(past.shape[1:]) for past in state.past}
        if len(state.past) != len(self.layers) or shapes != {(self.past, self.d_model)}:
            raise ValueError(
                f"state must have {len(self.layers)} pasts of shape {(batch, self.past, self.d_model)},"
                f" got {[tuple(past.shape) for past in state.past]}"
            )
