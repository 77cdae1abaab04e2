"""Factorised embeddings: a narrow vector for every token, widened by one matrix that all tokens share.

    E = A B,   A (vocab, inner),  B (inner, d_model),  inner « d_model      Lan et al. (2020), section 3.1
    logits = (h Bᵀ) Aᵀ                                                      "shared": the softmax has the same A and B

The rule here is d_model / 6, since Narang et al. (2021), appendix B, have inner = 128 at d_model = 768.

Symbols: A is `narrow`, B is `widen` (stored transposed).

Departs from the papers: first weights of both factors are N(0, s²) with s⁴ · inner = 0.02², so that E starts with the
usual variance.
"""

import math
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.transformer.config import initialise_normal
from nlmcore.variants.parts import Logits, Tokens, Vectors


class FactorisedEmbedding(nn.Module):
    """A[tokens] B; inner: d_model / 6 unless given."""

    @checked
    def __init__(self, vocab_size: Size, d_model: Size, inner: Size | None = None) -> None:
        super().__init__()
        inner = max(1, (d_model + 3) // 6) if inner is None else inner
        self.narrow = nn.Embedding(vocab_size, inner)
        self.widen = nn.Linear(inner, d_model, bias=False)

    def forward(self, tokens: Tokens) -> Vectors:
        return self.widen(self.narrow(tokens))

    def scores(self, hidden: Float[Tensor, "*any d_model"]) -> Float[Tensor, "*any vocab"]:
        """(h Bᵀ) Aᵀ: the product A B is never made."""
        return hidden @ self.widen.weight @ self.narrow.weight.T  # (…, d_model) @ (d_model, inner) @ (inner, vocab)


class FactorisedOutput(nn.Module):
    """(h Bᵀ) Aᵀ with the factors of the embedding; a part `output`, as are the three below."""

    @checked
    def __init__(self, c: Any, embedding: FactorisedEmbedding) -> None:
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden: Vectors) -> Logits:
        return self.embedding.scores(hidden)


def initialise_factorised(model: nn.Module, c: Any) -> None:
    """As usual, but both factors so that their product has the usual variance."""
    initialise_normal(model, c)
    for module in model.modules():
        if isinstance(module, FactorisedEmbedding):
            std = math.sqrt(0.02) * module.narrow.embedding_dim**-0.25  # s⁴ · inner = 0.02²
            for factor in (module.narrow, module.widen):
                nn.init.normal_(factor.weight, std=std)
