"""A finished table of word vectors, and two questions to it: what is similar, and what is to c as b is to a?

    nearest(w)          argmax over w' of cos(e(w'), e(w))
    analogy(a, b, c)    argmax over w  of cos(e(w), e(c) − e(a) + e(b))         a : b = c : w

Symbols: e(w) = onehot(w) E, a row of E (vocab, d_model), here scaled to length 1. Source: Mikolov, Yih & Zweig 2013,
equations 1 and 2 (the words of the question are no answers). Departs from the papers: the output vectors, which
training needs, are not kept.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize

from nlmcore.checks import Size, checked


class WordVectors(nn.Module):
    """e(w) for every id of a vocabulary, as a module, so that it can be kept like any other trained model."""

    @checked
    def __init__(self, vocab_size: Size, d_model: Size) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    @property
    def vectors(self) -> Float[Tensor, "vocab d_model"]:
        """The whole table, without a gradient."""
        return self.embedding.weight.detach()

    def forward(self, tokens: Int[Tensor, "..."]) -> Float[Tensor, "... d_model"]:
        return self.embedding(tokens)


@checked
def nearest(vectors: Float[Tensor, "vocab d_model"], word: int, k: Size | None = None) -> list[tuple[int, float]]:
    """The k words with the largest cosine with `word`, best first: ids and cosines. k=None: 10, or all if fewer."""
    most = _check(vectors, word=word)
    unit = normalize(vectors, dim=1)
    return _best(unit @ unit[word], [word], min(10, most) if k is None else k, most)


@checked
def analogy(vectors: Float[Tensor, "vocab d_model"], a: int, b: int, c: int, k: Size = 1) -> list[tuple[int, float]]:
    """The k words that are to c as b is to a, best first: ids and cosines. a, b and c are left out."""
    most = _check(vectors, a=a, b=b, c=c)
    unit = normalize(vectors, dim=1)
    target = normalize(unit[c] - unit[a] + unit[b], dim=0)
    return _best(unit @ target, [a, b, c], k, most)


def _check(vectors: Tensor, **words: int) -> int:
    """How many answers there can be. Refuses ids outside the table, and one without vectors for answers."""
    if not bool(vectors.isfinite().all()):
        raise ValueError(f"vectors must be finite, got nan or inf in {int((~vectors.isfinite()).any(1).sum())} rows")
    for name, word in words.items():
        if not 0 <= word < len(vectors):
            raise ValueError(f"{name} must be an id in [0, {len(vectors)}), the vocabulary, got {word}")
    most = len(vectors) - len(set(words.values()))
    if most < 1:
        raise ValueError(f"vectors must hold a word beside those of the question, got {len(vectors)} words")
    return most


def _best(cosines: Float[Tensor, " vocab"], excluded: list[int], k: int, most: int) -> list[tuple[int, float]]:
    if k > most:
        raise ValueError(f"k must be in [1, {most}], the words that are left, got {k}")
    cosines = cosines.clone()
    cosines[excluded] = -torch.inf
    values, ids = cosines.topk(k)
    return list(zip(ids.tolist(), values.tolist(), strict=True))
