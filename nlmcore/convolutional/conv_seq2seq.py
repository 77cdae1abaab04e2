"""Sequence to sequence without recurrence: convolutions on both sides, attention in every decoder layer.

Source: Gehring, Auli, Grangier, Yarats & Dauphin (2017), "Convolutional sequence to sequence learning", section 3.

The encoder (3.1, 3.2) looks both ways. The attention compares with z = z^L and fetches √½ (z + e):

    e_j = C(x_j) + p_j        z⁰ = e
    z^l_j = √½ (z^{l-1}_j + GLU(W^l [z^{l-1}_{j-(k-1)/2}; …; z^{l-1}_{j+(k-1)/2}] + b^l))

The attention of decoder layer l (3.3, 3.4) asks with the layer's u_i and the word just read, g_i. √m (the paper's
m√(1/m)) makes up for the variance that an average loses. The next layer asks again ("multi-step"):

    d_i = √½ (W_d u_i + b_d + g_i)        α_ij = softmax_j(d_i · z_j)        c_i = √m Σ_j α_ij √½ (z_j + e_j)

The decoder is causal, with nothing to the right of i:

    g_i = C(y_i) + p_i        h⁰ = g
    u^l = GLU(W^l [h^{l-1}_{i-k+1}; …; h^{l-1}_i] + b^l)
    h^l = √½ (h^{l-1} + √½ (u^l + c^l))
    p(y_{i+1} | y_1…y_i, x) = softmax(W_o h^L_i + b_o)

Symbols: C is `embedding`, p is `positions`, W_d, b_d are `query`, W_o, b_o are `output`; W^l, b^l are
`layers.{l-1}.linear` of the encoder and `layers.{l-1}.convolution.linear` of the decoder.

Before every convolution padding is zeros, and positions count only real tokens, so padding changes nothing.

Departs from the paper: one width for embeddings and hidden vectors, hence no projections between them; the √½ in z + e,
d and u + c are the authors' code; the encoder's gradients are not divided by the number of attentions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_tokens, checked
from nlmcore.convolutional.conv_lm import GatedConvolution, causal_inputs
from nlmcore.language_model import check_source_state, check_state

HALF = math.sqrt(0.5)  # √½: the sum of two independent values of variance 1, times this, has variance 1


class ConvEncoder(nn.Module):
    """Ids and mask (batch, source) -> keys and values (batch, source, d_model). `kernel_size` must be odd."""

    @checked
    def __init__(
        self, vocab_size: Size, d_model: Size, n_layers: Size, kernel_size: Size, max_length: Size, dropout: Rate
    ) -> None:
        super().__init__()
        if kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, to look equally far both ways, got {kernel_size}")
        self.dropout, self.overhang = dropout, (kernel_size - 1) // 2
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_length, d_model)
        self.layers = nn.ModuleList(GatedConvolution(d_model, kernel_size, dropout=dropout) for _ in range(n_layers))
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.1)

    @checked
    def forward(
        self, source: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source d_model"], Float[Tensor, "batch source d_model"]]:
        """mask: True = a real token. Raises ValueError for more than max_length of them."""
        check_tokens(source, self.embedding.num_embeddings, "source")
        length, max_length = int(mask.sum(dim=1).max()), self.positions.num_embeddings
        if length > max_length:
            raise ValueError(f"source must come to at most max_length = {max_length} tokens, got {length}")
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)  # 0, 1, 2, … over the real tokens
        e = F.dropout(self.embedding(source) + self.positions(positions), self.dropout, self.training)
        real = mask.unsqueeze(-1)
        z = e = e * real
        for layer in self.layers:
            padded = F.pad(z, (0, 0, self.overhang, self.overhang))  # zeros before and after the text
            z = HALF * (z + layer(padded)) * real
        return z, HALF * (z + e)


class MultiStepAttention(nn.Module):
    """The context c of every decoder position. Passes its weights (batch, 1, query, key) to `recorder`, if set."""

    @checked
    def __init__(self, d_model: Size) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, d_model)
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(
        self, hidden: Tensor, embedded: Tensor, keys: Tensor, values: Tensor, mask: Tensor
    ) -> Float[Tensor, "batch query d_model"]:
        """u and g (batch, query, d_model), z and √½ (z + e) (batch, key, d_model), mask (batch, key)."""
        rows = [len(part) for part in (hidden, embedded, keys, values, mask)]
        if len(set(rows)) > 1:
            raise ValueError(f"hidden, embedded, keys, values and mask must have one row per text, got {rows}")
        d = HALF * (self.query(hidden) + embedded)
        real = mask.unsqueeze(1)  # one mask for all queries
        scores = d @ keys.mT  # by hand: `attend` checks its arguments, which makes a step a third slower
        scores = scores.masked_fill(~real, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1) * real  # a text without a real token gives zeros
        c = weights @ values
        if self.recorder is not None:
            self.recorder(weights.unsqueeze(1))  # one head
        m = mask.sum(dim=1).to(c.dtype)
        return c * m.sqrt()[:, None, None]


@dataclass(frozen=True)
class ConvSeq2SeqState:
    """The source as the encoder left it, and as much of the target as the convolutions can still see."""

    keys: Float[Tensor, "batch source d_model"]
    values: Float[Tensor, "batch source d_model"]
    mask: Bool[Tensor, "batch source"]
    length: Int[Tensor, " batch"]  # how many target tokens have been read
    past: tuple[Float[Tensor, "batch past d_model"], ...]  # each layer's last kernel_size-1 inputs


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

    `vocab_size` is the target's. `nlmcore.inspect.capture` sees the attention weights as `layers.{l}.attention`.
    """

    @checked
    def __init__(
        self,
        source_vocab_size: Size,
        target_vocab_size: Size,
        d_model: Size = 128,
        n_encoder_layers: Size = 4,
        n_decoder_layers: Size = 3,
        kernel_size: Size = 3,
        max_length: Size = 1024,
        dropout: Rate = 0.0,
    ) -> None:
        super().__init__()
        self.source_vocab_size, self.vocab_size, self.d_model = source_vocab_size, target_vocab_size, d_model
        self.max_length, self.dropout, self.past = max_length, dropout, kernel_size - 1
        self.encoder = ConvEncoder(source_vocab_size, d_model, n_encoder_layers, kernel_size, max_length, dropout)
        self.embedding = nn.Embedding(target_vocab_size, d_model)
        self.positions = nn.Embedding(max_length, d_model)
        self.layers = nn.ModuleList(ConvDecoderLayer(d_model, kernel_size, dropout) for _ in range(n_decoder_layers))
        self.output = nn.Linear(d_model, target_vocab_size)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.1)

    @checked
    def encode(
        self, source: Int[Tensor, "batch source"], source_mask: Bool[Tensor, "batch source"] | None = None
    ) -> ConvSeq2SeqState:
        """Read a source; source_mask: True = a real token, None: all are."""
        mask = torch.ones_like(source, dtype=torch.bool) if source_mask is None else source_mask
        keys, values = self.encoder(source, mask)
        nothing = keys.new_zeros(len(source), self.past, self.d_model)
        length = source.new_zeros(len(source), dtype=torch.int64)
        return ConvSeq2SeqState(keys, values, mask, length, (nothing,) * len(self.layers))

    def forward(self, tokens: Tensor, state: ConvSeq2SeqState | None = None) -> tuple[Tensor, ConvSeq2SeqState]:
        """tokens (batch, time), `<bos>` first -> logits (batch, time, vocab), new state."""
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def hidden_states(self, tokens: Tensor, state: ConvSeq2SeqState | None = None) -> tuple[Tensor, ConvSeq2SeqState]:
        """h^L (batch, time, d_model), whose `output` is the logits, and the new state."""
        check_tokens(tokens, self.vocab_size)
        state = check_source_state(state, ConvSeq2SeqState, len(tokens))
        dtype = self.output.weight.dtype
        check_state(state.past, [(len(tokens), self.past, self.d_model)] * len(self.layers), dtype)
        check_state((state.keys, state.values), [(*state.mask.shape, self.d_model)] * 2, dtype, ("keys", "values"))
        length = state.length + tokens.shape[1]
        if (longest := int(length.max())) > self.max_length:
            raise ValueError(f"tokens must come to at most max_length = {self.max_length} tokens, got {longest}")
        positions = state.length.unsqueeze(1) + torch.arange(tokens.shape[1], device=tokens.device)
        g = F.dropout(self.embedding(tokens) + self.positions(positions), self.dropout, self.training)
        h, kept = g, []
        for layer, past in zip(self.layers, state.past, strict=True):
            h, past = layer(h, g, past, state)
            kept.append(past)
        hidden = F.dropout(h, self.dropout, self.training)
        return hidden, replace(state, length=length, past=tuple(kept))

    def receptive_field(self) -> int:
        """How many target tokens, the newest included, a prediction can depend on; of the source, all."""
        return 1 + len(self.layers) * self.past
