"""Gradient norms and Jacobians, held to closed forms (a linear network), loops over autograd, and torch.nn's cells."""

import math

import pytest
import torch
from torch import Tensor, nn

from nlmcore.diagnostics import gradient_norms, jacobian_norms, language_model_gradient_norms
from nlmcore.recurrent import CELLS, RecurrentLM, RNNCell
from tests.laws import assert_close

BATCH, TIME, INPUT, HIDDEN, VOCAB = 2, 6, 3, 5, 11


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def linear_cell(U: Tensor) -> RNNCell:
    """h_t = U h_{t-1} + W x_t: every gradient is a power of U."""
    cell = RNNCell(INPUT, len(U), activation=lambda a: a)
    with torch.no_grad():
        cell.weight_hh.copy_(U)
    return cell


def test_a_linear_networks_gradient_is_a_power_of_its_matrix() -> None:
    U = torch.randn(HIDDEN, HIDDEN) / 2
    cell = linear_cell(U)
    norms = gradient_norms(cell, torch.randn(BATCH, TIME, INPUT))
    gradient = torch.ones(HIDDEN)
    for t in reversed(range(TIME)):
        assert_close(norms.state[:, t], gradient.norm().expand(BATCH), f"state at {t}")
        assert_close(norms.input[:, t], (cell.weight_ih.T @ gradient).norm().detach().expand(BATCH), f"input at {t}")
        gradient = U.T @ gradient


@pytest.mark.parametrize("name", CELLS)
def test_norms_are_autograds_by_a_separate_pass_per_time(name: str) -> None:
    """The oracle cuts the run at each time, makes that state a leaf, and reads on from it."""
    cell, x = CELLS[name](INPUT, HIDDEN), torch.randn(BATCH, TIME, INPUT)
    norms = gradient_norms(cell, x, loss=lambda s: (s[0] if isinstance(s, tuple) else s).square().sum(1))
    state = None
    for t in range(TIME):
        state = cell(x[:, t], state)
        leaves = [p.detach().requires_grad_() for p in (state if isinstance(state, tuple) else (state,))]
        onward = type(state)(*leaves) if isinstance(state, tuple) else leaves[0]
        for later in range(t + 1, TIME):
            onward = cell(x[:, later], onward)
        loss = (onward[0] if isinstance(onward, tuple) else onward).square().sum()
        gradients = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
        assert_close(norms.state[:, t], torch.cat(gradients, 1).norm(dim=1), f"{name} at {t}")
        for part, gradient in zip(norms.parts, gradients, strict=True):
            assert_close(part[:, t], gradient.norm(dim=1), f"part of {name} at {t}")


@pytest.mark.parametrize("cell", [nn.RNNCell(INPUT, HIDDEN), nn.GRUCell(INPUT, HIDDEN), nn.LSTMCell(INPUT, HIDDEN)])
def test_torchs_own_cells_can_be_measured(cell: nn.Module) -> None:
    norms = gradient_norms(cell, torch.randn(BATCH, TIME, INPUT))
    assert norms.state.shape == norms.input.shape == (BATCH, TIME)
    assert (norms.state > 0).all()


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_language_model_norms_are_those_of_its_embeddings_and_states(name: str, fused: bool) -> None:
    model = RecurrentLM(VOCAB, name, d_hidden=HIDDEN, n_layers=2, dropout=0.5, fused=fused)
    tokens = torch.randint(VOCAB, (BATCH, TIME))
    at = 3
    norms = language_model_gradient_norms(model, tokens, at)
    assert model.training
    model.eval()
    assert norms.state.shape == (BATCH, at)
    embedded = model.embedding(tokens).detach().requires_grad_()
    logits = model.output(model.recurrent(embedded)[0])[:, at]
    (-logits.log_softmax(-1)[range(BATCH), tokens[:, at + 1]].sum()).backward()
    assert_close(norms.input, embedded.grad[:, : at + 1].norm(dim=-1), "inputs")
    for t in range(at):
        _, state = model(tokens[:, : t + 1])
        leaves = [p.detach().requires_grad_() for p in (state if isinstance(state, tuple) else (state,))]
        onward = type(state)(*leaves) if isinstance(state, tuple) else leaves[0]
        logits, _ = model(tokens[:, t + 1 : at + 1], onward)
        loss = -logits[:, -1].log_softmax(-1)[range(BATCH), tokens[:, at + 1]].sum()
        gradients = torch.autograd.grad(loss, leaves)
        assert_close(norms.state[:, t], torch.cat(gradients, 2).flatten(1).norm(dim=1), f"state at {t}")


def test_by_default_the_last_prediction_is_measured() -> None:
    model = RecurrentLM(VOCAB, "gru", d_hidden=HIDDEN)
    tokens = torch.randint(VOCAB, (BATCH, TIME))
    assert torch.equal(
        language_model_gradient_norms(model, tokens).state, language_model_gradient_norms(model, tokens, TIME - 2).state
    )


def test_jacobians_of_a_linear_network_are_its_matrix() -> None:
    U = torch.randn(HIDDEN, HIDDEN) / 2
    norms = jacobian_norms(linear_cell(U), torch.randn(BATCH, TIME, INPUT))
    for k in range(TIME - 1):
        assert_close(norms.steps[:, k], torch.linalg.matrix_norm(U, 2).expand(BATCH), "one step")
        power = torch.linalg.matrix_power(U, TIME - 1 - k)
        assert_close(norms.products[:, k], torch.linalg.matrix_norm(power, 2).expand(BATCH), f"from {k}")


@pytest.mark.parametrize("name", CELLS)
def test_products_are_the_derivative_of_the_whole_run(name: str) -> None:
    """∂s_T/∂s_0 by one application of autograd to all steps at once: the factors stand in the right order."""
    cell, x = CELLS[name](INPUT, HIDDEN), torch.randn(1, TIME, INPUT)
    first = cell(x[:, 0])
    parts = first if isinstance(first, tuple) else (first,)

    def onward(*parts: Tensor) -> Tensor:
        state = type(first)(*parts) if isinstance(first, tuple) else parts[0]
        for t in range(1, TIME):
            state = cell(x[:, t], state)
        return torch.cat(state if isinstance(state, tuple) else (state,), dim=1)[0]

    blocks = torch.autograd.functional.jacobian(onward, tuple(part.detach() for part in parts))
    whole = torch.cat([block.flatten(1) for block in blocks], dim=1)
    assert_close(jacobian_norms(cell, x).products[0, 0], torch.linalg.matrix_norm(whole, 2), "the whole product")


def test_a_vanilla_networks_jacobian_is_the_lectures() -> None:
    cell, x = CELLS["rnn"](INPUT, HIDDEN), torch.randn(1, 2, INPUT)
    h = cell(x[:, 1], cell(x[:, 0]))
    by_hand = torch.diag(1 - h[0] ** 2) @ cell.weight_hh
    assert_close(jacobian_norms(cell, x).steps[0, 0], torch.linalg.matrix_norm(by_hand, 2).detach(), "diag(1 − h²) U")


def test_bad_input_is_refused() -> None:
    cell = RNNCell(INPUT, HIDDEN)
    for measure in (gradient_norms, jacobian_norms):
        with pytest.raises(ValueError, match="inputs"):
            measure(cell, torch.randn(BATCH, INPUT))
        with pytest.raises(TypeError, match="inputs"):
            measure(cell, torch.ones(BATCH, TIME, INPUT, dtype=torch.long))
    with pytest.raises(ValueError, match="two time steps"):
        jacobian_norms(cell, torch.randn(BATCH, 1, INPUT))
    model = RecurrentLM(VOCAB, d_hidden=HIDDEN)
    for at in (0, 5, -1):
        with pytest.raises(ValueError, match=str(at)):
            language_model_gradient_norms(model, torch.randint(VOCAB, (BATCH, TIME)), at)

    class Counts:
        vocab_size = VOCAB

        def __call__(self, tokens: Tensor, state: Tensor | None = None):
            return torch.zeros(*tokens.shape, VOCAB), tokens[:, -1:]

    with pytest.raises(ValueError, match="no gradient"):
        language_model_gradient_norms(Counts(), torch.randint(VOCAB, (BATCH, TIME)))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(value: float) -> None:
    inputs = torch.zeros(BATCH, TIME, INPUT)
    inputs[1, 2, 0] = value
    for measure in (gradient_norms, jacobian_norms):
        with pytest.raises(ValueError, match="inputs must be finite"):
            measure(RNNCell(INPUT, HIDDEN), inputs)
