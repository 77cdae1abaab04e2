"""Factorised embeddings: two factors that are one matrix, with its variance."""

from dataclasses import replace

import pytest
import torch

from nlmcore.transformer import EncoderDecoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.factorised import FactorisedEmbedding, FactorisedOutput
from nlmcore.variants.variant import vanilla
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, TOKENS, VOCAB, awake, build, logits, stirred


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
        TransformerLM(replace(vanilla(VOCAB, **SIZES), output=FactorisedOutput))
    with pytest.raises(ValueError, match="inner must be at least 1, got 0"):
        FactorisedEmbedding(5, 12, 0)
