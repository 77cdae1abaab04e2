"""A bidirectional Transformer, in which every token sees every other, and a masked language model on top of it.

    h⁰ = norm(E[tokens] + positions),   h^l = block_l(h^{l−1}, mask)
    P(w_t | the text with w_t hidden) = softmax(LN(φ(h_t W + b)) Eᵀ + c)          Devlin et al. (2019), section 3.1

Source: Vaswani et al. (2017), section 3.1 (encoder); Devlin et al. (2019), section 3. MiniLM has the same shape. A
masked language model has no distribution over texts, so it is no language model in this course's sense. The layer φ(h W
+ b) with its norm, and the shift c, are in the authors' code; the paper prints only the softmax.

Departs from BERT: pre-norm and no norm of the embeddings, unless the configuration says otherwise; no segment
embedding (a text of one segment always adds the same vector, so `nlmcore.pretrained` folds it into the positions); no
next-sentence task; φ is the exact GELU.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.attention.masks import check_token_mask
from nlmcore.checks import check_tokens, checked
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.from_torch import config_of_stack, copy_stack
from nlmcore.transformer.model import Backbone


class TransformerEncoder(Backbone):
    """tokens (batch, time) -> hidden vectors (batch, time, d_model)."""

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, causal=False)
        config.initialise(self, config)

    @classmethod
    @checked
    def from_torch(cls, module: nn.TransformerEncoder, embedding: nn.Embedding) -> "TransformerEncoder":
        """PyTorch's encoder of these embeddings: its weights and its numbers. See `from_torch`."""
        ours = cls(config_of_stack(module, embedding)).to(embedding.weight)
        copy_stack(ours, module, embedding)
        return ours.train(module.training)

    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch *query time"] | None = None
    ) -> Float[Tensor, "batch seen d_model"]:
        """One vector per token (seen = time), unless the configuration's `stack` pools them.

        mask (batch, time): True = a real token; nothing attends to padding. mask (batch, query, key): who may attend to
        whom, so that one stack is bidirectional, causal or a prefix LM (`nlmcore.attention.masks`).
        """
        check_tokens(tokens, self.config.vocab_size)
        check_token_mask(mask, tokens, pairs=True)
        # (batch, 1, 1, key) for padding, (batch, 1, query, key) for pairs: the same for every head and layer
        keys_allowed = None if mask is None else mask[:, None, None] if mask.ndim == 2 else mask[:, None]
        return self.final_norm(self.layers(self.embed(tokens), keys_allowed))


class MaskedLM(nn.Module):
    """tokens (batch, time) -> logits (batch, time, vocab): for each position, its own token."""

    @checked
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.config, self.vocab_size = config, config.vocab_size
        self.transform = nn.Linear(config.d_model, config.d_model)  # W and b
        self.norm = config.norm(config.d_model)
        self.output = config.output(config, self.encoder.embedding)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))  # c: E may be the embedding, which has no shift
        config.initialise(self, config)

    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch *query time"] | None = None
    ) -> Float[Tensor, "batch time vocab"]:
        """mask as in TransformerEncoder (hidden tokens are real; padding is not)."""
        return self.logits(self.encoder(tokens, mask))  # at every position: the loss chooses the hidden ones

    def logits(self, h: Tensor) -> Tensor:
        """LN(φ(h W + b)) Eᵀ + c"""
        return self.output(self.norm(F.gelu(self.transform(h)))) + self.bias
