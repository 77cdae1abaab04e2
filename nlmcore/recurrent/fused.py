"""The same cells through PyTorch's fused kernels: the whole loop over time in one call.

The kernels are those of torch.nn.RNN, GRU and LSTM; they are handed the cells' own parameters, so nothing is
copied and both paths train the same weights.

Padded batches are packed (only real tokens are computed), which the kernels want right-padded: real tokens
are moved to the front of their row first and put back afterwards, so any mask will do.
"""

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from nlmcore.recurrent.cell import Cell, CellState, LSTMState


def run_kernel(
    cells: list[Cell], x: Tensor, states: list[CellState], mask: Tensor | None
) -> tuple[Tensor, list[CellState]]:
    """One layer: one cell, or a forward and a backward one. x (time, batch, input), mask (time, batch).

    Returns all hidden states (time, batch, directions · hidden) and each direction's last state.
    """
    kernel = cells[0].kernel()
    assert kernel is not None
    weights = [w for cell in cells for w in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)]
    parts = zip(*(state if isinstance(state, tuple) else (state,) for state in states), strict=True)
    initial = [torch.stack(part) for part in parts]  # each (directions, batch, hidden)
    # One layer and no dropout, so "train" only means: keep what the backward pass needs.
    options = (weights, True, 1, 0.0, torch.is_grad_enabled(), len(cells) == 2)
    if mask is None:
        outputs, *final = kernel(x, _pair(initial), *options, False)
    else:
        outputs, final = _run_packed(kernel, x, initial, mask, options)
    return outputs, [_pair(list(state)) for state in zip(*final, strict=True)]


def _run_packed(
    kernel: Callable, x: Tensor, initial: list[Tensor], mask: Tensor, options: tuple
) -> tuple[Tensor, list[Tensor]]:
    order = torch.argsort(mask.int(), dim=0, descending=True, stable=True)  # real tokens first, order kept
    lengths = mask.sum(0)
    packed = pack_padded_sequence(_gather(x, order), lengths.clamp(min=1).cpu(), enforce_sorted=False)
    there, back = cast(Tensor, packed.sorted_indices), cast(Tensor, packed.unsorted_indices)
    sorted_initial = [part.index_select(1, there) for part in initial]
    data, *final = kernel(packed.data, packed.batch_sizes, _pair(sorted_initial), *options)
    final = [part.index_select(1, back) for part in final]
    outputs, _ = pad_packed_sequence(PackedSequence(data, *packed[1:]), total_length=len(x))
    outputs = _gather(outputs, torch.argsort(order, dim=0))
    some = (lengths > 0).unsqueeze(-1)  # a row without a real token keeps its state
    return outputs * mask.unsqueeze(-1), [torch.where(some, f, i) for f, i in zip(final, initial, strict=True)]


def _gather(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(0, order.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


def _pair(parts: list[Tensor]) -> CellState:
    return LSTMState(*parts) if len(parts) == 2 else parts[0]


def flatten(cells: list[Cell], directions: int) -> None:
    """Lay each layer's weights out in one piece of GPU memory, as cuDNN wants them. Elsewhere: nothing."""
    modes: dict[Callable | None, int] = {
        torch._VF.rnn_relu: 0,
        torch._VF.rnn_tanh: 1,
        torch._VF.lstm: 2,
        torch._VF.gru: 3,
    }  # type: ignore[attr-defined]
    for start in range(0, len(cells), directions):
        layer = cells[start : start + directions]
        kernels = {cell.kernel() for cell in layer}
        weights: list[Tensor] = [w for cell in layer for w in cell.parameters()]
        usable = all(w.is_cuda and torch.backends.cudnn.is_acceptable(w) for w in weights)
        if len(kernels) == 1 and None not in kernels and usable and len({w.dtype for w in weights}) == 1:
            sizes = (layer[0].input_size, modes[kernels.pop()], layer[0].hidden_size, 0)
            with torch.no_grad(), torch.cuda.device_of(weights[0]):
                torch._cudnn_rnn_flatten_weight(weights, 4, *sizes, 1, False, directions == 2)
