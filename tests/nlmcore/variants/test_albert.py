"""Shared blocks: applied as often as the stack is deep, on the sides that a row names."""

import math
from dataclasses import replace

import pytest
import torch

from nlmcore.inspect import capture
from nlmcore.transformer import EncoderDecoder
from nlmcore.variants import CATALOGUE
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, TOKENS, VOCAB, awake, build, logits


def test_a_shared_block_is_applied_as_often_as_the_stack_is_deep() -> None:
    model = awake(CATALOGUE["Block sharing"])
    block, x = model.layers[0], model.embed(TOKENS)
    assert all(layer is block for layer in model.layers)
    for _ in range(SIZES["n_layers"]):
        x, _ = block(x)
    assert_close(logits(model), model.output(model.final_norm(x)), "the block, looped")
    with capture(model) as tape:
        logits(model)
    assert len(tape) == SIZES["n_layers"]
    assert (tape["layers.0.attention"] - tape["layers.1.attention"]).abs().max() > 1e-3, "each depth sees its own"


@pytest.mark.parametrize(
    ("name", "encoder", "decoder"),
    [
        ("Block sharing", True, True),
        ("Encoder only block sharing", True, False),
        ("Decoder only block sharing", False, True),
    ],
)
def test_blocks_are_shared_on_the_sides_that_the_row_names(name: str, encoder: bool, decoder: bool) -> None:
    model = build(replace(CATALOGUE[name], family=EncoderDecoder))
    assert (len(set(model.encoder.layers)) == 1) is encoder
    assert (len(set(model.decoder.layers)) == 1) is decoder
    assert model.encoder.layers[0] is not model.decoder.layers[0]
    assert model.encoder.embedding is model.decoder.embedding
    assert model.output.weight is not model.decoder.embedding.weight, "the softmax has a matrix of its own"


def test_shared_blocks_have_the_first_weights_of_a_stack_as_deep() -> None:
    torch.manual_seed(0)
    model = CATALOGUE["Block sharing"].build(VOCAB, d_model=60, n_layers=8)
    assert model.layers[0].feed_forward.outer.weight.std().item() == pytest.approx(0.02 / math.sqrt(16), rel=0.05)
