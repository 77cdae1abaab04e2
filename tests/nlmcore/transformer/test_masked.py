"""MaskedLM and what it learns from: hidden tokens."""

import dataclasses
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from nlmcore.transformer import MaskedLM, hide_tokens
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.transformer_grid import CHANGES, CONFIG, TOKENS, TOLERANCE, config_of, lively

REAL = torch.tensor([[True] * 7, [True] * 4 + [False] * 3, [True] * 2 + [False] * 5])


@pytest.mark.parametrize("name", CHANGES)
def test_every_configuration_guesses_from_both_sides_and_not_from_padding(name: str) -> None:
    model = lively(MaskedLM(config_of(name)))
    logits = model(TOKENS, REAL)
    assert logits.shape == (3, 7, 11)
    assert_every_parameter_gets_a_gradient(model, logits)
    with torch.no_grad():
        other = TOKENS.masked_fill(~REAL, 3)
        assert_close(model(other, REAL)[REAL], logits[REAL], "whatever stands in the padding", TOLERANCE)
        changed = TOKENS.clone()
        changed[0, 6] = 9
        assert (model(changed, REAL)[0, 0] - logits[0, 0]).abs().max() > 1e-6, "the first token sees the last"


def test_the_head_is_its_equation() -> None:
    """softmax(LN(φ(W h + b)) Eᵀ + c), without softmax."""
    model = lively(MaskedLM(CONFIG))
    with torch.no_grad():
        h = model.encoder(TOKENS)
        inner = F.gelu(h @ model.transform.weight.T + model.transform.bias)
        by_hand = model.norm(inner) @ model.encoder.embedding.weight.T + model.bias
        assert_close(model(TOKENS), by_hand, "logits", TOLERANCE)


def test_it_learns_to_copy_from_the_other_side(plain_errors: None) -> None:
    """Each text is a palindrome of six tokens: what is hidden stands at the mirror place, before or behind."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    model = MaskedLM(dataclasses.replace(CONFIG, d_model=24, n_heads=3, d_ff=None))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(250):
        half = torch.randint(2, 11, (32, 3), generator=generator)
        text = torch.cat([half, half.flip(1)], dim=1)
        read, guess = hide_tokens(text, hidden_id=1, vocab_size=11, share=0.2, generator=generator)
        loss = F.cross_entropy(model(read)[guess], text[guess])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    late = sum(losses[-30:]) / 30
    assert late < 1.2, f"chance is ln 9 = 2.2; reached {late:.2f}"
    half = torch.randint(2, 11, (64, 3), generator=generator)
    text = torch.cat([half, half.flip(1)], dim=1)
    for place in range(6):
        read = text.clone()
        read[:, place] = 1
        with torch.no_grad():
            right = (model(read)[:, place].argmax(-1) == text[:, place]).float().mean().item()
        assert right > 0.9, f"place {place}: {right:.2f} right"


# --- hide_tokens ----------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: hide_tokens(TOKENS, 11, 11), ValueError, r"hidden_id must lie in \[0, 11\), got 11"),
        (lambda: hide_tokens(TOKENS, -1, 11), ValueError, "hidden_id must be at least 0, got -1"),
        (lambda: hide_tokens(TOKENS, 1.5, 11), TypeError, "hidden_id must be an integer"),
        (lambda: hide_tokens(TOKENS, 1, 11, share=0), ValueError, "share must be above 0, got 0"),
        (lambda: hide_tokens(TOKENS, 1, 11, share=1.1), ValueError, "share must lie"),
        (lambda: hide_tokens(TOKENS, 1, 11, share="all"), TypeError, "share must be a number"),
        (lambda: hide_tokens(TOKENS, 1, 5), ValueError, r"\[0, 5\)"),
        (lambda: hide_tokens(TOKENS.float(), 1, 11), TypeError, "LongTensor"),
        (lambda: hide_tokens(TOKENS, 1, 11, REAL[:1]), ValueError, r"tokens' shape \(3, 7\), got \(1, 7\)"),
        (lambda: hide_tokens(TOKENS, 1, 11, REAL.long()), TypeError, "boolean"),
        (lambda: MaskedLM(CONFIG)(TOKENS, REAL[:, :3]), ValueError, "tokens' shape"),
        (lambda: hide_tokens(TOKENS, 1, "11"), TypeError, "vocab_size must be an integer, got str '11'"),
        (
            lambda: hide_tokens(TOKENS, 1, 11, generator=7),
            TypeError,
            "generator must be a torch.Generator, got int",
        ),
        (lambda: MaskedLM(CONFIG)(TOKENS + 5), ValueError, r"\[0, 11\)"),
        (lambda: MaskedLM(3), TypeError, "config must be a TransformerConfig, got int"),
    ],
)
def test_what_does_not_fit_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
