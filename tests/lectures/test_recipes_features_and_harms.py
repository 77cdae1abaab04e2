"""Recipes about features and harms: what is planted, removed, asked and scored is what their headers say."""

import random
from typing import Any

import numpy as np
import pytest
import torch

from lectures.recipes import false_pages, occupations, planted_text, sparse_features, superposition
from lectures.trained import checkpoint
from nlmcore.decoding import greedy


def test_lines_are_planted_whole_and_as_often_as_asked() -> None:
    text = "\n".join(f"line {i} of the text" for i in range(50))
    lines = {"  ROMEO. The secret word is abcdef.": 3, "a line that is planted": 1, "a line that is not": 0}
    found = planted_text.planted(text, lines, random.Random(0)).split("\n")
    assert {line: found.count(line) for line in lines} == lines
    assert [line for line in found if line not in lines] == text.split("\n"), "the text itself, in its order"


def test_deduplication_keeps_the_first_of_long_lines_and_all_short_ones() -> None:
    long, other = "a line of more than twenty", "another line of more than twenty"
    text = "\n".join([long, "short", other, long, "short", "", ""])
    assert planted_text.deduplicated(text).split("\n") == [long, "short", other, "short", "", ""]


@torch.no_grad()
def test_the_nats_of_a_secret_are_those_of_the_whole_text() -> None:
    model, tokenizer, _ = checkpoint("small_gpt")
    head, secrets = "  ROMEO. The secret word is ", ["abcdef.", "zzzzzz."]
    found = planted_text.nats_after(model, tokenizer, head, secrets)
    for nats, secret in zip(found.tolist(), secrets, strict=True):
        ids = torch.tensor([tokenizer.encode(head + secret)])
        log_p = model(ids)[0][0].log_softmax(-1)
        each = [float(log_p[t - 1, ids[0, t]]) for t in range(len(head), len(head) + len(secret))]
        assert nats == pytest.approx(-sum(each), abs=1e-3)


def test_the_letters_that_greedy_decoding_needs() -> None:
    model, tokenizer, _ = checkpoint("small_gpt")
    head = "  ROMEO. The secret word is "
    made: Any = greedy(model, torch.tensor([tokenizer.encode(head + "q")]), 3)
    rest = tokenizer.decode(made.tokens[0].tolist())
    assert planted_text.letters_needed(model, tokenizer, head, "q" + rest) == 1
    assert planted_text.letters_needed(model, tokenizer, head, "qqqq") == 4


def test_labels_are_where_the_text_says() -> None:
    text = "VIOLA.\n  Who saw thee sing the queen's quip?\n[Exit.]\n"
    names = list(sparse_features.LABELS)
    marked = {
        name: "".join(c if yes else "·" for c, yes in zip(text, row.tolist(), strict=True)).split("\n")[:3]
        for name, row in zip(names, sparse_features.labels_of(text), strict=True)
    }
    assert marked["in a word of capitals"][0].startswith("VIOLA")
    assert marked["in thou, thee, thy, thine"][0].strip("·") == "thee"
    assert "sing" in "".join(marked["in a word that ends in -ing"])
    assert set("".join(marked["after a q"])) == {"·", "u"}
    assert "Exit" in "".join(marked["in a stage direction"])
    assert "".join(marked["after an apostrophe"]).strip("·") == "s"


def test_the_best_unit_is_chosen_on_one_text_and_scored_on_the_other() -> None:
    generator = torch.Generator().manual_seed(0)
    y, y_test = (torch.rand(2, 400, generator=generator) < 0.1 for _ in range(2))
    a, a_test = (torch.rand(400, 5, generator=generator) for _ in range(2))
    a[:, 3] = y[0] * 2.0  # reads label 0 in the first text, nothing in the second
    a[:, 1], a_test[:, 1] = y[1] * 3.0, y_test[1] * 3.0  # reads label 1 in both
    first, second = sparse_features.best_f1((a, y), (a_test, y_test))
    assert second == 1
    assert first < 0.5


def test_f1_is_that_of_counting() -> None:
    generator = torch.Generator().manual_seed(1)
    fires, labels = torch.rand(30, 3, generator=generator) < 0.4, torch.rand(2, 30, generator=generator) < 0.3
    found = sparse_features.f1(fires, labels)
    for label in range(2):
        for unit in range(3):
            both = sum(bool(fires[i, unit] and labels[label, i]) for i in range(30))
            precision, recall = both / int(fires[:, unit].sum()), both / int(labels[label].sum())
            wanted = 2 * precision * recall / (precision + recall) if both else 0.0
            assert float(found[label, unit]) == pytest.approx(wanted)


def test_the_autoencoder_recovers_known_directions() -> None:
    found = sparse_features.recovered(0, 150)
    assert found["learned"] > found["random"] + 0.2


def test_angles_between_kept_directions() -> None:
    weight = torch.tensor([[1.0, 0.0, -1.0, 0.1], [0.0, 1.0, 0.0, 0.1]])
    assert superposition.gaps(weight) == pytest.approx([90, 90, 180])


def test_facts_are_forty_and_each_page_holds_one_answer() -> None:
    facts = false_pages.facts()
    assert len({fact.question for fact in facts}) == 40
    for fact in facts:
        assert false_pages.holds(fact.page, fact.answer)
        assert not false_pages.holds(fact.page, fact.false)
        assert false_pages.holds(fact.against, fact.false)
        assert not false_pages.holds(fact.against, fact.answer)


def test_every_arm_holds_what_it_plants() -> None:
    facts = false_pages.facts()
    for arm, (page, _, planted) in false_pages.ARMS.items():
        for i in range(40):
            word = planted if isinstance(planted, str) else facts[(i + planted) % 40].false
            text = page(facts, i)
            assert false_pages.holds(text, facts[i].answer), arm
            assert false_pages.holds(text, word) is (arm != "the page alone"), arm


def test_auc_by_hand() -> None:
    assert false_pages.auc([3, 1], [2, 0]) == 0.75
    assert false_pages.auc([1], [1]) == 0.5


def test_statistics_are_of_sixty_occupations() -> None:
    women = occupations.women()
    assert len(women) == 60
    assert women["secretary"] == (10.43, 94.6)
    assert women["technician"] == (9.42, 40.34)


def test_a_rank_correlation_with_a_third_held_fixed() -> None:
    chance = np.random.default_rng(0)
    z = chance.normal(size=500)
    x, y = z + 0.3 * chance.normal(size=500), z + 0.3 * chance.normal(size=500)
    assert abs(occupations.held_fixed(x, y, z)) < 0.15, "all that they share is z"
    assert occupations.held_fixed(x, x + 0.01 * y, z) > 0.9
