"""The recurrent language model: the laws, tied embeddings, and what it refuses."""

import pytest
import torch

from nlmcore.recurrent import CELLS, RecurrentLM
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model

HIDDEN, VOCAB = 7, 11


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("tie_embeddings", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_recurrent_language_models_obey_the_laws(name: str, tie_embeddings: bool, fused: bool) -> None:
    model = RecurrentLM(VOCAB, name, 5, HIDDEN, n_layers=2, residual=True, tie_embeddings=tie_embeddings, fused=fused)
    assert_language_model(model, torch.randint(VOCAB, (3, 6)))


@pytest.mark.parametrize("options", [{"n_layers": 2}, {"d_embedding": 5, "tie_embeddings": True}], ids=str)
@pytest.mark.parametrize("name", CELLS)
def test_every_parameter_gets_a_gradient(name: str, options: dict) -> None:
    model = RecurrentLM(VOCAB, name, d_hidden=HIDDEN, **options)
    assert_every_parameter_gets_a_gradient(model, model(torch.randint(VOCAB, (3, 6)))[0])


@pytest.mark.parametrize("d_embedding", [None, 5])
def test_tied_weights_are_one_matrix(d_embedding: int | None) -> None:
    model = RecurrentLM(VOCAB, "gru", d_embedding, HIDDEN, tie_embeddings=True)
    assert model.output.weight is model.embedding.weight
    hidden, _ = model.recurrent(model.embedding(torch.tensor([[3, 1]])))
    if d_embedding is not None:
        hidden = hidden @ model.to_embedding.weight.T
    expected = hidden @ model.embedding.weight.T + model.output.bias
    assert_close(model(torch.tensor([[3, 1]]))[0], expected, "logits")


def test_dropout_acts_in_training_alone() -> None:
    model = RecurrentLM(VOCAB, "rnn", d_hidden=HIDDEN, n_layers=2, dropout=0.5)
    tokens = torch.randint(VOCAB, (3, 6))
    assert not torch.equal(model(tokens)[0], model(tokens)[0])
    model.eval()
    assert torch.equal(model(tokens)[0], model(tokens)[0])


def test_a_state_of_another_batch_is_refused() -> None:
    model = RecurrentLM(VOCAB, "gru", d_hidden=HIDDEN)
    _, state = model(torch.zeros(1, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="state must"):
        model(torch.zeros(2, 2, dtype=torch.long), state)
