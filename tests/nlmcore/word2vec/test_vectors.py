"""A finished table; nearest words and analogies on vectors whose answers are known; the recipe's questions."""

import pytest
import torch
from torch.nn.functional import normalize

from lectures.recipes.word_vectors import QUESTIONS, ask, whole_words
from nlmcore.word2vec import WordVectors, analogy, nearest

VECTORS = torch.tensor([[0.0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [9, 0, 9, 0], [0, 0, 0, 2]])


def test_the_formula_by_loops() -> None:
    vectors = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))
    e = [v / v.norm() for v in vectors]
    target = e[2] - e[0] + e[1]
    cosines = {w: float(e[w] @ target / target.norm()) for w in range(9) if w not in (0, 1, 2)}
    best = sorted(cosines.items(), key=lambda item: -item[1])
    found = analogy(vectors, 0, 1, 2, k=6)
    assert [w for w, _ in found] == [w for w, _ in best]
    assert [c for _, c in found] == pytest.approx([c for _, c in best], abs=1e-6)
    unit = normalize(vectors, dim=1)
    assert nearest(vectors, 3, 8)[0][1] == pytest.approx(max(float(unit[3] @ unit[w]) for w in range(9) if w != 3))


def test_bad_questions_are_named() -> None:
    for call, message in [
        (lambda: nearest(VECTORS, 5), "word"),
        (lambda: nearest(VECTORS, 0, 5), r"k must be in \[1, 4\]"),
        (lambda: analogy(VECTORS, 0, -1, 2), "b must be"),
        (lambda: analogy(VECTORS, 0, 1, 2, 3), r"k must be in \[1, 2\]"),
        (lambda: analogy(VECTORS[:3], 0, 1, 2), "vectors must hold a word beside"),
        (lambda: nearest(VECTORS[:1], 0), "vectors must hold a word beside"),
        (lambda: analogy(VECTORS * torch.nan, 0, 1, 2), "vectors must be finite"),
        (lambda: nearest(VECTORS / 0, 0), "vectors must be finite"),
        (lambda: analogy(VECTORS[:, 0], 0, 1, 2), r"vectors must have shape \(vocab, d_model\)"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            call()


def test_ten_answers_or_as_many_as_there_are() -> None:
    assert nearest(VECTORS, 0) == nearest(VECTORS, 0, 4)
    assert len(nearest(torch.eye(20), 0)) == 10


def test_a_lookup_is_a_product_with_a_one_hot_vector() -> None:
    torch.manual_seed(2)
    table = WordVectors(7, 3)
    tokens = torch.tensor([[4, 0], [6, 6]])
    one_hot = torch.nn.functional.one_hot(tokens, 7).float()
    torch.testing.assert_close(table(tokens), one_hot @ table.vectors)
    assert not table.vectors.requires_grad


def test_questions_are_counted_as_they_are_answered() -> None:
    words = ["man", "woman", "king", "queen", "cheese", "stone"]
    vectors = torch.tensor([[1.0, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [-1, 0, 0], [-1, 0, -1]])
    found = ask(vectors, {w: i for i, w in enumerate(words)}, dict(enumerate(words)))
    assert found["asked"] == found["right"] == 1
    assert found["by_kind"]["man and woman"] == [1, 1]
    assert found["answers"]["man woman king queen"][0] == "queen"
    assert found["answers"]["paris france london england"] is None
    assert found["nearest_to_c_right"] == 1
    assert all(len(question.split()) == 4 for questions in QUESTIONS.values() for question in questions)


def test_whole_words_are_those_of_small_letters() -> None:
    table, ids, names = whole_words(["[PAD]", "king", "##s", "Über", "queen"], torch.arange(10.0).view(5, 2))
    assert names == {0: "king", 1: "queen"}
    assert ids["queen"] == 1
    assert table.tolist() == [[2, 3], [8, 9]]
