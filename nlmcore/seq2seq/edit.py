"""Retrieve and edit: find a sentence that already says almost what we want to say, and rewrite it.
Guu, Hashimoto, Oren & Liang (2018), "Generating sentences by editing prototypes".

    J(a, b) = |A ∩ B| / |A ∪ B|,   A and B the sets of words                          Jaccard (1912)
    P(x) = Σ_{x'} P(x') ∫ P(x | x', z) p(z) dz               a prototype x', an edit z, and the edited x
    f(x', x) = [Σ_{w ∈ x∖x'} e(w) ; Σ_{w ∈ x'∖x} e(w)]       what was inserted; what was deleted
    q(z | x', x):  z = r u,  u near f/‖f‖,  r in [‖f‖, ‖f‖ + ε] with ‖f‖ cut at 10 − ε
    p(z):          z = r u,  u uniform on the sphere,  r uniform in [0, 10]

P(x | x', z) is a `Seq2Seq` with attention to x' that also reads z at every step. Training maximises
E_q ln P(x | x', z); at test time z is sampled from p, or made from words to insert and delete, or zero.

Symbols: e is `edits`, z is the state's `constant`, ε is `noise`, the paper's norm limit 10 is `max_norm`. They train on
pairs with J at least 0.5.

Departs from the paper: the search is exact, not by locality-sensitive hashing; u is a von Mises-Fisher sample there,
here f/‖f‖ plus Gaussian noise, normalised (`concentration` is the inverse variance per coordinate); one layer; stop
words count as words.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Probability, Size, check_sizes, check_tokens, checked
from nlmcore.seq2seq.decoders import SCORES, AttentionDecoder, Seq2SeqState
from nlmcore.seq2seq.model import Seq2Seq

Words = Sequence[Hashable] | frozenset[Hashable]


def jaccard(a: Words, b: Words) -> float:
    """|A ∩ B| / |A ∪ B| of the two sets of words; 1 for two empty texts."""
    A, B = frozenset(a), frozenset(b)
    return len(A & B) / len(A | B) if A | B else 1.0


class Retriever:
    """Documents (lists of words or token ids), searched by Jaccard similarity through an inverted index.

    Two texts can only be similar if they share one of their rarest words: with J ≥ t, at least ⌈t |A|⌉ words of A
    are shared, so one of its |A| − ⌈t |A|⌉ + 1 rarest is (Chaudhuri, Ganti & Kaushik 2006, prefix filtering).
    """

    def __init__(self, documents: Sequence[Words]) -> None:
        if not documents:
            raise ValueError("documents must hold at least one text, got none")
        self.documents = documents
        self._sets = [frozenset(document) for document in documents]
        self._frequency = Counter(word for words in self._sets for word in words)
        self._holders: dict[Hashable, list[int]] = {}
        for index, words in enumerate(self._sets):
            for word in words:
                self._holders.setdefault(word, []).append(index)

    @checked
    def nearest(
        self, query: Words, k: Size = 1, at_least: Probability = 0.0, exclude: Sequence[int] = ()
    ) -> list[tuple[int, float]]:
        """The k documents most similar to `query` as (index, similarity), best first, earlier documents first.

        Documents below `at_least`, those that share no word, and those in `exclude` (the query itself, say) are
        left out, so there may be fewer than k.
        """
        words = frozenset(query)
        needed = max(1, math.ceil(at_least * len(words) - 1e-9))
        rarest = sorted(words, key=lambda word: (self._frequency[word], str(word)))[: len(words) - needed + 1]
        candidates = {index for word in rarest for index in self._holders.get(word, ())} - set(exclude)
        scored = [(index, jaccard(words, self._sets[index])) for index in candidates]
        found = sorted((pair for pair in scored if pair[1] >= at_least), key=lambda pair: (-pair[1], pair[0]))
        return found[:k]


def edit_pairs(
    documents: Sequence[Words], at_least: float | int = 0.5, per_document: int = 10
) -> Iterator[tuple[int, int, float]]:
    """Training pairs (prototype, target, similarity): for each document, up to `per_document` others close to it.

    Texts with the same words count as a pair only if they differ in order or number.
    """
    retriever = Retriever(documents)
    for target, words in enumerate(documents):
        near = retriever.nearest(words, per_document + 1, at_least, exclude=[target])
        others = [(index, similarity) for index, similarity in near if list(documents[index]) != list(words)]
        for prototype, similarity in others[:per_document]:
            yield prototype, target, similarity


@checked
def edited_words(
    prototype: Int[Tensor, "batch source"],
    target: Int[Tensor, "batch time"],
    vocab_size: Size,
    prototype_mask: Bool[Tensor, "batch source"] | None = None,
    target_mask: Bool[Tensor, "batch time"] | None = None,
) -> tuple[Float[Tensor, "batch vocab"], Float[Tensor, "batch vocab"]]:
    """Which words were inserted and which deleted, as rows of zeros and ones over the vocabulary.

    masks: True = a real token, None: all are.
    """
    old = _word_set("prototype", prototype, prototype_mask, vocab_size)
    new = _word_set("target", target, target_mask, vocab_size)
    return (new & ~old).float(), (old & ~new).float()


def _word_set(name: str, tokens: Tensor, mask: Tensor | None, vocab_size: int) -> Tensor:
    check_tokens(tokens, vocab_size, name)
    counted = torch.ones_like(tokens) if mask is None else mask.to(tokens.dtype)
    return tokens.new_zeros(len(tokens), vocab_size).scatter_add(1, tokens.long(), counted) > 0


class NeuralEditor(nn.Module):
    """`state = editor.encode(prototype, mask, edit)`, then `logits, state = editor(tokens, state)`.

    One vocabulary for prototype and result; the words of an edit are embedded like those of the text.
    """

    def __init__(
        self,
        vocab_size: int,
        cell: str = "gru",
        d_embedding: int = 64,
        d_hidden: int = 128,
        n_layers: int = 1,
        score: Literal["dot", "bilinear", "additive"] = "additive",
        bidirectional: bool = True,
        dropout: float | int = 0.0,
        concentration: float | int = 100.0,
        noise: float | int = 0.1,
        max_norm: float | int = 10.0,
    ) -> None:
        super().__init__()
        if not 0 < concentration < math.inf or not 0 <= noise < max_norm < math.inf:
            raise ValueError(
                "concentration must be above 0 and 0 <= noise < max_norm, all finite,"
                f" got concentration={concentration}, noise={noise}, max_norm={max_norm}"
            )
        self.vocab_size, self.d_edit = vocab_size, 2 * d_embedding
        self.concentration, self.noise, self.max_norm = concentration, noise, max_norm
        sizes = (cell, d_embedding, d_hidden, n_layers)
        self.seq2seq = Seq2Seq(
            vocab_size, vocab_size, *sizes, score=score, bidirectional=bidirectional, dropout=dropout
        )
        self.seq2seq.decoder = AttentionDecoder(*sizes, dropout, True, SCORES[score](d_hidden), self.d_edit)
        self.seq2seq.encoder.embedding = self.seq2seq.embedding  # prototype and result are the same language

    @property
    def edits(self) -> nn.Embedding:
        """e: the words of an edit are summed in it; the embedding of the text itself."""
        return self.seq2seq.embedding

    @checked(like="edits.weight")
    def encode(
        self,
        prototype: Int[Tensor, "batch source"],
        prototype_mask: Bool[Tensor, "batch source"] | None = None,
        edit: Float[Tensor, "batch {self.d_edit}"] | None = None,
    ) -> Seq2SeqState:
        """Read prototypes. edit: z, from `edit_vector`, `words_to_edit` or `sample_edit`; None: nothing to change."""
        state = self.seq2seq.encode(prototype, prototype_mask)
        edit = self.edits.weight.new_zeros(len(prototype), self.d_edit) if edit is None else edit
        return dataclasses.replace(state, constant=edit)

    def forward(
        self, tokens: Tensor, state: Seq2SeqState | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], Seq2SeqState]:
        """tokens (batch, time) of the edited text, `<bos>` first; state from `encode`."""
        return self.seq2seq(tokens, state)

    def edit_vector(
        self, prototype: Tensor, target: Tensor, prototype_mask: Tensor | None = None, target_mask: Tensor | None = None
    ) -> Float[Tensor, "batch edit"]:
        """f(x', x): the sum of the inserted words' embeddings, then that of the deleted ones'; no noise."""
        words = edited_words(prototype, target, self.vocab_size, prototype_mask, target_mask)
        return torch.cat([which.to(self.edits.weight.dtype) @ self.edits.weight for which in words], dim=-1)

    @checked
    def words_to_edit(
        self, insert: Int[Tensor, "batch inserted"], delete: Int[Tensor, "batch deleted"]
    ) -> Float[Tensor, "batch edit"]:
        """The edit that inserts and deletes given words: ids, each possibly with no column."""
        for name, words in (("insert", insert), ("delete", delete)):
            if words.shape[1]:
                check_tokens(words, self.vocab_size, name)
        return torch.cat([self.edits(insert.long()).sum(1), self.edits(delete.long()).sum(1)], dim=-1)

    @checked(like="edits.weight")
    def perturb(
        self, f: Float[Tensor, "batch {self.d_edit}"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "batch edit"]:
        """z ~ q: the edit f with noise on its direction and on its length, so that nearby edits mean nearby things."""
        length = f.norm(dim=-1, keepdim=True)
        direction = f / length.clamp(min=1e-8)
        direction = direction + torch.randn(f.shape, generator=generator).to(f) / self.concentration**0.5
        direction = direction / direction.norm(dim=-1, keepdim=True).clamp(min=1e-8)
        stretched = torch.rand(length.shape, generator=generator).to(f) * self.noise
        return direction * (length.clamp(max=self.max_norm - self.noise) + stretched)

    def sample_edit(self, batch: int, generator: torch.Generator | None = None) -> Float[Tensor, "batch edit"]:
        """z ~ p: any direction, any length up to `max_norm`."""
        check_sizes(batch=batch)
        direction = torch.randn(batch, self.d_edit, generator=generator)
        length = torch.rand(batch, 1, generator=generator) * self.max_norm
        return (direction / direction.norm(dim=-1, keepdim=True) * length).to(self.edits.weight)
