"""Counting by sorting = counting with a dictionary."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.ngram.counts import count_ngrams, sort_with_positions, walk

V = 7
SEQUENCES = st.lists(st.lists(st.integers(0, V - 1), min_size=1, max_size=20), min_size=1, max_size=5)


def flat(sequences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(sequences).astype(np.int64), np.array([len(s) for s in sequences])


def spelled(levels) -> list[list[tuple[int, ...]]]:
    """Every n-gram of every level as words, by walking its prefixes down to the root."""
    words: list[list[tuple[int, ...]]] = []
    for level in levels:
        shorter = words[-1] if words else [()]
        words.append([(*shorter[p], int(w)) for p, w in zip(level.prefix, level.word, strict=True)])
    return words


@given(sequences=SEQUENCES, order=st.integers(1, 6))
@settings(deadline=None)
def test_counts_are_a_dictionary_s(sequences: list[list[int]], order: int) -> None:
    levels = count_ngrams(*flat(sequences), order, V)
    words = spelled(levels)
    for level, ngrams in zip(levels, words, strict=True):
        n = level.order
        expected = Counter(tuple(s[i : i + n]) for s in sequences for i in range(len(s) - n + 1))
        assert dict(zip(ngrams, level.counts.tolist(), strict=True)) == expected
        shorter = words[n - 2] if n > 1 else [()]
        assert [shorter[s] for s in level.suffix] == [g[1:] for g in ngrams]
        assert level.contexts == len(shorter)
        for h in range(level.contexts):
            children = ngrams[level.starts[h] : level.starts[h + 1]]
            assert children == [g for g in ngrams if g[:-1] == shorter[h]]


@given(
    sequences=SEQUENCES, rows=st.lists(st.lists(st.integers(0, V - 1), min_size=4, max_size=4), min_size=1, max_size=3)
)
@settings(deadline=None)
def test_walk_finds_what_was_seen_and_nothing_else(sequences: list[list[int]], rows: list[list[int]]) -> None:
    levels = count_ngrams(*flat(sequences), 3, V)
    words = spelled(levels)
    for level, context, ngram in walk(levels, np.array(rows)):
        n, shorter = level.order, words[level.order - 2] if level.order > 1 else [()]
        for b, row in enumerate(rows):
            for t in range(5):
                h = tuple(row[t - n + 1 : t]) if t >= n - 1 else None
                assert context[b, t] == (shorter.index(h) if h in shorter else -1)
            for t in range(4):
                g = tuple(row[t - n + 1 : t + 1]) if t >= n - 1 else None
                assert ngram[b, t] == (words[n - 1].index(g) if g in words[n - 1] else -1)


def test_walk_forgets_at_starts() -> None:
    levels = count_ngrams(np.array([0, 1, 2, 0, 1]), np.array([5]), 2, V)
    *_, (_, context, ngram) = walk(levels, np.array([[0, 1, 2]]), starts=np.array([0, 1]))
    assert context[0, 1] == -1
    assert ngram[0, 1] == -1  # (0, 1) was seen, but a sequence begins between them
    assert ngram[0, 2] >= 0


@pytest.mark.parametrize("high", [10, 2**40, 2**62])
def test_sort_with_positions(high: int) -> None:
    """Also where key and position do not fit into one integer."""
    keys = np.random.default_rng(0).integers(0, high, 1000)
    ordered, position = sort_with_positions(keys)
    assert (ordered == np.sort(keys)).all()
    assert (keys[position] == ordered).all()
