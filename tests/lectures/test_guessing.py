"""Shannon's game: keys, a model's guesses, and the two bounds."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lectures.recipes.guessing import KEYS, entropy_bounds, guess_ranks, key_log_probabilities, key_of
from nlmcore.ngram import NGramLM
from nlmcore.tokens import CharTokenizer


@pytest.mark.parametrize(
    ("character", "key"),
    [("a", "a"), ("Q", "q"), ("é", "e"), ("\n", " "), ("\t", " "), ("?", "."), ("7", "."), ("ß", ".")],
)
def test_every_character_has_a_key(character: str, key: str) -> None:
    assert KEYS[key_of(character)] == key


def naive_bounds(guesses: list[int], symbols: int) -> tuple[float, float]:
    q = [guesses.count(i) / len(guesses) for i in range(1, symbols + 1)] + [0.0]
    lower = sum(i * (q[i - 1] - q[i]) * math.log2(i) for i in range(1, symbols + 1))
    return lower, -sum(p * math.log2(p) for p in q if p)


@given(st.lists(st.integers(1, 28), min_size=1, max_size=60))
def test_the_bounds_are_shannons(guesses: list[int]) -> None:
    assert entropy_bounds(guesses) == pytest.approx(naive_bounds(guesses, 28), abs=1e-9)


def test_bounds_at_both_ends() -> None:
    assert entropy_bounds([1, 1, 1]) == (0.0, 0.0)
    flat = entropy_bounds(list(range(1, 29)))
    assert flat == pytest.approx((math.log2(28), math.log2(28))), "28 equally likely keys"
    assert entropy_bounds([1, 2, 1, 1], symbols=2).upper == pytest.approx(0.8112781)
    for wrong in ([], [0], [29]):
        with pytest.raises(ValueError, match="1 to symbols=28"):
            entropy_bounds(wrong)


def test_ranks_count_guesses_and_ties_go_to_the_first_key() -> None:
    scores = torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    assert guess_ranks(scores, torch.tensor([0, 0, 1])).tolist() == [3, 1, 2]
    with pytest.raises(ValueError, match="must fit"):
        guess_ranks(scores, torch.tensor([0]))


def test_a_model_plays_with_the_sums_over_its_characters() -> None:
    text = "To be, or not to be!\nTo sleep."
    tokenizer = CharTokenizer.fit(text)
    model = NGramLM(2, tokenizer.vocab_size).fit([[tokenizer.bos, *tokenizer.encode(text), tokenizer.eos]])
    scores = key_log_probabilities(model, tokenizer, text, chunk=7)
    assert scores.shape == (len(text), len(KEYS))
    torch.testing.assert_close(scores.exp().sum(1), torch.ones(len(text)))
    t_small, t_large = (tokenizer.encode(c)[0] for c in "tT")
    here = [tokenizer.bos, *tokenizer.encode(text)][:7]
    by_hand = model.probability(t_small, here) + model.probability(t_large, here)
    assert scores[6, KEYS.index("t")].exp().item() == pytest.approx(by_hand, rel=1e-4)
    torch.testing.assert_close(scores, key_log_probabilities(model, tokenizer, text))
    with pytest.raises(ValueError, match="one id per character"):
        key_log_probabilities(model, tokenizer, "")
