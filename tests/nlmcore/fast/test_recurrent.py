"""PyTorch's kernels on padded batches; that they give what the loop gives, `tests/nlmcore/recurrent` holds."""

import pytest
import torch

from nlmcore.fast.recurrent import run_held, run_packed
from nlmcore.recurrent import CELLS
from tests.laws import assert_close

BATCH, TIME, INPUT, HIDDEN = 4, 6, 5, 7


@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_packing_for_the_gpu_gives_what_holding_gives(name: str) -> None:
    torch.manual_seed(0)
    cell, x = CELLS[name](INPUT, HIDDEN), torch.randn(TIME, BATCH, INPUT)
    lengths = torch.tensor([3, 6, 1, 4])
    state = cell(torch.randn(BATCH, INPUT))
    parts = state if isinstance(state, tuple) else (state,)
    weights = list(cell.parameters())
    (held, last), (packed, end) = (run(cell.kernel, weights, x, parts, lengths) for run in (run_held, run_packed))
    real = torch.arange(TIME).unsqueeze(-1) < lengths
    assert_close(packed[real], held[real], "outputs")
    for a, b in zip(end, last, strict=True):
        assert_close(a, b, "last state")
