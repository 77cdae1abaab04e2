"""NGramLM as a language model, what it accepts as text, what it refuses, and its file."""

import numpy as np
import pytest
import torch

from nlmcore.ngram import SMOOTHINGS, NGramLM
from tests.laws import assert_language_model

V = 11
TRAIN = torch.randint(0, V - 1, (300,), generator=torch.Generator().manual_seed(0))
TOKENS = torch.randint(0, V, (3, 7), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("order", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_language_model_laws(order: int, smoothing: str) -> None:
    assert_language_model(NGramLM(order, V, smoothing).fit(TRAIN), TOKENS)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_logits_scores_and_probabilities_are_one_thing(smoothing: str) -> None:
    model = NGramLM(4, V, smoothing).fit(TRAIN)
    logits, _ = model(TOKENS)
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(3, 7))
    scores = model.log_probabilities(TOKENS)
    torch.testing.assert_close(scores[:, 1:], logits[:, :-1].gather(2, TOKENS[:, 1:, None])[..., 0])
    for t in range(7):
        expected = model.probability(int(TOKENS[1, t]), TOKENS[1, :t])
        assert scores[1, t].exp().item() == pytest.approx(expected, rel=1e-5)
    _, state = model(TOKENS[:, :5])
    torch.testing.assert_close(model.log_probabilities(TOKENS[:, 5:], state), scores[:, 5:])


def test_a_large_vocabulary_is_filled_in_chunks() -> None:
    vocab = 50_000
    tokens = torch.randint(0, vocab, (1, 40), generator=torch.Generator().manual_seed(0))
    model = NGramLM(3, vocab).fit(tokens.repeat(2, 1))
    logits, _ = model(tokens)
    for t in (0, 7, 39):
        torch.testing.assert_close(
            logits[0, t].exp().double(), model.distribution(tokens[0, : t + 1]), rtol=1e-5, atol=0
        )


def test_state_is_the_last_tokens() -> None:
    model = NGramLM(4, V).fit(TRAIN)
    _, state = model(TOKENS[:, :2])
    assert torch.equal(state, TOKENS[:, :2])
    _, state = model(TOKENS[:, 2:], state)
    assert torch.equal(state, TOKENS[:, 4:])
    assert NGramLM(1, V).fit(TRAIN)(TOKENS)[1].shape == (3, 0)


def test_only_the_last_words_of_a_context_count() -> None:
    model = NGramLM(3, V).fit(TRAIN)
    assert model.probability(4, [9, 8, 1, 2]) == model.probability(4, torch.tensor([1, 2]))


def test_every_form_of_text_counts_the_same() -> None:
    rows = [[1, 2, 3, 1], [2, 3, 1, 2]]
    forms = [rows, torch.tensor(rows), np.array(rows), [np.array(r) for r in rows], [torch.tensor(r) for r in rows]]
    forms += [tuple(map(tuple, rows)), iter(rows), torch.tensor(rows, dtype=torch.int32)]
    expected = NGramLM(3, V).fit(rows)(TOKENS)[0]
    for form in forms:
        assert torch.equal(NGramLM(3, V).fit(form)(TOKENS)[0], expected)
    stream = NGramLM(3, V).fit([1, 2, 3, 1, 2, 3, 1, 2])  # across the boundary there is one more trigram
    assert not torch.equal(stream(TOKENS)[0], expected)
    assert torch.equal(NGramLM(3, V).fit([[1, 2, 3, 1, 2, 3, 1, 2]])(TOKENS)[0], stream(TOKENS)[0])


def test_sequences_do_not_cross() -> None:
    model = NGramLM(2, V, "mle").fit([[1, 2], [3, 4, 5]])
    assert model.probability(2, [1]) == 1
    assert model.probability(3, [2]) == pytest.approx(1 / V)  # nothing ever followed 2


@pytest.mark.parametrize(
    ("message", "arguments", "options"),
    [
        ("order", (0, V), {}),
        ("order", (8, V), {}),
        ("vocab_size", (2, 0), {}),
        ("smoothing must be one of", (2, V, "good"), {}),
        ("discount", (2, V, "kneser_ney"), {"discount": 1.5}),
        ("discount", (2, V, "witten_bell"), {"discount": 0.5}),
        ("pseudocount", (2, V, "additive"), {"pseudocount": -1.0}),
        ("factor", (2, V, "stupid_backoff"), {"factor": 1.4}),
        ("base", (2, V, "kneser_ney"), {"base": "bigram"}),
        ("weights", (2, V, "interpolation"), {"weights": [0.5, 0.6]}),
        ("weights", (2, V, "interpolation"), {"weights": [1.5, -0.5]}),
        ("weights", (2, V, "interpolation"), {"weights": [1.0]}),
        ("weights", (2, V, "interpolation"), {"weights": 0.5}),
        ("weights", (2, V, "interpolation"), {"weights": [0.2, 0.3, 0.5], "base": "unigram"}),
    ],
)
def test_bad_settings_are_named(message: str, arguments: tuple, options: dict) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        NGramLM(*arguments, **options)


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ("at least one token", []),
        ("at least one token", torch.tensor([], dtype=torch.long)),
        (r"tokens\[1\].*empty sequence", [[1, 2], [], [3]]),
        ("integer ids, got float", [1.0, 2.0]),
        ("integer ids, got float", torch.rand(4)),
        ("integer ids, got bool", torch.tensor([True, False])),
        ("integer ids", ["a", "b"]),
        ("tokens must be.*mixed", [1, [2]]),
        ("got NoneType", None),
        (r"ids in \[0, 11\).*from 1 to 11", [1, 11]),
        (r"ids in \[0, 11\).*from -1 to 2", [[2], [-1]]),
        ("shape", torch.zeros(2, 2, 2, dtype=torch.long)),
    ],
)
def test_bad_text_is_named(message: str, tokens: object) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        NGramLM(2, V).fit(tokens)


def test_bad_questions_are_named() -> None:
    model = NGramLM(3, V).fit(TRAIN)
    for arguments, message in [
        ((V, []), r"word must be in \[0, 10\], got 11"),
        ((-1, []), "word"),
        ((1, [0, 12]), r"context\[1\] must be in"),
        ((1, torch.zeros(1, 2, dtype=torch.long)), "context"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            model.probability(*arguments)
    for tokens in (
        torch.zeros(2, 0, dtype=torch.long),
        torch.zeros(3, dtype=torch.long),
        torch.full((1, 2), V),
        torch.ones(1, 2),
    ):
        for call in (model, model.log_probabilities):
            with pytest.raises((ValueError, TypeError), match="tokens"):
                call(tokens)
    for state in (TOKENS[:2, :2], TOKENS[:, :3], TOKENS[:, :2].float(), TOKENS[0, :2], torch.full((3, 2), V), [1, 2]):
        with pytest.raises((ValueError, TypeError), match="state"):
            model(TOKENS, state)
    with pytest.raises(ValueError, match="heldout"):
        model.fit(TRAIN, heldout=TRAIN)
    with pytest.raises(ValueError, match="heldout must be ids"):
        NGramLM(2, V, "interpolation").fit(TRAIN, heldout=[V])
    with pytest.raises(RuntimeError, match="fit"):
        NGramLM(2, V).probability(1, [2])
