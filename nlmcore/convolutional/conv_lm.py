"""A language model of causal convolutions: each layer looks a little further back.

Source: Dauphin, Fan, Auli & Grangier (2017), "Language modeling with gated convolutional networks"; dilations
as in van den Oord et al. (2016), "WaveNet".

    h⁰ = C(w)        h^l_t = h^{l-1}_t + GLU(W^l [h^{l-1}_{t-(k-1)δ}; …; h^{l-1}_t] + b^l)        y = U h^L + c

Symbols: C is `embedding`; W^l, b^l are `layers.{l-1}.linear`; U, c are `output`; k is kernel_size, δ the dilation.
Before the text there are zeros, in every layer.

A prediction sees 1 + Σ (k-1)δ tokens: linear in the depth without dilation, exponential with 1, 2, 4, … The state holds
the last (k-1)δ inputs of every layer, so one more token costs one step of each layer, however long the text is.

Departs from the paper: the softmax is over the whole vocabulary (theirs is adaptive), residual blocks hold one
layer (theirs up to five, with bottlenecks), no weight normalisation.
"""

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_sizes, check_tokens, door
from nlmcore.convolutional.gated import GatedConvolution, causal_inputs


class ConvLM(nn.Module):
    """`logits, state = model(tokens, state)`; the state is one tensor (batch, (k-1)δ, d_model) per layer.

    `dilations` gives each layer's δ, by default 1; `tie_embeddings` uses the embedding as U.
    """

    @door
    def __init__(
        self,
        vocab_size: Size,
        d_model: Size = 128,
        n_layers: Size = 4,
        kernel_size: Size = 4,
        dilations: Sequence[int] | None = None,
        dropout: Rate = 0.0,
        tie_embeddings: bool = False,
    ) -> None:
        super().__init__()
        dilations = [1] * n_layers if dilations is None else list(dilations)
        if len(dilations) != n_layers:
            raise ValueError(f"dilations must hold one number per layer, got {dilations} for n_layers={n_layers}")
        check_sizes(**{f"dilations[{i}]": dilation for i, dilation in enumerate(dilations)})
        self.vocab_size, self.d_model, self.dropout = vocab_size, d_model, dropout
        self.past = [(kernel_size - 1) * δ for δ in dilations]  # how many inputs each layer must remember
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(GatedConvolution(d_model, kernel_size, δ, dropout) for δ in dilations)
        self.output = nn.Linear(d_model, vocab_size)
        nn.init.normal_(self.embedding.weight, std=0.1)
        if tie_embeddings:
            self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor, state: tuple[Tensor, ...] | None = None) -> tuple[Tensor, tuple[Tensor, ...]]:
        """tokens (batch, time) -> logits (batch, time, vocab), new state."""
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def hidden_states(
        self, tokens: Tensor, state: tuple[Tensor, ...] | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """h^L (batch, time, d_model), whose `output` is the logits, and the new state."""
        check_tokens(tokens, self.vocab_size)
        h = self.embedding(tokens)  # (batch, time, d_model)
        if state is None:
            state = tuple(h.new_zeros(len(tokens), past, self.d_model) for past in self.past)
        self._check_state(state, h)
        kept = []
        for layer, past in zip(self.layers, state, strict=True):
            inputs, past = causal_inputs(h, past)
            kept.append(past)
            h = h + layer(inputs)
        return F.dropout(h, self.dropout, self.training), tuple(kept)

    def receptive_field(self) -> int:
        """How many tokens, the newest included, a prediction can depend on."""
        return 1 + sum(self.past)

    def _check_state(self, state: tuple[Tensor, ...], h: Tensor) -> None:
        if not isinstance(state, tuple) or not all(isinstance(past, Tensor) for past in state):
            raise TypeError(f"state must be None or a tuple of tensors from this model, got {type(state).__name__}")
        expected, shapes = [(len(h), past, self.d_model) for past in self.past], [tuple(past.shape) for past in state]
        if shapes != expected:
            raise ValueError(f"state must have shapes {expected}, got {shapes}")
        if any(past.dtype != h.dtype for past in state):
            raise TypeError(f"state must be {h.dtype}, like the embedding, got {[past.dtype for past in state]}")
