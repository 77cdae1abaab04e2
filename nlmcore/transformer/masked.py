"""A masked language model: some tokens of a text are hidden, and the encoder guesses them from both sides.

    P(w_t | the text with w_t hidden) = softmax(LN(φ(W h_t + b)) Eᵀ + c)          Devlin et al. (2019), section 3.1

It is no language model in this course's sense: it has no distribution over texts, and cannot write one.

The layer φ(W h + b) with its norm, and the shift c, are in the authors' code; the paper prints the softmax alone.

Departs from the paper: no next-sentence task; φ is the exact GELU.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.language_model import check_tokens
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.encoder import TransformerEncoder, check_token_mask


class MaskedLM(nn.Module):
    """tokens (batch, time) -> logits (batch, time, vocab): for each position, the token that stands there."""

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


def hide_tokens(
    tokens: Int[Tensor, "batch time"],
    hidden_id: int,
    vocab_size: int,
    mask: Bool[Tensor, "batch time"] | None = None,
    share: float | int = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
    """(tokens to read, where to guess): `share` of the real tokens are to be guessed.

    Of these 80 % become `hidden_id` ("[MASK]"), 10 % a random token, and 10 % stay, so that the model must not trust
    any token it reads: Devlin et al. (2019), section 3.1. mask (batch, time), True = a real token, None: all are.

    Raises ValueError for a share outside (0, 1], ids outside the vocabulary, or a mask of another shape, TypeError for
    what is no number, no id, or no boolean mask.
    """
    check_sizes(vocab_size=vocab_size)
    check_tokens(tokens, vocab_size)
    if not isinstance(generator, torch.Generator | None):
        raise TypeError(f"generator must be a torch.Generator or None, got {type(generator).__name__} {generator!r}")
    if not isinstance(share, float | int) or isinstance(share, bool):
        raise TypeError(f"share must be a number in (0, 1], got {type(share).__name__} {share!r}")
    if not 0 < share <= 1:
        raise ValueError(f"share must lie in (0, 1], got {share}")
    if not isinstance(hidden_id, int) or isinstance(hidden_id, bool):
        raise TypeError(f"hidden_id must be an id, a whole number, got {type(hidden_id).__name__} {hidden_id!r}")
    if not 0 <= hidden_id < vocab_size:
        raise ValueError(f"hidden_id must lie in [0, {vocab_size}), got {hidden_id}")
    if mask is not None:
        check_token_mask(mask, tokens)
    guess = torch.rand(tokens.shape, generator=generator) < share
    if mask is not None:
        guess &= mask
    fate = torch.rand(tokens.shape, generator=generator)
    random = torch.randint(vocab_size, tokens.shape, generator=generator)
    read = tokens.clone()
    read[guess & (fate < 0.8)] = hidden_id
    replaced = guess & (fate >= 0.8) & (fate < 0.9)
    read[replaced] = random[replaced]
    return read, guess
