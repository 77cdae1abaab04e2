"""Recorded gates: those of the loop, whatever way the model runs."""

import math

import pytest
import torch
from torch import Tensor, nn

from nlmcore.diagnostics import gate_activations, record_gates, saturation
from nlmcore.recurrent import CELLS, Recurrent, RecurrentLM
from tests.laws import assert_close

BATCH, TIME, INPUT, HIDDEN, VOCAB = 2, 6, 3, 5, 11


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("name", CELLS)
def test_recorded_gates_are_those_of_unroll_and_leave_the_numbers_alone(name: str) -> None:
    network, x = Recurrent(name, INPUT, HIDDEN, 2, bidirectional=True), torch.randn(BATCH, TIME, INPUT)
    with record_gates(network) as tape:
        outputs, _ = network(x)
    assert_close(outputs, network(x)[0], "outputs while recording")
    for k, run in enumerate(network.unroll(x)):
        gates = tape[f"cells.{k}"]
        assert set(gates) == set(run.gates)
        for gate, values in gates.items():
            assert_close(values, run.gates[gate], f"{gate} of cell {k}")
            assert not values.requires_grad
    assert all(cell.gate_recorder is None for cell in network.cells)


def test_calls_in_a_row_are_joined_in_time() -> None:
    model = RecurrentLM(VOCAB, "lstm", d_hidden=HIDDEN).eval()
    tokens = torch.randint(VOCAB, (BATCH, TIME))
    at_once = gate_activations(model, tokens)["recurrent.cells.0"]["forget"]
    with record_gates(model) as tape:
        _, state = model(tokens[:, :2])
        model(tokens[:, 2:], state)
    assert_close(tape["recurrent.cells.0"]["forget"], at_once, "in two pieces")
    with record_gates(model) as tape:
        cell, state = model.recurrent.cells[0], None
        for x in model.embedding(tokens).unbind(1):
            state = cell(x, state)
    assert_close(tape["recurrent.cells.0"]["forget"], at_once, "cell by cell")


def test_recording_ends_when_something_fails() -> None:
    model = RecurrentLM(VOCAB, "lstm", d_hidden=HIDDEN)
    with pytest.raises(ValueError, match="tokens"), record_gates(model):
        model(torch.tensor([[VOCAB]]))
    assert model.recurrent.cells[0].gate_recorder is None
    with pytest.raises(ValueError, match="Linear"), record_gates(nn.Linear(2, 2)):
        pass
    with record_gates(model) as tape, pytest.raises(KeyError, match=r"recurrent\.cells\.0"):
        tape["elsewhere"]


def test_saturation_counts() -> None:
    activations = torch.tensor([[[0.05, 0.5], [0.95, 0.5], [0.99, 0.91], [0.0, 0.5]]])
    left, right = saturation(activations)
    assert left.tolist() == [0.5, 0.0]
    assert right.tolist() == [0.5, 0.25]
    with pytest.raises(ValueError, match=r"low=0\.9"):
        saturation(activations, low=0.9, high=0.1)


@pytest.mark.parametrize(
    "activations",
    [
        torch.tensor([[[1.5]]]),
        torch.tensor([[[math.nan]]]),
    ],
    ids=str,
)
def test_saturation_refuses_what_is_no_gate(activations: Tensor) -> None:
    with pytest.raises((ValueError, TypeError), match="activations must"):
        saturation(activations)
