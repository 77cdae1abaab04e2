"""What every Transformer has between its tokens and its head: embeddings, positions, layers, a last norm.

    h⁰ = dropout(embedding_norm(E[tokens] · √d_model + positions)),   h^l = layer_l(h^{l−1}),   h = final_norm(h^L)

Source: Vaswani et al. (2017), sections 3.1, 3.4 (the factor √d_model) and 5.4 (dropout of the sum).

Departs from the paper: the factor stands only where the configuration asks for it; `embedding_norm` (BERT) and
`final_norm` (needed by pre-norm) are not in it, and are the identity where its own model is built.
"""

import math
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.transformer.config import TransformerConfig


class Trunk(nn.Module):
    """The common part of TransformerLM, TransformerEncoder and the decoder of EncoderDecoder.

    Raises TypeError for what is no TransformerConfig.
    """

    def __init__(self, config: TransformerConfig, causal: bool, cross: bool = False) -> None:
        super().__init__()
        if not isinstance(config, TransformerConfig):
            raise TypeError(f"config must be a TransformerConfig, got {type(config).__name__}")
        c = config
        self.config = c
        self.embedding: Any = c.embedding(c.vocab_size, c.d_model)
        self.positions = c.positions(c.max_length, c.d_model)
        self.embedding_norm = c.embedding_norm(c.d_model)
        self.dropout = nn.Dropout(c.dropout)
        self.layers: Any = c.stack(c, causal, cross)
        c.share(self.layers)
        self.final_norm = c.final_norm(c)

    def embed(self, tokens: Tensor, first: int = 0) -> Float[Tensor, "batch time d_model"]:
        """h⁰ of tokens (batch, time) whose first one stands at position `first`."""
        x = self.embedding(tokens)
        if self.config.scale_embeddings:
            x = x * math.sqrt(self.config.d_model)
        return self.dropout(self.embedding_norm(self.positions(x, first)))
