"""Recipes that open SmolLM2: ablations, controls, pairs and fits are what their headers say."""

import random

import pytest
import torch

from lectures.recipes import capital_facts, early_lens, head_map, number_direction, patched_texts
from nlmcore.inspect import head, outputs, patch, pathway
from nlmcore.pretrained import smollm2


@pytest.fixture(scope="module")
def small() -> tuple[object, object]:
    model, tokenizer = smollm2()
    return head_map.shallow(model, 3), tokenizer


@torch.no_grad()
def test_each_head_in_turn_is_replaced_by_its_mean(small) -> None:
    model, _ = small
    tokens = torch.arange(40, 52).view(2, 6)
    for layer, ends in head_map.one_by_one(model, tokens):
        for k in (0, 5, 8):
            place = head(model, f"layers.{layer}.attention", k)
            with outputs(model, place) as seen:
                model.hidden_states(tokens)
            with patch(model, {place: seen[0].mean((0, 1))}), pathway(model) as branches:
                model.hidden_states(tokens)
            assert torch.allclose(ends[k], branches[-1].result, rtol=1e-3, atol=2e-3)


def test_a_name_needs_more_than_the_controls() -> None:
    looks = {name: torch.zeros(18, 5) for name in head_map.TESTS}
    looks["induction"][3], looks["first token"][[0, 4]] = 0.4, 0.6
    looks["previous token"][4] = 0.29
    candidates = [head_map.candidate(looks, i) for i in range(18)]
    assert [candidates[i] for i in (0, 3, 4, 5)] == ["first token", "induction", "first token", ""]
    generator = torch.Generator().manual_seed(0)
    change = torch.rand(18, 5, generator=generator).double()
    assert not head_map.tested(change, candidates, 3, 9)["passes"]
    assert not head_map.tested(change, candidates, 0, 9)["passes"]
    change[3] += 3
    assert head_map.tested(change, candidates, 3, 9)["passes"]
    change[0] -= 3
    assert head_map.tested(change, candidates, 0, 9)["passes"], "one that should do nothing must change less"
    change[3] = torch.nan
    assert (
        head_map.tested(change, candidates, 3, 9)["difference"] != head_map.tested(change, candidates, 3, 9)["passes"]
    )
    assert not head_map.tested(change, candidates, 3, 9)["passes"]


def test_verses_are_lines_of_test_plays_with_their_punctuation(small) -> None:
    _, tokenizer = small
    tokens, marks = head_map.verses(tokenizer, 20, 4)
    assert tokens.shape == marks.shape == (4, 20)
    assert len({tuple(row) for row in tokens.tolist()}) == 4
    for row, mark in zip(tokens.tolist(), marks.tolist(), strict=True):
        for i, yes in zip(row, mark, strict=True):
            assert yes != any(letter.isalnum() for letter in tokenizer.decode([i]))


def test_every_corruption_asks_for_another_capital() -> None:
    answers = torch.tensor([5, 6, 7, 5, 8])
    for seed in range(20):
        order = capital_facts.shifted(answers, random.Random(seed))
        assert sorted(order) == list(range(5))
        assert (answers[order] != answers).all()


def test_a_fitted_map_finds_a_linear_one_and_no_more_than_there_is() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 6, generator=generator)
    B, b = torch.randn(6, 4, generator=generator), torch.randn(4, generator=generator)
    found, shift = early_lens.fitted(x, x @ B + b, ridge=1e-9)
    assert torch.allclose(found, B, atol=1e-4)
    assert torch.allclose(shift, b, atol=1e-4)
    none, mean = early_lens.fitted(
        torch.randn(4000, 6, generator=generator), torch.randn(4000, 4, generator=generator) + 2
    )
    assert none.abs().max() < 0.1
    assert torch.allclose(mean, torch.full((4,), 2.0), atol=0.1)


def test_nouns_are_one_token_and_other_verbs_are_apart(small) -> None:
    _, tokenizer = small
    singular, plural = number_direction.prompts(tokenizer)
    assert singular.shape == plural.shape
    assert len(singular) == 40
    assert (singular[:, 0] == plural[:, 0]).all()
    assert len(set(singular[:, 1].tolist() + plural[:, 1].tolist())) == 80


def test_pairs_of_texts_differ_in_one_token(small) -> None:
    _, tokenizer = small
    for clean, corrupted, *answers in patched_texts.PAIRS.values():
        one, other = (torch.tensor(tokenizer.encode(text)) for text in (clean, corrupted))
        assert len(one) == len(other)
        assert int((one != other).sum()) == 1
        assert len({tokenizer.encode(answer)[0] for answer in answers}) == 2
    for word in patched_texts.OTHERS:
        assert len(tokenizer.encode(patched_texts.LONG.format(word))) == len(one)
