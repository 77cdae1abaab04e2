"""Factorised embeddings: a narrow vector for every token, widened by one matrix that all tokens share.

    E = A B,   A (vocab, inner),  B (inner, d_model),  inner « d_model      Lan et al. (2020), section 3.1
    logits = (h Bᵀ) Aᵀ                                                      "shared": the softmax has the same A and B

What a token means takes fewer numbers than what a context means, they argue; vocab · inner + inner · d_model
parameters in place of vocab · d_model. Narang et al. (2021), appendix B, have inner = 128 at d_model = 768: a sixth,
which is the rule here.

First weights: both factors from N(0, s²) with s⁴ · inner = 0.02², so that E begins with the variance of an embedding
that is not factorised. (Two factors of 0.02 each would give vectors ten times too short.)

Departs from the papers: those first weights; Narang's code has the same rule for a variance of 1.
"""

import math
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.transformer.config import initialise_normal


class FactorisedEmbedding(nn.Module):
    """tokens (batch, time) -> A[tokens] B, (batch, time, d_model); inner: d_model / 6 unless given."""

    @door
    def __init__(self, vocab_size: Size, d_model: Size, inner: Size | None = None) -> None:
        super().__init__()
        inner = max(1, (d_model + 3) // 6) if inner is None else inner
        self.narrow = nn.Embedding(vocab_size, inner)
        self.widen = nn.Linear(inner, d_model, bias=False)

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time d_model"]:
        return self.widen(self.narrow(tokens))


class FactorisedOutput(nn.Module):
    """logits = (h Bᵀ) Aᵀ of a `FactorisedEmbedding`, whose factors it uses; the product A B is never made."""

    @door
    def __init__(self, embedding: FactorisedEmbedding) -> None:
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time vocab"]:
        return hidden @ self.embedding.widen.weight @ self.embedding.narrow.weight.T


def build_factorised_output(c: Any, embedding: Any) -> nn.Module:
    """A part `output`."""
    return FactorisedOutput(embedding)


def initialise_factorised(model: nn.Module, c: Any) -> None:
    """As usual, and both factors so that their product is as an embedding usually is."""
    initialise_normal(model, c)
    for module in model.modules():
        if isinstance(module, FactorisedEmbedding):
            std = math.sqrt(0.02) * module.narrow.embedding_dim**-0.25
            for factor in (module.narrow, module.widen):
                nn.init.normal_(factor.weight, std=std)
