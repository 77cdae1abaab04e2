"""Recurrent layers: agreement with torch.nn, step by step = fused, and masks."""

import copy
import math

import pytest
import torch
from torch import Tensor, nn

from nlmcore.language_model import select
from nlmcore.recurrent import CELLS, LSTMState, Recurrent, RNNCell, unroll
from tests.laws import assert_close

BATCH, TIME, INPUT, HIDDEN = 4, 6, 5, 7
WITH_KERNEL = ["rnn", "gru", "lstm"]
PEERS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def random_state(network: Recurrent, batch: int = BATCH):
    zeros = network.zero_state(batch)
    if isinstance(zeros, LSTMState):
        return LSTMState(torch.randn_like(zeros.h), torch.randn_like(zeros.c))
    return torch.randn_like(zeros)


def parts(state) -> tuple[Tensor, ...]:
    return state if isinstance(state, tuple) else (state,)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def ragged_mask() -> Tensor:
    """Right-padded, left-padded, with a hole, and whole."""
    mask = torch.ones(BATCH, TIME, dtype=torch.bool)
    mask[0, 4:] = False
    mask[1, :3] = False
    mask[2, [1, 3]] = False
    return mask


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", WITH_KERNEL)
def test_same_numbers_and_gradients_as_torch(name: str, bidirectional: bool, fused: bool) -> None:
    theirs = PEERS[name](INPUT, HIDDEN, num_layers=3, bidirectional=bidirectional, batch_first=True)
    ours = Recurrent.from_torch(theirs, fused=fused)
    x = torch.randn(BATCH, TIME, INPUT)
    state = random_state(ours)
    hx = tuple(part.transpose(0, 1).contiguous() for part in parts(state))
    expected, final = theirs(x, hx if name == "lstm" else hx[0])
    outputs, last = ours(x, state)
    assert_close(outputs, expected, "outputs")
    for mine, other in zip(parts(last), parts(final), strict=True):
        assert_close(mine, other.transpose(0, 1), "final state")
    projection = torch.randn_like(expected)
    (sum(part.sum() for part in parts(final)) + (expected * projection).sum()).backward()
    (sum(part.sum() for part in parts(last)) + (outputs * projection).sum()).backward()
    for cell, names in zip(ours.cells, theirs._all_weights, strict=True):
        for (mine_name, mine), other_name in zip(cell.named_parameters(), names, strict=True):
            assert_close(mine.grad, getattr(theirs, other_name).grad, f"gradient of {mine_name}", 1e-4)


def test_relu_network_too() -> None:
    theirs = nn.RNN(INPUT, HIDDEN, nonlinearity="relu", batch_first=True)
    x = torch.randn(BATCH, TIME, INPUT)
    for fused in (True, False):
        assert_close(Recurrent.from_torch(theirs, fused=fused)(x)[0], theirs(x)[0], f"fused={fused}")


def test_what_cannot_be_copied_from_torch_is_refused() -> None:
    with pytest.raises(ValueError, match="no projection"):
        Recurrent.from_torch(nn.LSTM(3, 4, proj_size=2))
    with pytest.raises(ValueError, match="biases"):
        Recurrent.from_torch(nn.GRU(3, 4, bias=False))
    with pytest.raises(TypeError, match="module"):
        Recurrent.from_torch(nn.Linear(3, 4))  # type: ignore[arg-type]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("name", WITH_KERNEL)
def test_step_by_step_equals_fused(name: str, residual: bool, bidirectional: bool, masked: bool) -> None:
    fused = Recurrent(name, INPUT, HIDDEN, 3, bidirectional, residual, dropout=0.4)
    step = copy.deepcopy(fused)
    step.fused = False
    x, state = torch.randn(BATCH, TIME, INPUT), random_state(fused)
    mask = ragged_mask() if masked else None
    results = []
    for network in (fused, step):
        torch.manual_seed(1)  # the same dropout
        mine = x.clone().requires_grad_()
        outputs, last = network(mine, state, mask)
        (outputs.sin().sum() + sum(part.cos().sum() for part in parts(last))).backward()
        results.append((outputs, *parts(last), mine.grad, *(p.grad for p in network.parameters())))
    for a, b in zip(*results, strict=True):
        assert_close(a, b, "fused against step by step", 1e-4)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_a_stack_is_cells_called_in_a_loop(name: str, fused: bool) -> None:
    network = Recurrent(name, INPUT, HIDDEN, n_layers=2, residual=True, fused=fused)
    x = torch.randn(BATCH, TIME, INPUT)
    outputs, _ = network(x)
    lower, upper = None, None
    for t in range(TIME):
        lower = network.cells[0](x[:, t], lower)
        below = parts(lower)[0]
        upper = network.cells[1](below, upper)
        assert_close(outputs[:, t], below + parts(upper)[0], f"time {t}")


@pytest.mark.parametrize("name", CELLS)
def test_the_backward_direction_reads_from_the_end(name: str) -> None:
    network = Recurrent(name, INPUT, HIDDEN, bidirectional=True)
    x = torch.randn(BATCH, TIME, INPUT)
    outputs, last = network(x)
    state = None
    for t in reversed(range(TIME)):
        state = network.cells[1](x[:, t], state)
        assert_close(outputs[:, t, HIDDEN:], parts(state)[0], f"time {t}")
    assert_close(parts(last)[0][:, 1], parts(state)[0], "last state")


@pytest.mark.parametrize("name", CELLS)
def test_no_state_is_a_state_of_zeros(name: str) -> None:
    network, x = Recurrent(name, INPUT, HIDDEN), torch.randn(BATCH, TIME, INPUT)
    assert torch.equal(network(x)[0], network(x, network.zero_state(BATCH))[0])


def test_replacing_a_cell_works() -> None:
    network = Recurrent("gru", INPUT, HIDDEN)
    other = CELLS["lstm"](INPUT, HIDDEN)
    network.cells[0] = other
    assert_close(network(torch.ones(1, 1, INPUT))[0][:, 0], other(torch.ones(1, INPUT)).h, "the new cell's output")


def test_a_cell_of_ones_own_runs_step_by_step() -> None:
    network = Recurrent(lambda i, h: RNNCell(i, h, torch.sigmoid), INPUT, HIDDEN)
    x = torch.randn(BATCH, 1, INPUT)
    cell = network.cells[0]
    expected = torch.sigmoid(x[:, 0] @ cell.weight_ih.T + cell.bias_ih + cell.bias_hh)
    assert_close(network(x)[0][:, 0], expected, "logistic units")


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_padding_changes_nothing(name: str, bidirectional: bool, fused: bool) -> None:
    network = Recurrent(name, INPUT, HIDDEN, 2, bidirectional, residual=True, fused=fused)
    x, mask, state = torch.randn(BATCH, TIME, INPUT), ragged_mask(), random_state(network)
    outputs, last = network(x, state, mask)
    garbage = torch.where(mask.unsqueeze(-1), x, 1e4)
    again, last_again = network(garbage, state, mask)
    assert torch.equal(again, outputs)
    assert not outputs[~mask].any()
    for row in range(BATCH):
        alone, end = network(x[row : row + 1, mask[row]], select(state, torch.tensor([row])))
        assert_close(outputs[row, mask[row]], alone[0], f"row {row} without its padding")
        for a, b, c in zip(parts(last), parts(end), parts(last_again), strict=True):
            assert_close(a[row], b[0], f"state of row {row}")
            assert torch.equal(a, c)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_a_row_of_padding_keeps_its_state(name: str, fused: bool) -> None:
    network = Recurrent(name, INPUT, HIDDEN, 2, fused=fused)
    mask = torch.ones(BATCH, TIME, dtype=torch.bool)
    mask[1] = False
    state = random_state(network)
    outputs, last = network(torch.randn(BATCH, TIME, INPUT), state, mask)
    assert not outputs[1].any()
    for before, after in zip(parts(state), parts(last), strict=True):
        assert torch.equal(before[1], after[1])


@pytest.mark.parametrize("fused", [True, False])
def test_padding_of_nan_is_not_read(fused: bool) -> None:
    network, mask = Recurrent("lstm", INPUT, HIDDEN, bidirectional=True, fused=fused), ragged_mask()
    x = torch.randn(BATCH, TIME, INPUT)
    outputs, _ = network(torch.where(mask.unsqueeze(-1), x, math.nan), mask=mask)
    assert torch.equal(outputs, network(x, mask=mask)[0])
    outputs.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in network.parameters())


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_unroll_shows_every_state_of_every_cell(name: str, bidirectional: bool) -> None:
    network = Recurrent(name, INPUT, HIDDEN, 2, bidirectional, residual=True)
    x, state = torch.randn(BATCH, TIME, INPUT), random_state(network)
    outputs, last = network(x, state)
    seen = network.unroll(x, state)
    assert len(seen) == len(network.cells)
    for k, (run, cell) in enumerate(zip(seen, network.cells, strict=True)):
        end = 0 if bidirectional and k % 2 else TIME - 1
        for part, whole in zip(parts(run.states), parts(last), strict=True):
            assert part.shape == (BATCH, TIME, HIDDEN)
            assert_close(part[:, end], whole[:, k], f"last state of cell {k}")
        assert set(run.gates) >= set(cell.blocks)
        assert all(gate.shape == (BATCH, TIME, HIDDEN) for gate in run.gates.values())
    directions = 2 if bidirectional else 1
    below, top = (torch.cat([parts(r.states)[0] for r in part], -1) for part in (seen[:directions], seen[directions:]))
    assert_close(below + top, outputs, "outputs")


def test_unroll_refuses_what_it_cannot_read() -> None:
    with pytest.raises((ValueError, TypeError), match="x"):
        unroll(RNNCell(INPUT, HIDDEN), torch.randn(BATCH, INPUT))


def test_bad_input_is_refused() -> None:
    network = Recurrent("lstm", INPUT, HIDDEN)
    x = torch.randn(BATCH, TIME, INPUT)
    with pytest.raises(ValueError, match="x must"):
        network(x[:, :0])
    zeros = torch.zeros(BATCH, 1, HIDDEN)
    with pytest.raises((TypeError, ValueError), match="state"):
        network(x, zeros)
    with pytest.raises(ValueError, match=r"c of the state.*\(4, 1, 7\)"):
        network(x, LSTMState(zeros, zeros[1:]))
    with pytest.raises(TypeError, match=r"c of the state must be torch\.float32.*float64"):
        network(x, LSTMState(zeros, zeros.double()))
    with pytest.raises(TypeError, match=r"mask.*boolean.*float32"):
        network(x, mask=torch.ones(BATCH, TIME))
    with pytest.raises(ValueError, match=r"mask.*time = 6.*\(4, 5\)"):
        network(x, mask=torch.ones(BATCH, TIME - 1, dtype=torch.bool))


@pytest.mark.parametrize(
    ("cell", "error"),
    [(lambda i, h: nn.Linear(i, h), TypeError), (lambda i, h: RNNCell(i, h + 1), ValueError), ("lstn", ValueError)],
    ids=["a layer", "another size", "a name"],
)
def test_what_builds_no_cell_is_refused(cell: object, error: type[Exception]) -> None:
    with pytest.raises((error, TypeError), match="cell"):
        Recurrent(cell, INPUT, HIDDEN)
