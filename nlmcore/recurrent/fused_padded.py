"""Fused kernels on padded batches: padding must change nothing, neither outputs nor the last state.

Real tokens are moved to the front of their row, in reading order, so that any mask will do and padding comes
last. Then the outputs at real tokens are right, and the last h is the output at the last real token. The LSTM's
last c appears in no output; so the LSTM is told to hold it. One more input, 1 at padding, closes the input gate
(i = 0) and opens the forget gate (f = 1), and c_t = f ⊙ c_{t-1} + i ⊙ g = c_{t-1} exactly.

On a GPU, cuDNN's own way is used: a packed sequence. On a CPU packing loses the fast kernel, and three
quarters of the speed with it.
"""

from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from nlmcore.recurrent.cell import Cell, CellState, LSTMState
from nlmcore.recurrent.fused import kernel_of, options, pair, weights_of

_CLOSED, _OPEN = -1e4, 1e4  # σ is exactly 0 and 1 there


def run_padded_kernel(
    cells: list[Cell], x: Tensor, states: list[CellState], mask: Tensor
) -> tuple[Tensor, list[CellState]]:
    """`run_kernel` with a mask (time, batch), True = a real token; outputs at padding are zero."""
    lengths = mask.sum(0)
    run = _run_packed if x.is_cuda else _run_held
    outputs, last = [], []
    for direction, (cell, state) in enumerate(zip(cells, states, strict=True)):
        order = _reading_order(mask, backward=direction == 1)  # (time, batch)
        h, final = run(cell, _gather(x, order), state, lengths)
        outputs.append(_gather(h, torch.argsort(order, dim=0)))
        parts = zip(*(part if isinstance(part, tuple) else (part,) for part in (final, state)), strict=True)
        some = (lengths > 0).unsqueeze(-1)  # a row without a real token keeps its state
        last.append(pair([torch.where(some, new, old) for new, old in parts]))
    return torch.cat(outputs, dim=-1) * mask.unsqueeze(-1), last


def _run_held(cell: Cell, x: Tensor, state: CellState, lengths: Tensor) -> tuple[Tensor, CellState]:
    padding = torch.arange(len(x), device=x.device).unsqueeze(-1) >= lengths  # (time, batch)
    weights = weights_of([cell])
    if isinstance(state, LSTMState):
        x = torch.cat([x, padding.unsqueeze(-1).to(x.dtype)], dim=-1)
        hold = x.new_tensor([_CLOSED, _OPEN, 0.0, 0.0]).repeat_interleave(cell.d_hidden)
        weights[0] = torch.cat([weights[0], hold.unsqueeze(-1)], dim=-1)
    parts = [part.unsqueeze(0) for part in (state if isinstance(state, tuple) else (state,))]
    outputs, *final = kernel_of(cell)(x, pair(parts), weights, *options(1), False)
    h = outputs[lengths.clamp(min=1) - 1, torch.arange(x.shape[1], device=x.device)]
    return outputs, pair([h, *(part.squeeze(0) for part in final[1:])])


def _run_packed(cell: Cell, x: Tensor, state: CellState, lengths: Tensor) -> tuple[Tensor, CellState]:
    packed = pack_padded_sequence(x, lengths.clamp(min=1).cpu(), enforce_sorted=False)
    there, back = cast(Tensor, packed.sorted_indices), cast(Tensor, packed.unsorted_indices)
    parts = [part.index_select(0, there).unsqueeze(0) for part in (state if isinstance(state, tuple) else (state,))]
    data, *final = kernel_of(cell)(packed.data, packed.batch_sizes, pair(parts), weights_of([cell]), *options(1))
    outputs, _ = pad_packed_sequence(PackedSequence(data, *packed[1:]), total_length=len(x))
    return outputs, pair([part.squeeze(0).index_select(0, back) for part in final])


def _reading_order(mask: Tensor, backward: bool) -> Tensor:
    """For each row, the times in the order of reading: real tokens first, from the front or from the back."""
    if not backward:
        return torch.argsort(mask.int(), dim=0, descending=True, stable=True)
    return len(mask) - 1 - torch.argsort(mask.flip(0).int(), dim=0, descending=True, stable=True)


def _gather(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(0, order.unsqueeze(-1).expand(-1, -1, x.shape[-1]))
