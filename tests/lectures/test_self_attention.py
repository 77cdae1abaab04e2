"""What the functions of the lecture do, and what its cells compute."""

import math

import pytest
import torch


def test_heads_that_tie_are_averaged(ran: dict) -> None:
    found = ran["found"]
    for label, row in ran["table"].items():
        chosen, tested = (torch.stack([edge[0] for edge in found[label, half]]).float().mean(0) for half in (0, 1))
        tied = [12 * int(layer) + int(head) for layer, head in (name.split(".") for name in row["best"])]
        assert tied == (chosen == chosen.max()).nonzero().flatten().tolist()
        assert row["tested on"] == pytest.approx(tested[tied].mean().item())


def test_the_parsed_sentences_are_trees(ran: dict) -> None:
    lines = ran["PARSED"].split("\n")[1:-1]
    assert len(lines) == 16
    for line in lines:
        words, edges = ran["parsed"](line)
        assert len(edges) == len(words) - 1, "one root, and one edge from every other word"
        up = {word: head for word, head, _ in edges}
        for word in range(len(words)):
            seen = set()
            while word in up:
                assert word not in seen, f"a circle in {line}"
                seen.add(word)
                word = up[word]


def test_a_layer_by_hand(ran: dict) -> None:
    share = math.exp(2) / (math.exp(2) + 2)
    one, two = ran["heads"]
    assert one[1, 2].item() == pytest.approx(share)
    assert two[1, 3].item() == pytest.approx(share)


def test_the_leak(ran: dict) -> None:
    assert sum(ran["honest"]["with the mask"]) / 15 == pytest.approx(math.log(10), abs=0.02)
    _, leaky = ran["moved"]
    assert all(leaky[t].argmax() == t - 1 for t in range(1, 16)), "the position that copies changes most"


def test_masks_with_nothing_to_read(ran: dict) -> None:
    assert ran["textbook"][0, 0, :2].isnan().all()
    assert ran["masked_softmax"](ran["scores"], ran["both"])[0, 0].sum(-1).tolist() == pytest.approx([0, 0, 1, 1])


def test_the_students_mask_is_right(ran: dict) -> None:
    assert all(torch.equal(ran["my_mask"](n), ran["causal_mask"](n)) for n in (1, 2, 7))
