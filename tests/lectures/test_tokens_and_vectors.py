"""What the functions and tables of the lecture `tokens_and_vectors` must do."""

import math

import pytest
import torch

from lectures.trained import checkpoint
from nlmcore.word2vec import analogy, nearest


def test_the_table_is_the_output_layer_too(ran: dict) -> None:
    assert torch.allclose(ran["scores"], ran["logits"][0, -1], atol=1e-4)


def test_your_loss_begins_right(ran: dict) -> None:
    for real, noise in ((0.0, [0.0]), (2.0, [1.0, -3.0])):
        assert ran["my_loss"](real, noise) == pytest.approx(ran["negative_sampling_loss"](real, noise))


def test_the_counts_are_those_of_a_loop(ran: dict) -> None:
    texts = [["the", "king", "and", "the", "queen"], ["king", "queen"], ["zounds", "the", "king"]]
    counts, ids = ran["company"](texts, 2), ran["ids"]
    expected = torch.zeros(len(ids), len(ids), dtype=torch.long)
    for text in texts:
        for i, a in enumerate(text):
            for j, b in enumerate(text):
                if 0 < abs(i - j) <= 2 and a in ids and b in ids:
                    expected[ids[a], ids[b]] += 1
    assert (torch.tensor(counts) == expected).all()


def test_it_learns(ran: dict) -> None:
    assert ran["losses"] == sorted(ran["losses"], reverse=True)


def test_arrows_of_a_square_are_parallel(ran: dict) -> None:
    square = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    assert ran["parallel"](torch.tensor([0, 1]), torch.tensor([2, 3]), square) == pytest.approx(1)


def test_the_widget_answers_as_the_package_does(ran: dict) -> None:
    model, tokenizer, _ = checkpoint("word_vectors")
    ids = [tokenizer.encode(word)[0] for word in ("man", "woman", "king")]
    first = analogy(model.vectors, *ids, 3)
    given = ran["tables"]["Shakespeare"]("man", "woman", "king", True)[:3]
    assert [word for word, _ in given] == [tokenizer.vocabulary[i] for i, _ in first]
    assert [cosine for _, cosine in given] == pytest.approx([cosine for _, cosine in first], abs=1e-5)
    assert ran["tables"]["Shakespeare"]("man", "woman", "king", False)[0][0] in ("king", "woman")
    words, near_king = ran["words"], ran["near"]["learned (skip-gram)"]("king")
    rows = model.vectors[[tokenizer.encode(word)[0] for word in words]]
    assert [word for word, _ in near_king] == [words[i] for i, _ in nearest(rows, words.index("king"), 8)]


def test_the_measure_of_ethayarajh(ran: dict) -> None:
    together = ran["joint"][ran["ids"]["i"], ran["ids"]["my"]]
    single = (math.log(ran["single"][ran["ids"][word]]) for word in ("i", "my"))
    assert ran["cs_pmi"]("i", "my") == pytest.approx(2 * math.log(together) - sum(single), abs=1e-4)
