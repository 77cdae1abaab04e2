"""Retrieval: exact search against a loop over everything."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.seq2seq import Retriever, edit_pairs, jaccard

texts = st.lists(st.integers(0, 8), max_size=6)


def test_jaccard_by_hand() -> None:
    assert jaccard(["the", "food", "was", "good"], ["the", "food", "was", "very", "good", "good"]) == pytest.approx(
        4 / 5
    )
    assert jaccard([1, 2], [3]) == 0.0
    assert jaccard([], []) == 1.0


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, min_size=1, max_size=12), texts, st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 0.75, 1.0]))
def test_search_finds_what_looking_at_everything_finds(documents, query, at_least) -> None:
    everything = [(i, jaccard(query, document)) for i, document in enumerate(documents) if set(query) & set(document)]
    expected = sorted((p for p in everything if p[1] >= at_least), key=lambda p: (-p[1], p[0]))
    assert Retriever(documents).nearest(query, k=len(documents), at_least=at_least) == expected
    assert Retriever(documents).nearest(query, k=2, at_least=at_least) == expected[:2]


def test_edit_pairs_are_close_and_not_the_same() -> None:
    documents = ["a b c d", "a b c e", "a b c d", "x y z", "d c b a"]
    documents = [document.split() for document in documents]
    pairs = {(p, t): s for p, t, s in edit_pairs(documents, 0.5)}
    assert pairs[(0, 1)] == pairs[(1, 0)] == pytest.approx(3 / 5)
    assert (0, 2) not in pairs
    assert pairs[(4, 0)] == 1.0
    assert not any(3 in pair for pair in pairs)
    assert len([p for p in edit_pairs(documents, 0.5, per_document=1) if p[1] == 1]) == 1


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="documents"):
        Retriever([])
    for options, message in (({"k": 0}, "k.*0"), ({"at_least": 1.5}, r"at_least.*1\.5")):
        with pytest.raises(ValueError, match=message):
            Retriever([["a"]]).nearest(["a"], **options)
