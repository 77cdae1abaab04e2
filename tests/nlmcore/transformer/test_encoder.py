"""TransformerEncoder: padding invariance on every configuration, and agreement with torch.nn with copied weights."""

from typing import Any

import pytest
import torch

from nlmcore.transformer import TransformerEncoder
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.transformer_grid import CHANGES, CONFIG, TOKENS, TOLERANCE, config_of, lively

LENGTHS = torch.tensor([7, 4, 1])
REAL = torch.arange(9) < LENGTHS[:, None]
PADDED = torch.cat([TOKENS, TOKENS[:, :2]], dim=1) * REAL


@pytest.mark.parametrize("name", CHANGES)
def test_padding_changes_nothing(unchecked: None, name: str) -> None:
    model = lively(TransformerEncoder(config_of(name)))
    with torch.no_grad():
        together = model(PADDED, REAL)
        for row, length in enumerate(LENGTHS.tolist()):
            alone = model(TOKENS[row : row + 1, :length])
            assert_close(together[row, :length], alone[0], f"{length} real tokens, padded and not", TOLERANCE)
        other = PADDED.masked_fill(~REAL, 5)
        assert_close(model(other, REAL)[REAL], together[REAL], "whatever stands in the padding", TOLERANCE)
        assert (model(PADDED)[REAL] - together[REAL]).abs().max() > 1e-3, "without a mask the padding must be seen"


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_gets_a_gradient_with_and_without_padding(name: str) -> None:
    for mask in (None, REAL):
        model = lively(TransformerEncoder(config_of(name)))
        hidden = model(PADDED, mask)
        assert_every_parameter_gets_a_gradient(model, hidden[REAL])
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("name", ["pre", "post", "Shaw", "T5", "Transformer-XL", "grouped"])
def test_a_text_that_is_all_padding_gives_numbers(name: str) -> None:
    """Nothing to attend to gives zeros, never NaN, and leaves no NaN in a gradient."""
    model = lively(TransformerEncoder(config_of(name)))
    mask = REAL.clone()
    mask[1] = False
    hidden = model(PADDED, mask)
    assert torch.isfinite(hidden).all()
    hidden.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())
    with torch.no_grad():
        assert_close(hidden[[0, 2]], model(PADDED, REAL)[[0, 2]], "the other rows", TOLERANCE)


def test_embeddings_are_scaled_where_asked() -> None:
    plain, scaled = (lively(TransformerEncoder(config_of(name))) for name in ("pre", "scaled embeddings"))
    vectors = plain.embedding.weight[TOKENS]
    assert_close(plain.embed(TOKENS, 2), vectors + plain.positions.weight[2:9], "E + p", TOLERANCE)
    assert_close(scaled.embed(TOKENS, 2), vectors * 12**0.5 + plain.positions.weight[2:9], "√d E + p", TOLERANCE)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m(torch.tensor([[11]])), ValueError, r"\[0, 11\)"),
        (lambda m: m(torch.ones(1, 10, dtype=torch.long)), ValueError, "10 tokens"),
        (lambda m: m(TOKENS, torch.ones(3, 4, dtype=torch.bool)), ValueError, r"mask must have .* \(3, 7\)"),
        (lambda m: m(TOKENS, torch.ones(1, 7, dtype=torch.bool)), ValueError, "mask must have"),
    ],
)
def test_what_cannot_be_read_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(TransformerEncoder(CONFIG))
