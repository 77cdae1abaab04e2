"""Objectives: what is read, predicted and counted, by hand and by taking it apart again; and one loss for all."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.attention import prefix_mask
from nlmcore.objectives import causal, corrupt_spans, cut, hide_tokens, masked, prefix
from nlmcore.training import next_token_loss, teacher_forcing_loss
from nlmcore.transformer import MaskedLM, TransformerLM
from tests.laws import assert_close
from tests.transformer_grid import CONFIG, TOKENS

REAL = torch.tensor([[True] * 7, [True] * 4 + [False] * 3, [True] * 2 + [False] * 5])


def test_the_rates_are_those_of_the_paper() -> None:
    tokens = torch.full((400, 500), 7)
    read, guess = hide_tokens(tokens, hidden_id=1, vocab_size=1000, generator=torch.Generator().manual_seed(0))
    n = guess.sum().item()
    assert guess.float().mean().item() == pytest.approx(0.15, abs=0.005)
    assert (read[guess] == 1).sum().item() / n == pytest.approx(0.8, abs=0.01)
    assert (read[guess] == 7).sum().item() / n == pytest.approx(0.1, abs=0.01)
    random = read[guess & (read != 1) & (read != 7)]
    assert len(random) / n == pytest.approx(0.1, abs=0.01)
    assert len(random.unique()) > 800, "random tokens come from the whole vocabulary"
    assert torch.equal(read[~guess], tokens[~guess]), "what is not to be guessed is read as it is"


def test_padding_is_never_hidden_and_the_text_is_left_alone() -> None:
    tokens = TOKENS.clone()
    read, guess = hide_tokens(tokens, 1, 11, REAL, share=1.0, generator=torch.Generator().manual_seed(0))
    assert torch.equal(guess, REAL), "a share of 1 guesses every real token"
    assert torch.equal(read[~REAL], TOKENS[~REAL])
    assert torch.equal(tokens, TOKENS)


def test_one_generator_one_result() -> None:
    def draw(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        return hide_tokens(TOKENS, 1, 11, share=0.5, generator=torch.Generator().manual_seed(seed))

    assert all(torch.equal(a, b) for a, b in zip(draw(3), draw(3), strict=True))
    assert not torch.equal(draw(3)[1], draw(4)[1])


def test_causal_is_what_teacher_forcing_does() -> None:
    torch.manual_seed(0)
    model = TransformerLM(CONFIG).eval()
    example = causal(TOKENS, REAL)
    assert torch.equal(example.targets, TOKENS[:, 1:])
    assert_close(
        teacher_forcing_loss(model, *example[:2], mask=example.mask),
        teacher_forcing_loss(model, TOKENS, mask=REAL),
        "loss",
    )


def test_of_a_prefix_nothing_is_predicted() -> None:
    example = prefix(TOKENS, torch.tensor([3, 1, 2]), REAL)
    for b, (first, end) in enumerate([(3, 7), (1, 4), (2, 2)]):
        assert example.targets[b][example.mask[b]].tolist() == TOKENS[b, first:end].tolist()
    assert torch.equal(prefix(TOKENS, torch.ones(3, dtype=torch.long)).mask, causal(TOKENS).mask), "a prefix of one"
    model = MaskedLM(CONFIG)
    seen = prefix_mask(torch.tensor([3, 1, 2]), 7)[:, :-1, :-1]
    assert next_token_loss(model(example.tokens, seen), example.targets, example.mask).isfinite()


def test_masked_predicts_the_tokens_that_were_there() -> None:
    example = masked(TOKENS, 1, 11, REAL, share=0.5, generator=torch.Generator().manual_seed(3))
    read, guess = hide_tokens(TOKENS, 1, 11, REAL, share=0.5, generator=torch.Generator().manual_seed(3))
    assert torch.equal(example.tokens, read)
    assert torch.equal(example.mask, guess)
    assert torch.equal(example.targets, TOKENS)
    model = MaskedLM(CONFIG)
    logits = model(example.tokens, REAL)
    expected = torch.nn.functional.cross_entropy(logits[guess], TOKENS[guess])
    assert_close(next_token_loss(logits, example.targets, example.mask), expected, "loss")


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 120), st.sampled_from([0.05, 0.15, 0.5, 0.9]), st.sampled_from([1.0, 3.0, 10.0]), st.integers(0, 99)
)
def test_spans_put_back_are_the_text(n: int, share: float, mean_span: float, seed: int) -> None:
    """Every sentinel of the source replaced by what follows it in the target; as many tokens and spans as announced."""
    text, sentinels = [7 + i % 50 for i in range(n)], range(100, 300)
    generator = torch.Generator().manual_seed(seed)
    row = torch.tensor([[*text, 0]])
    mask = torch.arange(n + 1)[None] < n
    batch = corrupt_spans(row, sentinels, mask, share, mean_span, generator=generator)
    target = batch.tokens[0].tolist()
    assert target[0] == 1
    assert target[-1] == 2
    spans, current = {}, None
    for token in target[1:-1]:
        if token in sentinels:
            current = token
            spans[current] = []
        else:
            spans[current].append(token)
    assert spans.pop(current) == [], "the last sentinel ends the target"
    back = [t for token in batch.source[0].tolist() for t in spans.get(token, [token])]
    assert back == text
    assert list(spans) == list(range(100, 100 + len(spans))), "in order, each once"
    if n >= 2:
        removed = min(max(round(share * n), 1), n - 1)
        assert sum(map(len, spans.values())) == removed
        assert len(spans) == min(max(round(removed / mean_span), 1), removed, n - removed)


def test_spans_of_t5() -> None:
    """512 tokens: 77 removed in 26 spans; where a text is cut is random, but every length is at least 1."""
    pieces = cut(512, 0.15, 3.0, torch.Generator().manual_seed(0))
    assert (len(pieces), sum(span for _, span in pieces), sum(map(sum, pieces))) == (26, 77, 512)
    assert min(min(piece) for piece in pieces) == 1
    assert pieces != cut(512, 0.15, 3.0, torch.Generator().manual_seed(1))
    shares = torch.tensor([cut(4, 0.5, 1.0, torch.Generator().manual_seed(seed))[0][0] for seed in range(50)])
    assert shares.eq(1).all(), "two of four tokens in two spans: x_x_"
    three = [tuple(span for _, span in cut(10, 0.4, 2.0, torch.Generator().manual_seed(s))) for s in range(60)]
    assert set(three) == {(1, 3), (2, 2), (3, 1)}, "every division occurs"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: hide_tokens(TOKENS, 11, 11), ValueError, r"hidden_id must lie in \[0, 11\), got 11"),
        (lambda: hide_tokens(TOKENS, 1, 11, share=1.1), ValueError, "share must lie"),
        (lambda: hide_tokens(TOKENS, 1, 5), ValueError, r"\[0, 5\)"),
        (lambda: hide_tokens(TOKENS, 1, 11, REAL[:1]), ValueError, r"tokens' shape \(3, 7\), got \(1, 7\)"),
        (lambda: causal(TOKENS[:, :1]), ValueError, "a token to read and one to predict"),
        (lambda: prefix(TOKENS, torch.tensor([1, 0, 2])), ValueError, "lengths must be at least 1, .* got 0"),
        (lambda: prefix(TOKENS, torch.tensor([1, 8, 2])), ValueError, r"lengths must lie in \[0, 7\]"),
        (lambda: corrupt_spans(TOKENS, [9]), ValueError, "sentinels must be at least 2 for 7 tokens, got 1"),
        (lambda: corrupt_spans(TOKENS, range(9), share=1.0), ValueError, r"share must lie in \(0, 1\), got 1"),
    ],
)
def test_what_does_not_fit_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
