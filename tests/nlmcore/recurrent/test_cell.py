"""The cells: each against its equations in scalars, against torch.nn, and in what it can remember."""

import math

import pytest
import torch
from torch import Tensor, nn

from nlmcore.recurrent import CELLS, GRUCell, LSTMCell, LSTMState, RNNCell, UGRNNCell
from tests.laws import assert_close

BATCH, INPUT, HIDDEN = 2, 3, 4


def sigma(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def affine(cell, block: str, j: int, x: list[float], h: list[float], use_h: bool = True, use_x: bool = True) -> float:
    """Row j of one block: W x + b (+ U h + d), one number at a time."""
    row = cell.blocks.index(block) * HIDDEN + j
    total = 0.0
    if use_x:
        total += float(cell.bias_ih[row]) + sum(float(cell.weight_ih[row, k]) * x[k] for k in range(INPUT))
    if use_h:
        total += float(cell.bias_hh[row]) if cell.bias_hh is not None else 0.0
        total += sum(float(cell.weight_hh[row, k]) * h[k] for k in range(HIDDEN))
    return total


def rnn_by_hand(cell, x, h, c, j):
    return math.tanh(affine(cell, "hidden", j, x, h)), 0.0


def ugrnn_by_hand(cell, x, h, c, j):
    r, g = math.tanh(affine(cell, "candidate", j, x, h)), sigma(affine(cell, "gate", j, x, h))
    return g * h[j] + (1 - g) * r, 0.0


def gru_by_hand(cell, x, h, c, j):
    r, z = sigma(affine(cell, "reset", j, x, h)), sigma(affine(cell, "update", j, x, h))
    from_x, from_h = affine(cell, "candidate", j, x, h, use_h=False), affine(cell, "candidate", j, x, h, use_x=False)
    return z * h[j] + (1 - z) * math.tanh(from_x + r * from_h), 0.0


def lstm_by_hand(cell, x, h, c, j):
    i, f, o = (sigma(affine(cell, gate, j, x, h)) for gate in ("input", "forget", "output"))
    memory = f * c[j] + i * math.tanh(affine(cell, "candidate", j, x, h))
    return o * math.tanh(memory), memory


BY_HAND = {"rnn": rnn_by_hand, "ugrnn": ugrnn_by_hand, "gru": gru_by_hand, "lstm": lstm_by_hand}


def random_cell(name: str):
    torch.manual_seed(0)
    cell = CELLS[name](INPUT, HIDDEN)
    for parameter in cell.parameters():
        nn.init.normal_(parameter)
    return cell


def random_state(name: str):
    h, c = torch.randn(BATCH, HIDDEN), torch.randn(BATCH, HIDDEN)
    return LSTMState(h, c) if name == "lstm" else h


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_its_equations(name: str) -> None:
    cell, x = random_cell(name), torch.randn(BATCH, INPUT)
    state = random_state(name)
    h, c = state if name == "lstm" else (state, torch.zeros(BATCH, HIDDEN))
    cell.requires_grad_(False)
    new = cell(x, state)
    new_h, new_c = new if name == "lstm" else (new, None)
    for b in range(BATCH):
        for j in range(HIDDEN):
            expected_h, expected_c = BY_HAND[name](cell, x[b].tolist(), h[b].tolist(), c[b].tolist(), j)
            assert float(new_h[b, j]) == pytest.approx(expected_h, abs=1e-5)
            if new_c is not None:
                assert float(new_c[b, j]) == pytest.approx(expected_c, abs=1e-5)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RNNCell, nn.RNNCell(INPUT, HIDDEN)),
        (RNNCell, nn.RNNCell(INPUT, HIDDEN, nonlinearity="relu")),
        (GRUCell, nn.GRUCell(INPUT, HIDDEN)),
        (LSTMCell, nn.LSTMCell(INPUT, HIDDEN)),
        (LSTMCell, nn.LSTMCell(INPUT, HIDDEN, bias=False)),
        (GRUCell, nn.GRUCell(INPUT, HIDDEN).double()),
    ],
)
def test_from_torch_gives_torchs_numbers(ours, theirs: nn.Module) -> None:
    x = torch.randn(BATCH, INPUT, dtype=theirs.weight_ih.dtype)
    h, c = torch.randn_like(x.repeat(1, 2)[:, :HIDDEN]), torch.randn(BATCH, HIDDEN, dtype=x.dtype)
    cell = ours.from_torch(theirs)
    if ours is LSTMCell:
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(cell(x, (h, c)), theirs(x, (h, c)), strict=True))
    else:
        assert_close(cell(x, h), theirs(x, h), "h")
        assert_close(cell(x), theirs(x), "h from nothing")


@pytest.mark.parametrize(("ours", "other"), [(RNNCell, nn.GRUCell), (GRUCell, nn.LSTMCell), (LSTMCell, nn.RNNCell)])
def test_from_torch_takes_its_own_kind_only(ours, other) -> None:
    with pytest.raises(TypeError, match=other.__name__):
        ours.from_torch(other(INPUT, HIDDEN))


@pytest.mark.parametrize("name", CELLS)
def test_no_state_is_a_state_of_zeros(name: str) -> None:
    cell, x = random_cell(name), torch.randn(BATCH, INPUT)
    zeros = cell.zero_state(x)
    assert all(torch.equal(a, b) for a, b in zip(cell(x), cell(x, zeros), strict=True))


@pytest.mark.parametrize(
    ("name", "gate"), [("ugrnn", "gate"), ("gru", "update"), ("lstm", "forget")], ids=lambda value: str(value)
)
def test_an_open_gate_keeps_the_memory_unchanged(name: str, gate: str) -> None:
    """What gates are for: h[t] = G ⊙ h[t-1] + …, with G = 1, hands the memory on, however long."""
    cell = random_cell(name)
    with torch.no_grad():
        cell.bias_ih[cell.blocks.index(gate) * HIDDEN :][:HIDDEN] = 100.0
        if name == "lstm":
            cell.bias_ih[:HIDDEN] = -100.0  # and write nothing
    state = first = random_state(name)
    for _ in range(50):
        state = cell(torch.randn(BATCH, INPUT), state)
    kept, given = (state.c, first.c) if name == "lstm" else (state, first)
    assert_close(kept, given, "memory after 50 steps", 1e-4)


def test_gates_start_open_and_the_rest_as_documented() -> None:
    lstm, ugrnn, gru = (cell(INPUT, 50).requires_grad_(False) for cell in (LSTMCell, UGRNNCell, GRUCell))
    bias = (lstm.bias_ih + lstm.bias_hh).split(50)
    assert [part.unique().tolist() for part in bias] == [[0.0], [1.0], [0.0], [0.0]]
    assert [part.unique().tolist() for part in ugrnn.bias_ih.split(50)] == [[0.0], [1.0]]
    assert not gru.bias_ih.any()
    assert 0.9 / math.sqrt(50) < float(lstm.weight_hh.abs().max()) <= 1 / math.sqrt(50)


@pytest.mark.parametrize("name", CELLS)
def test_recurrent_matrices_are_the_blocks_of_u(name: str) -> None:
    cell = random_cell(name)
    matrices = cell.recurrent_matrices()
    assert tuple(matrices) == cell.blocks
    assert torch.equal(torch.cat(list(matrices.values())), cell.weight_hh)


@pytest.mark.parametrize("name", CELLS)
def test_bad_input_is_refused(name: str) -> None:
    cell, x = random_cell(name), torch.randn(BATCH, INPUT)
    with pytest.raises(ValueError, match="input_size must be at least 1, got 0"):
        CELLS[name](0, HIDDEN)
    with pytest.raises((ValueError, TypeError), match="x"):
        cell(torch.randn(BATCH, INPUT + 1), random_state(name))
    wrong: Tensor | LSTMState = torch.zeros(BATCH, HIDDEN + 1)
    with pytest.raises(ValueError, match=r"\(2, 5\)"):
        cell(x, LSTMState(wrong, wrong) if name == "lstm" else wrong)
    with pytest.raises(TypeError, match="state"):
        cell(x, torch.zeros(BATCH, HIDDEN) if name == "lstm" else (torch.zeros(BATCH, HIDDEN),) * 2)
    double = torch.zeros(BATCH, HIDDEN, dtype=torch.float64)
    with pytest.raises(TypeError, match=r"state must be torch\.float32.*float64"):
        cell(x, LSTMState(double, double) if name == "lstm" else double)
