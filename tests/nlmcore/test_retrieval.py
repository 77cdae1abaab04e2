"""Retrieval: the formula word by word, its limits, and that a line of Shakespeare finds its scene."""

import math
import re
from collections import Counter

import pytest

from nlmcore.retrieval import BM25, words

PASSAGES = [
    "The cat sat on the mat. The mat was red.",
    "A dog and a cat and a bird",
    "Nothing here, except the usual words the the the",
    "",
    "mat mat mat",
]


def naive(query: str, k: float, b: float) -> list[float]:
    texts = [re.findall(r"\w+", passage.lower()) for passage in PASSAGES]
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        total = 0.0
        for word in re.findall(r"\w+", query.lower()):
            n = sum(word in other for other in texts)
            f = Counter(text)[word]
            idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
            total += idf * f * (k + 1) / (f + k * (1 - b + b * len(text) / mean)) if f else 0.0
        scores.append(total)
    return scores


@pytest.mark.parametrize(("k", "b"), [(1.2, 0.75), (2.0, 0.0), (0.5, 1.0)])
@pytest.mark.parametrize("query", ["The cat", "mat", "a red bird on the mat mat", "nothing"])
def test_the_scores_are_the_formulas(query: str, k: float, b: float) -> None:
    expected = naive(query, k, b)
    found = BM25(PASSAGES, k, b).search(query, 5)
    assert [score for score, _ in found] == sorted((score for score, _ in found), reverse=True)
    assert {i: score for score, i in found} == pytest.approx(
        {i: score for i, score in enumerate(expected) if score}, rel=1e-5
    )
    assert [i for _, i in BM25(PASSAGES, k, b).search(query, 1)] == [found[0][1]]


def test_nothing_in_common_finds_nothing_and_ties_go_to_the_first() -> None:
    assert BM25(PASSAGES).search("zebra") == []
    assert [i for _, i in BM25(["same", "same", "other"]).search("same")] == [0, 1]
    assert words("Don't—STOP 42!") == ["don't", "stop", "42"]


def test_errors() -> None:
    with pytest.raises(ValueError, match="passages must hold at least one word, got 2 without any"):
        BM25(["", "..."])
