"""The same cells through PyTorch's fused kernels: the whole loop over time in one call.

The kernels are those of torch.nn.RNN, GRU and LSTM; they are handed the cells' own parameters, so nothing is
copied and both paths train the same weights. Time is the first dimension here. `fused_padded` adds masks.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from nlmcore.recurrent.cell import Cell, CellState, LSTMState


def run_kernel(cells: list[Cell], x: Tensor, states: list[CellState]) -> tuple[Tensor, list[CellState]]:
    """One layer: one cell, or a forward and a backward one. x (time, batch, input).

    Returns all hidden states (time, batch, directions · hidden) and each direction's last state.
    """
    parts = zip(*(state if isinstance(state, tuple) else (state,) for state in states), strict=True)
    initial = [torch.stack(part) for part in parts]  # each (directions, batch, hidden)
    outputs, *final = kernel_of(cells[0])(x, pair(initial), weights_of(cells), *options(len(cells)), False)
    return outputs, [pair(list(state)) for state in zip(*final, strict=True)]


def kernel_of(cell: Cell) -> Callable:
    """The cell's kernel, which must exist."""
    kernel = cell.kernel()
    if kernel is None:
        raise ValueError(f"{type(cell).__name__} has no fused kernel")
    return kernel


def weights_of(cells: list[Cell]) -> list[Tensor]:
    return [w for cell in cells for w in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)]


def options(directions: int) -> tuple:
    """Biases, one layer, no dropout (so "train" only means: keep what the backward pass needs), bidirectional."""
    return True, 1, 0.0, torch.is_grad_enabled(), directions == 2


def pair(parts: list[Tensor]) -> CellState:
    return LSTMState(*parts) if len(parts) == 2 else parts[0]


def flatten(cells: list[Cell], directions: int) -> None:
    """Lay each layer's weights out in one piece of GPU memory, as cuDNN wants them. Elsewhere: nothing."""
    kernels = (torch._VF.rnn_relu, torch._VF.rnn_tanh, torch._VF.lstm, torch._VF.gru)  # type: ignore[attr-defined]
    for start in range(0, len(cells), directions):
        layer = cells[start : start + directions]
        found = {cell.kernel() for cell in layer}
        if len(found) > 1 or None in found:
            continue
        weights = weights_of(layer)
        if all(w.is_cuda and torch.backends.cudnn.is_acceptable(w) and w.dtype == weights[0].dtype for w in weights):
            mode = kernels.index(found.pop())  # cuDNN's numbers are those of this order
            with torch.no_grad(), torch.cuda.device_of(weights[0]):
                sizes = (layer[0].input_size, mode, layer[0].d_hidden, 0)
                torch._cudnn_rnn_flatten_weight(weights, 4, *sizes, 1, False, directions == 2)
