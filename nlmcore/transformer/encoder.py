"""A bidirectional Transformer, every token sees every other, and a masked language model on top of it.

    h⁰ = norm(E[tokens] + positions),   h^l = block_l(h^{l−1}, mask)
    P(w_t | the text with w_t hidden) = softmax(LN(φ(W h_t + b)) Eᵀ + c)          Devlin et al. (2019), section 3.1

Source: Vaswani et al. (2017), section 3.1 (encoder); Devlin et al. (2019), section 3. MiniLM has the same shape. In a
text that is all padding attention adds nothing, and its vectors are finite.

A masked language model has no distribution over texts, so it is no language model in this course's sense. The layer
φ(W h + b) with its norm, and the shift c, are in the authors' code; the paper prints only the softmax.

Departs from BERT: pre-norm and no norm of the embeddings, unless the configuration says otherwise; no segment
embedding (a text of one segment always adds the same vector, so `nlmcore.pretrained` folds it into the positions); no
next-sentence task; φ is the exact GELU.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.attention.checks import check_mask
from nlmcore.checks import Count, Positive, Size, check_tokens, door
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.from_torch import config_of_stack, copy_stack
from nlmcore.transformer.model import Trunk


class TransformerEncoder(Trunk):
    """tokens (batch, time) -> hidden vectors (batch, time, d_model)."""

    @door
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, causal=False)
        config.initialise(self, config)

    @classmethod
    @door
    def from_torch(cls, module: nn.TransformerEncoder, embedding: nn.Embedding) -> "TransformerEncoder":
        """PyTorch's encoder of these embeddings: its weights and its numbers. See `from_torch`."""
        ours = cls(config_of_stack(module, embedding)).to(embedding.weight)
        copy_stack(ours, module, embedding)
        return ours.train(module.training)

    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Float[Tensor, "batch seen d_model"]:
        """One vector per token (seen = time), unless the configuration's `stack` pools them.

        mask: True = a real token; nothing attends to padding. Raises TypeError or ValueError for tokens outside the
        vocabulary, a text that is too long, or a mask that does not fit the tokens.
        """
        check_tokens(tokens, self.config.vocab_size)
        check_token_mask(mask, tokens)
        keys_allowed = None if mask is None else mask[:, None, None, :]  # (batch, head, query, key)
        return self.final_norm(self.layers(self.embed(tokens), keys_allowed))


def check_token_mask(mask: Tensor | None, tokens: Tensor) -> None:
    """Refuse a mask that is not boolean (TypeError), or not of the tokens' shape (ValueError): nothing is broadcast."""
    if isinstance(mask, Tensor) and mask.shape != tokens.shape:
        raise ValueError(f"mask must have the tokens' shape {tuple(tokens.shape)}, got {tuple(mask.shape)}")
    if mask is not None:
        check_mask(mask, tokens.shape)


class MaskedLM(nn.Module):
    """tokens (batch, time) -> logits (batch, time, vocab): for each position, the token that stands there."""

    @door
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.config, self.vocab_size = config, config.vocab_size
        self.transform = nn.Linear(config.d_model, config.d_model)
        self.norm = config.norm(config.d_model)
        self.output = config.output(config, self.encoder.embedding)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        config.initialise(self, config)

    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Float[Tensor, "batch time vocab"]:
        """mask (batch, time), True = a real token (hidden ones are real; padding is not)."""
        hidden = self.encoder(tokens, mask)
        return self.output(self.norm(F.gelu(self.transform(hidden)))) + self.bias


@door
def hide_tokens(
    tokens: Tensor,
    hidden_id: Count,
    vocab_size: Size,
    mask: Tensor | None = None,
    share: Positive = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
    """(tokens to read, where to guess): `share` of the real tokens, in (0, 1], are to be guessed.

    Of these 80 % become `hidden_id` ("[MASK]"), 10 % a random token, and 10 % stay, so that the model must not trust
    any token it reads: Devlin et al. (2019), section 3.1. mask (batch, time), True = a real token, None: all are.

    Raises ValueError for a share above 1, ids outside the vocabulary, or a mask of another shape.
    """
    check_tokens(tokens, vocab_size)
    check_token_mask(mask, tokens)
    if share > 1:
        raise ValueError(f"share must lie in (0, 1], got {share}")
    if hidden_id >= vocab_size:
        raise ValueError(f"hidden_id must lie in [0, {vocab_size}), got {hidden_id}")
    guess = torch.rand(tokens.shape, generator=generator) < share
    if mask is not None:
        guess &= mask
    fate = torch.rand(tokens.shape, generator=generator)
    random = torch.randint(vocab_size, tokens.shape, generator=generator).to(tokens)
    read = tokens.masked_fill(guess & (fate < 0.8), hidden_id)
    return random.where(guess & (fate >= 0.8) & (fate < 0.9), read), guess
