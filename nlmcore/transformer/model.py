"""The Transformer as a language model: decoder only, GPT's shape.

    h⁰ = dropout(embedding_norm(E[tokens] · √d_model + positions)),   h^l = block_l(h^{l−1})  with causal attention
    logits = final_norm(h^L) Eᵀ

Source: Vaswani et al. (2017), sections 3.1 (decoder, without its second sublayer), 3.4 (the factor √d_model) and 5.4
(dropout of the sum); Radford et al. (2018; 2019).

The state holds each layer's keys and values (`nlmcore.attention.KeyValueCache`) and how many tokens were read.

Departs from the papers: as the configuration says; the default is GPT-2's (pre-norm, learned positions, tied
embeddings, no factor √d_model, its initialisation) but for GELU, which is exact here and approximated by a tanh there.
"""

import math
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import check_tokens, checked
from nlmcore.transformer.checks import check_causal, check_state
from nlmcore.transformer.config import PARTS, TransformerConfig


class Backbone(nn.Module):
    """What every Transformer has before its output: embeddings, positions, layers, a last norm."""

    @checked
    def __init__(self, config: TransformerConfig, causal: bool, cross: bool = False) -> None:
        super().__init__()
        self.config = c = config
        self.embedding: Any = c.embedding(c.vocab_size, c.d_model)
        self.positions = c.positions(c.max_length, c.d_model)
        self.embedding_norm = c.embedding_norm(c.d_model)
        self.dropout = nn.Dropout(c.dropout)
        self.layers: Any = c.stack(c, causal, cross)
        c.share(self.layers)  # now that all are built: a layer may take the modules of another
        self.final_norm = c.final_norm(c)

    def embed(self, tokens: Tensor, first: int = 0) -> Float[Tensor, "batch time d_model"]:
        """h⁰ of tokens (batch, time) whose first one stands at position `first`."""
        x = self.embedding(tokens)  # (batch, time, d_model)
        if self.config.scale_embeddings:
            x = x * math.sqrt(self.config.d_model)  # Vaswani et al. (2017), section 3.4
        return self.dropout(self.embedding_norm(self.positions(x, first)))


@dataclass(frozen=True, eq=False)
class TransformerState:
    """What a TransformerLM has read."""

    layers: tuple[Any, ...]  # each layer's own state: keys and values of attention, the batch first
    position: int  # how many tokens were read


class TransformerLM(Backbone):
    """A language model. Raises ValueError for a configuration with a part that only an encoder can have."""

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        check_causal(config, PARTS)
        super().__init__(config, causal=True)
        self.vocab_size = config.vocab_size
        self.output = config.output(config, self.embedding)  # the embedding too: it may have the same matrix
        config.initialise(self, config)  # last: it sees every matrix and the depth

    def forward(
        self, tokens: Int[Tensor, "batch time"], state: TransformerState | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], TransformerState]:
        """logits[b, t] scores the token after tokens[b, :t+1]. Raises as `hidden_states` does."""
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def hidden_states(
        self, tokens: Int[Tensor, "batch time"], state: TransformerState | None = None
    ) -> tuple[Float[Tensor, "batch time d_model"], TransformerState]:
        """The last layer's vectors, and the state after them: for a caller that needs few of the logits, or none."""
        check_tokens(tokens, self.vocab_size)
        check_state(state, TransformerState, len(tokens))
        position, layers = (0, None) if state is None else (state.position, state.layers)
        x, layers = self.layers(self.embed(tokens, position), layers)  # each layer reads on from its own state
        return self.final_norm(x), TransformerState(layers, position + tokens.shape[1])
