"""Vocabulary and reading: which words count, what is dropped, what is refused."""

import numpy as np
import pytest
import torch

from nlmcore.word2vec import build_vocabulary
from nlmcore.word2vec.sampling import read


def test_vocabulary_by_frequency() -> None:
    sentences = [["b", "a", "b"], ["c", "a", "b", "d"]]
    assert build_vocabulary(sentences, 1) == ["b", "a", "c", "d"]
    assert build_vocabulary(sentences, 2) == ["b", "a"]
    with pytest.raises(TypeError, match="lists of words"):
        build_vocabulary(["a sentence"])
    with pytest.raises(ValueError, match="min_count"):
        build_vocabulary(sentences, 0)


def test_unknown_words_are_dropped_and_empty_sequences_with_them() -> None:
    tokens, lengths = read([["a", "x", "b"], ["x"], ["b"]], {"a": 0, "b": 1}, 2)
    assert tokens.tolist() == [0, 1, 1]
    assert lengths.tolist() == [2, 1]


def test_every_form_of_ids() -> None:
    rows = [[1, 0, 2], [2, 1, 0]]
    for form in (rows, torch.tensor(rows), np.array(rows), [torch.tensor(r) for r in rows], map(tuple, rows)):
        tokens, lengths = read(form, None, 3)
        assert tokens.tolist() == [1, 0, 2, 2, 1, 0]
        assert lengths.tolist() == [3, 3]


@pytest.mark.parametrize(
    "sequences",
    [[], [[]], [["x"]], "ab", ["ab"], None, [1, 2], [[0.5, 1.0]], [[0, 7]], [[-1]], torch.rand(2, 3), [[True, False]]],
)
def test_bad_text_is_named(sequences: object) -> None:
    with pytest.raises((ValueError, TypeError), match="sequences"):
        read(sequences, {"a": 0, "b": 1}, 2)
    with pytest.raises(TypeError, match="no words were given"):
        read([["a"]], None, 2)


@pytest.mark.parametrize("sequences", [[], [[]], [["a"], ["b"]], [[1, 2]], [3], 3, None, "ab"])
def test_a_vocabulary_has_words(sequences: object) -> None:
    with pytest.raises((ValueError, TypeError), match="sequences"):
        build_vocabulary(sequences, 2)  # type: ignore[arg-type]
