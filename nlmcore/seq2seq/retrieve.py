"""Retrieve: find a sentence that already says almost what we want to say. Similarity is lexical: shared words.

    J(a, b) = |A ∩ B| / |A ∪ B|,   A and B the sets of words          Jaccard (1912)

Guu, Hashimoto, Oren & Liang (2018), "Generating sentences by editing prototypes", train on pairs
with J at least 0.5: close enough that one is an edit of the other.

Departs from the paper: nothing in the measure; the search is exact, not by locality-sensitive hashing.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from nlmcore.checks import Probability, Size, door

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

    @door
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
