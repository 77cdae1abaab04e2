"""Retrieval: the passages of a text that share rare words with a question, to put them into a prompt.

    score(q, d) = Σ_{w in q} idf(w) · (k + 1) f / (f + k (1 − b + b |d| / mean |d|)),      f = how often w occurs in d
    idf(w) = ln(1 + (N − n + 1/2) / (n + 1/2)),                               n = in how many of the N passages w occurs

k says how soon more occurrences stop to matter, b how far a long passage is marked down. Source: Robertson & Zaragoza
(2009), "The probabilistic relevance framework: BM25 and beyond", section 3.4. Departs from the source: the 1 in idf, as
in Lucene.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import torch

from nlmcore.checks import Amount, Probability, Size, checked

__all__ = ["BM25", "words"]


def words(text: str) -> list[str]:
    """Letters, digits and apostrophes, in lower case."""
    return re.findall(r"[\w'’]+", text.lower())


class BM25:
    """An index of passages. Raises ValueError for none, or only empty ones."""

    @checked
    def __init__(self, passages: Sequence[str], k: Amount = 1.2, b: Probability = 0.75) -> None:
        self.passages = list(passages)
        counts = [Counter(words(passage)) for passage in self.passages]
        lengths = torch.tensor([float(count.total()) for count in counts])
        if not lengths.sum() > 0:
            raise ValueError(f"passages must hold at least one word, got {len(self.passages)} without any")
        where: defaultdict[str, list[int]] = defaultdict(list)
        for i, count in enumerate(counts):
            for word in count:
                where[word].append(i)
        damping = k * (1 - b + b * lengths / lengths.mean())
        self._weights = {}  # word -> its passages, and what it adds to their scores
        for word, rows in where.items():
            found, f = torch.tensor(rows), torch.tensor([float(counts[i][word]) for i in rows])
            idf = torch.tensor((len(counts) - len(rows) + 0.5) / (len(rows) + 0.5)).log1p()
            self._weights[word] = found, idf * (k + 1) * f / (f + damping[found])

    @checked
    def search(self, query: str, n: Size = 3) -> list[tuple[float, int]]:
        """(score, index into `passages`) of the n best, best first, without those that share no word with the query."""
        scores = torch.zeros(len(self.passages))
        for word in words(query):
            if word in self._weights:
                found, added = self._weights[word]
                scores[found] += added
        best = scores.sort(descending=True, stable=True)
        return [
            (score, i) for score, i in zip(best.values[:n].tolist(), best.indices[:n].tolist(), strict=True) if score
        ]
