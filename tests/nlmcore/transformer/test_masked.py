"""MaskedLM, and an encoder under the masks of the three families."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from nlmcore.attention import causal_mask, prefix_mask
from nlmcore.transformer import MaskedLM, TransformerEncoder, TransformerLM
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


@torch.no_grad()
@pytest.mark.parametrize("name", ["pre", "post", "sinusoidal", "rotary", "grouped"])
def test_under_a_causal_mask_an_encoder_is_a_language_model(name: str) -> None:
    """The decoder of the same weights, which was built to be causal, is the oracle."""
    lm = lively(TransformerLM(config_of(name)))
    encoder = TransformerEncoder(config_of(name)).double().eval()
    encoder.load_state_dict({n: w for n, w in lm.state_dict().items() if not n.startswith("output")})
    assert_close(encoder(TOKENS, causal_mask(7).expand(3, 7, 7)), lm.hidden_states(TOKENS)[0], name, TOLERANCE)


@torch.no_grad()
@pytest.mark.parametrize("mask", ["full", "causal", "prefix"])
def test_a_mask_says_which_past_moves_which_position(mask: str) -> None:
    """What a position depends on is its row of the mask, by moving one token at a time; two layers keep these masks."""
    model = lively(MaskedLM(CONFIG))
    pairs = {
        "full": torch.ones(1, 7, 7, dtype=torch.bool),
        "causal": causal_mask(7)[None],
        "prefix": prefix_mask(torch.tensor([3]), 7),
    }[mask]
    before, seen = model(TOKENS[:1], pairs), torch.zeros_like(pairs)
    for j in range(7):
        changed = TOKENS[:1].clone()
        changed[0, j] = (changed[0, j] + 1) % 11
        seen[0, :, j] = (model(changed, pairs) - before)[0].abs().amax(-1) > 1e-9
    assert torch.equal(seen, pairs)
    if mask == "full":
        assert_close(before, model(TOKENS[:1]), "no mask")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: MaskedLM(CONFIG)(TOKENS, REAL[:, :3]),
            ValueError,
            r"tokens' shape \(3, 7\), got \(3, 3\)",
        ),
        (
            lambda: MaskedLM(CONFIG)(TOKENS, REAL[:, :, None]),
            ValueError,
            r"mask of pairs must have shape \(3, 7, 7\), got \(3, 7, 1\)",
        ),
    ],
)
def test_what_does_not_fit_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
