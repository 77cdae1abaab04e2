"""TransformerEncoder: padding invariance on every configuration, and agreement with torch.nn with copied weights."""

import dataclasses
from typing import Any

import pytest
import torch
from torch import nn

from nlmcore.inspect import capture
from nlmcore.transformer import TransformerEncoder
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.transformer_grid import CHANGES, CONFIG, TOKENS, TOLERANCE, config_of, copy_layer, lively

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
def test_every_token_sees_every_other(name: str) -> None:
    model = lively(TransformerEncoder(config_of(name)))
    changed = TOKENS.clone()
    changed[:, -1] = (TOKENS[:, -1] + 1) % 11
    with torch.no_grad():
        assert ((model(changed) - model(TOKENS)).abs().amax(-1) > 1e-7).all()


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_gets_a_gradient_with_and_without_padding(name: str) -> None:
    for mask in (None, REAL):
        model = lively(TransformerEncoder(config_of(name)))
        hidden = model(PADDED, mask)
        assert_every_parameter_gets_a_gradient(model, hidden[REAL])
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("name", CHANGES)
def test_fused_and_explicit_attention_give_the_same_vectors(unchecked: None, name: str) -> None:
    model = lively(TransformerEncoder(config_of(name)))
    with torch.no_grad():
        fused = model(PADDED, REAL)
        with capture(model) as tape:
            assert_close(model(PADDED, REAL), fused, "explicit against fused", TOLERANCE)
    assert len(tape) == model.config.n_layers
    for weights in tape.values():
        assert weights.shape == (3, model.config.n_heads, 9, 9)
        assert not weights.masked_select(~REAL[:, None, None, :]).any(), "nobody looks at padding"
        assert_close(weights.sum(-1), torch.ones(weights.shape[:3], dtype=torch.float64), "rows", TOLERANCE)


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


@pytest.mark.parametrize("norm_position", ["pre", "post"])
def test_it_agrees_with_pytorch(norm_position: str) -> None:
    ours = lively(TransformerEncoder(dataclasses.replace(CONFIG, norm_position=norm_position)))
    layer = nn.TransformerEncoderLayer(
        12, 6, 20, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_position == "pre"
    )
    last = nn.LayerNorm(12) if norm_position == "pre" else None
    theirs = nn.TransformerEncoder(layer, 2, last, enable_nested_tensor=False).double().eval()
    with torch.no_grad():
        for mine, other in zip(ours.layers, theirs.layers, strict=True):
            copy_layer(mine, other)
        if theirs.norm is not None:
            theirs.norm.load_state_dict(ours.final_norm.state_dict())
        x = ours.embedding.weight[PADDED] + ours.positions.weight[:9]
        expected = theirs(x, src_key_padding_mask=~REAL)  # inverted: theirs is True = ignore
        assert_close(ours(PADDED, REAL)[REAL], expected[REAL], "hidden vectors of real tokens", TOLERANCE)


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
