"""A finished table, and the questions that the recipe puts to it."""

import torch

from lectures.recipes.word_vectors import QUESTIONS, ask, whole_words
from nlmcore.word2vec import WordVectors


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
