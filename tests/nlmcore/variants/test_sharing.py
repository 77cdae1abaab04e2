"""Block sharing and factorised embeddings: what is one, what is not, and the product that is never made."""

import math
from dataclasses import replace

import pytest
import torch

from nlmcore.inspect import capture
from nlmcore.transformer import EncoderDecoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.baseline import vanilla
from nlmcore.variants.factorised import FactorisedEmbedding, build_factorised_output
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, TOKENS, VOCAB, awake, build, logits, stirred


def test_a_shared_block_is_applied_as_often_as_the_stack_is_deep() -> None:
    model = awake(CATALOGUE["Block sharing"])
    block, x = model.layers[0], model.embed(TOKENS)
    assert all(layer is block for layer in model.layers)
    for _ in range(SIZES["n_layers"]):
        x, _ = block.step(x)
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


def test_factors_are_one_matrix() -> None:
    model = awake(CATALOGUE["Factorized & shared embeddings"])
    E = model.embedding.narrow.weight @ model.embedding.widen.weight.T
    assert E.shape == (VOCAB, 20)
    assert model.embedding.narrow.embedding_dim == 3, "a sixth of 20"
    assert_close(model.embedding(TOKENS), E[TOKENS], "embedding")
    hidden = torch.randn(2, 3, 20, generator=torch.Generator().manual_seed(0))
    assert_close(model.output(hidden), hidden @ E.T, "logits")
    plain = stirred(TransformerLM(replace(vanilla(VOCAB, **SIZES))))
    plain.load_state_dict(model.state_dict() | {"embedding.weight": E, "output.weight": E}, strict=False)
    assert_close(logits(model), logits(plain), "the model with the matrix that is their product")


def test_factors_stay_one_after_a_copy_and_in_both_halves() -> None:
    model = build(replace(CATALOGUE["Factorized & shared embeddings"], family=EncoderDecoder))
    assert model.encoder.embedding is model.decoder.embedding is model.output.embedding
    apart = build(CATALOGUE["Factorized Embedding"])
    assert apart.output.weight.shape == (VOCAB, 20)


def test_a_factorised_embedding_begins_with_the_usual_variance() -> None:
    torch.manual_seed(0)
    config = CATALOGUE["Factorized Embedding"].config(800, d_model=120, n_layers=1)
    embedding = TransformerLM(config).embedding
    vectors = embedding(torch.arange(800)[None])
    assert vectors.std().item() == pytest.approx(0.02, rel=0.05)


def test_what_is_no_factorised_embedding_is_named(plain_errors: None) -> None:
    with pytest.raises(TypeError, match="embedding must be a FactorisedEmbedding, got Embedding"):
        TransformerLM(replace(vanilla(VOCAB, **SIZES), output=build_factorised_output))
    with pytest.raises(ValueError, match="inner must be at least 1, got 0"):
        FactorisedEmbedding(5, 12, 0)
