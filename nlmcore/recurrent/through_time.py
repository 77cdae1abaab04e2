"""The loop over time: one cell, step by step.

    for t = 1 … T:   state_t = cell(x_t, state_{t-1})

Two things make it quick without hiding it. W x_t + b does not wait for the state, so it is computed for all
times in one product before the loop; and times are taken apart once (`unbind`), because indexing x[t] in the
loop makes the backward pass quadratic in T.

    ∂L/∂U = Σ_t (∂L/∂a_t) h_{t-1}ᵀ,   a_t = W x_t + U h_{t-1} + b      Werbos (1990), "Backpropagation through time"

U is used at every time, so its gradient is a sum over times, which is again one product after the loop. A
cell that has `step_backward` gets its gradient this way; for the others PyTorch's graph finds the same.

Departs from the paper: nothing. Time is the first dimension here, and only here.
"""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nlmcore.recurrent.cell import AnyState, Cell, CellState, Gates, LSTMState
from nlmcore.recurrent.checks import check_floats
from nlmcore.recurrent.lstm import LSTMCell


class Unrolled(NamedTuple):
    """Every time of one cell's run: states and gates, each (batch, time, hidden), in the order of the text."""

    states: CellState
    gates: Gates


def unroll(cell: Cell, x: Tensor, state: AnyState | None = None, reverse: bool = False) -> Unrolled:
    """Run a cell over x (batch, time, input) and keep everything: all states and all gates.

    With `reverse` the cell reads from the last time to the first, and `states[:, t]` is what it knows when it
    has read x[:, t:]. For pictures and measurements; `Recurrent` runs the same loop and keeps less.

    Raises ValueError for a wrong shape of x or state, TypeError for another dtype than the cell's.
    """
    check_floats("x", x, cell.weight_hh)
    if x.ndim != 3 or x.shape[1] < 1 or x.shape[2] != cell.input_size:
        raise ValueError(f"x must be (batch, time, input_size={cell.input_size}), got shape {tuple(x.shape)}")
    state = cell.zero_state(x) if state is None else cell.check_state(state, len(x))
    states, gates = _loop(cell, cell.project(x.transpose(0, 1)), state, None, reverse)
    together = {name: torch.stack([gate[name] for gate in gates], dim=1) for name in gates[0]}
    if isinstance(state, tuple):
        pairs = cast(list[LSTMState], states)
        return Unrolled(LSTMState(*(torch.stack(part, dim=1) for part in zip(*pairs, strict=True))), together)
    return Unrolled(torch.stack(cast(list[Tensor], states), dim=1), together)


def run(cell: Cell, x: Tensor, state: CellState, mask: Tensor | None, reverse: bool) -> tuple[Tensor, CellState]:
    """x (time, batch, input) to all hidden states (time, batch, hidden) and the last state.

    mask (time, batch): where it is False, the state is handed on unchanged and the output is zero.
    """
    projected = cell.project(x)
    if type(cell) is LSTMCell and mask is None and cell.gate_recorder is None and torch.is_grad_enabled():
        h, c = cast(LSTMState, state)
        if reverse:
            outputs, c = _LSTMThroughTime.apply(cell, projected.flip(0), cell.weight_hh, h, c)  # type: ignore[no-untyped-call]
            return outputs.flip(0), LSTMState(outputs[-1], c)
        outputs, c = _LSTMThroughTime.apply(cell, projected, cell.weight_hh, h, c)  # type: ignore[no-untyped-call]
        return outputs, LSTMState(outputs[-1], c)
    states, gates = _loop(cell, projected, state, mask, reverse)
    if cell.gate_recorder is not None:
        cell.gate_recorder({name: torch.stack([gate[name] for gate in gates], dim=1) for name in gates[0]})
    outputs = torch.stack([hidden(state) for state in states])
    if mask is not None:
        outputs = outputs * mask.unsqueeze(-1)
    return outputs, states[0 if reverse else -1]


def hidden(state: CellState) -> Tensor:
    """h: what a cell shows to others."""
    return state.h if isinstance(state, LSTMState) else state


def _loop(
    cell: Cell, projected: Tensor, state: CellState, mask: Tensor | None, reverse: bool
) -> tuple[list[CellState], list[Gates]]:
    states, gates = [], []
    U = cell.weight_hh.T.contiguous()  # laid out once for all steps: a third off the product with small batches
    inputs = projected.unbind(0)
    keep = [None] * len(inputs) if mask is None else mask.unsqueeze(-1).unbind(0)
    for projected_t, keep_t in zip(*(map(reversed, (inputs, keep)) if reverse else (inputs, keep)), strict=True):
        new, gate = cell.step(projected_t, state, U)
        state = new if keep_t is None else _where(keep_t, new, state)
        states.append(state)
        gates.append(gate)
    return (states[::-1], gates[::-1]) if reverse else (states, gates)


def _where(keep: Tensor, new: CellState, old: CellState) -> CellState:
    if isinstance(new, LSTMState):
        return LSTMState(*(torch.where(keep, n, o) for n, o in zip(new, old, strict=True)))
    return torch.where(keep, new, cast(Tensor, old))


class _LSTMThroughTime(torch.autograd.Function):
    """The loop forward with `LSTMCell.step`, and backward with `LSTMCell.step_backward`."""

    @staticmethod
    def forward(
        ctx: Any, cell: LSTMCell, projected: Tensor, weight_hh: Tensor, h: Tensor, c: Tensor
    ) -> tuple[Tensor, Tensor]:
        states, ctx.gates = _loop(cell, projected, LSTMState(h, c), None, reverse=False)
        pairs = cast(list[LSTMState], states)
        outputs = torch.stack([state.h for state in pairs])
        ctx.cell, ctx.memories = cell, [c, *(state.c for state in pairs[:-1])]  # c_{t-1} at every t
        ctx.save_for_backward(weight_hh, h, outputs)
        return outputs, pairs[-1].c

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_h: Tensor, dc: Tensor) -> tuple[None, Tensor, Tensor, Tensor, Tensor]:
        U, h, outputs = ctx.saved_tensors
        da = grad_h.new_empty(len(grad_h), len(h), len(U))  # ∂L/∂a_t, also that of W x_t + b
        blocks = da.unflatten(-1, (-1, h.shape[1])).unbind(0)
        from_outputs = [torch.zeros_like(h), *grad_h.unbind(0)]  # nothing but the loop has seen h_0
        dh = from_outputs[-1]
        for t in reversed(range(len(da))):
            dc = ctx.cell.step_backward(dh, dc, ctx.gates[t], ctx.memories[t], blocks[t].unbind(1))
            dh = torch.addmm(from_outputs[t], da[t], U)  # its own output's, and Uᵀ ∂L/∂a_t
        read = torch.cat([h.unsqueeze(0), outputs[:-1]])  # h_{t-1} at every t
        return None, da, da.flatten(0, 1).T @ read.flatten(0, 1), dh, dc
