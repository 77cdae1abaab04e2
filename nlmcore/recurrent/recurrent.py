"""Layers of recurrent cells over a sequence: stacked, bidirectional, with residual connections.

    h_t^l = cell^l(h_t^{l-1}, h_{t-1}^l),   h_t^0 = x_t                  stacked: Graves (2013), section 2
    h_t   = [forward_t ; backward_t]                                     Schuster & Paliwal (1997)
    h^l   = h^{l-1} + layer^l(h^{l-1})   for every layer but the first   Wu et al. (2016), section 3.1

A language model cannot be bidirectional: the backward cell has read the token that the model should predict.

`Cell.through_time` is the loop over time. With `fused=True`, PyTorch's kernels run over the cells' parameters instead,
with equal outputs and gradients, unless a hook listens to the cells or the text has one token, which the cell reads
faster.

Departs from the papers: dropout is only between layers (Zaremba, Sutskever & Vinyals 2014), as in torch.nn.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_sizes, checked
from nlmcore.fast.recurrent import flatten_weights, run_kernel, run_lstm
from nlmcore.recurrent.cell import AnyState, Cell, CellState, Unrolled, as_state, check_not_empty, each, hidden_of
from nlmcore.recurrent.cells import GRUCell, LSTMCell, RNNCell, UGRNNCell

CELLS: dict[str, Callable[[int, int], Cell]] = {"rnn": RNNCell, "ugrnn": UGRNNCell, "gru": GRUCell, "lstm": LSTMCell}
CellName = str | Callable[[int, int], Cell]  # a name in CELLS, or anything that builds a cell of these two sizes
RecurrentState = CellState  # as a cell's state, but each tensor (batch, layers · directions, hidden)


def build_cell(cell: CellName, input_size: int, d_hidden: int) -> Cell:
    """Raises ValueError for an unknown name or a cell of different sizes, TypeError if no Cell is built."""
    if isinstance(cell, str) and cell not in CELLS:
        raise ValueError(f"cell must be one of {sorted(CELLS)} or build a Cell, got {cell!r}")
    build = CELLS[cell] if isinstance(cell, str) else cell
    built = build(input_size, d_hidden) if callable(build) else build
    if not isinstance(built, Cell):
        raise TypeError(f"cell must build a Cell from (input_size, d_hidden), got {type(built).__name__}")
    if (built.input_size, built.d_hidden) != (input_size, d_hidden):
        raise ValueError(f"cell must build one of sizes {(input_size, d_hidden)}, got {built}")
    return built


class Recurrent(nn.Module):
    """Cells over time: `outputs, state = recurrent(x, state)`. Raises as `build_cell` does.

    `cells` holds the cells layer by layer, in each layer forward before backward, as torch.nn orders its weights.
    """

    @checked
    def __init__(
        self,
        cell: CellName,
        input_size: Size,
        d_hidden: Size,
        n_layers: Size = 1,
        bidirectional: bool = False,
        residual: bool = False,
        dropout: Rate = 0.0,
        fused: bool = True,
    ) -> None:
        super().__init__()
        self.input_size, self.d_hidden, self.n_layers = input_size, d_hidden, n_layers
        self.directions = 2 if bidirectional else 1
        self.output_size = self.directions * d_hidden
        self.residual, self.dropout, self.fused = residual, dropout, fused
        sizes = [input_size] + [self.output_size] * (n_layers - 1)
        self.cells = nn.ModuleList(build_cell(cell, size, d_hidden) for size in sizes for _ in range(self.directions))

    @checked(like="cells.0.weight_hh")
    def forward(
        self,
        x: Float[Tensor, "batch time {self.input_size}"],
        state: AnyState | None = None,
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], RecurrentState]:
        """Outputs are the last layer's hidden states at every time; the state is each cell's last.

        state: each tensor (batch, layers · directions, d_hidden); None is zeros. mask: True = a real token; a padded
        position changes no state, and its output is zero. A text without a real token keeps its state.

        Raises TypeError for a wrong structure or another dtype than the cells', ValueError for a wrong shape.
        """
        check_not_empty(x)
        if mask is not None:
            x = x.masked_fill(~mask.unsqueeze(-1), 0.0)  # padding is not read, even if it is NaN
            mask = None if bool(mask.all()) else mask.T  # (time, batch)
        states = self._split(state, x)
        final: list[CellState] = []
        hidden = x.transpose(0, 1)  # time first: each step's slice is then one piece of memory
        for layer, cells in enumerate(self._layers()):
            # Dropout between layers, never from time to time: Zaremba et al. (2014), and as torch.nn has it.
            inputs = hidden if layer == 0 else F.dropout(hidden, self.dropout, self.training)
            # (time, batch, directions · hidden), and each cell's last state
            outputs, last = self._layer(cells, inputs, states[len(final) : len(final) + self.directions], mask)
            # The first layer changes the width, so nothing can be added around it.
            hidden = hidden + outputs if self.residual and layer > 0 else outputs
            final += last
        return hidden.transpose(0, 1), each(lambda *cells: torch.stack(cells, dim=1), *final)

    @checked(like="cells.0.weight_hh")
    def unroll(self, x: Float[Tensor, "batch time {self.input_size}"], state: AnyState | None = None) -> list[Unrolled]:
        """Everything that happens while reading x: each cell's states and gates at all times, in the order of `cells`.

        For pictures and measurements; without dropout. `unroll(x)[-1].states` of a one-directional network without
        residual connections are its outputs (for an LSTM, and its memory).
        """
        states = self._split(state, x)
        seen: list[Unrolled] = []
        for layer, cells in enumerate(self._layers()):
            runs = [cell.unroll(x, states[len(seen) + k], reverse=k == 1) for k, cell in enumerate(cells)]
            outputs = torch.cat([hidden_of(run.states) for run in runs], dim=-1)
            x = x + outputs if self.residual and layer > 0 else outputs
            seen += runs
        return seen

    def zero_state(self, batch: int) -> RecurrentState:
        """Nothing read yet: what `state=None` means."""
        check_sizes(batch=batch)
        cell = cast(Cell, self.cells[0])
        zeros = cell.weight_hh.new_zeros(batch, len(self.cells), self.d_hidden)
        return as_state([zeros] * len(cell.parts))

    @classmethod
    @checked
    def from_torch(cls, module: nn.RNNBase, fused: bool = True) -> "Recurrent":
        """The same network with the weights of a torch.nn.RNN, GRU or LSTM; ours is batch first, whatever theirs is.

        Raises ValueError for a projected LSTM or one without biases, TypeError for anything else.
        """
        names: dict[str, Callable[[int, int], Cell]] = {"GRU": GRUCell, "LSTM": LSTMCell, "RNN_TANH": RNNCell}
        names["RNN_RELU"] = partial(RNNCell, activation=torch.relu)
        if module.proj_size or not module.bias:
            raise ValueError(f"module must have biases and no projection, got {module}")
        sizes = (module.input_size, module.hidden_size, module.num_layers, module.bidirectional)
        ours = cls(names[module.mode], *sizes, dropout=module.dropout, fused=fused)
        with torch.no_grad():
            for cell, theirs in zip(ours.cells, module.all_weights, strict=True):
                for parameter, value in zip(cell.parameters(), theirs, strict=True):
                    parameter.copy_(value)
        return ours.to(module.weight_hh_l0.device, module.weight_hh_l0.dtype)  # type: ignore[arg-type, call-overload]

    def _layers(self) -> list[list[Cell]]:
        cells = cast(list[Cell], list(self.cells))
        return [cells[start : start + self.directions] for start in range(0, len(cells), self.directions)]

    def _layer(
        self, cells: list[Cell], x: Tensor, states: list[CellState], mask: Tensor | None
    ) -> tuple[Tensor, list[CellState]]:
        kernel, recording = _shared_kernel(cells), any(cell.gate_recorder or cell.watched for cell in cells)
        if self.fused and kernel is not None and not recording and len(x) > 1:  # one step is faster by itself
            parts: list[tuple[Tensor, ...]] = [state if isinstance(state, tuple) else (state,) for state in states]
            outputs, last = run_kernel(kernel, [_weights(cell) for cell in cells], x, parts, mask)
            return outputs, [as_state(state) for state in last]
        runs = [_run(cell, x, states[k], mask, reverse=k == 1) for k, cell in enumerate(cells)]
        return torch.cat([outputs for outputs, _ in runs], dim=-1), [last for _, last in runs]

    def _split(self, state: AnyState | None, x: Tensor) -> list[CellState]:
        cells = cast(list[Cell], list(self.cells))
        if state is None:
            return [cell.zero_state(x) for cell in cells]
        shape = (len(x), len(cells), self.d_hidden)  # batch first, as every state: `select` gathers its rows
        state = cells[0].check_state(state, shape, "(batch, layers · directions, d_hidden)")
        return [each(lambda part, k=k: part[:, k], state) for k in range(len(cells))]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Recurrent":
        moved: Any = super()._apply(fn, recurse)
        for cells in self._layers():
            if (kernel := _shared_kernel(cells)) is not None:
                flatten_weights(kernel, [_weights(cell) for cell in cells])
        return moved

    def extra_repr(self) -> str:
        return f"residual={self.residual}, dropout={self.dropout}, fused={self.fused}"


def _run(cell: Cell, x: Tensor, state: CellState, mask: Tensor | None, reverse: bool) -> tuple[Tensor, CellState]:
    """One cell over x (time, batch, input): hidden states (time, batch, hidden), 0 at padding, and the last state."""
    # An LSTM that learns: a backward pass by hand is faster than autograd's. A subclass may have changed `step`.
    if type(cell) is LSTMCell and mask is None and not (cell.gate_recorder or cell.watched) and torch.is_grad_enabled():
        projected = cell.project(x.flip(0) if reverse else x)
        outputs, *last = run_lstm(cell.step, projected, cell.weight_hh, *state)
        return outputs.flip(0) if reverse else outputs, as_state(last)
    states, gates = cell.through_time(x, state, mask, reverse)
    cell.record(gates)
    outputs = torch.stack([hidden_of(state) for state in states])
    # Backwards, the state after everything is read is that of the first position.
    return outputs if mask is None else outputs * mask.unsqueeze(-1), states[0 if reverse else -1]


def _shared_kernel(cells: list[Cell]) -> str | None:
    kernels = {cell.kernel for cell in cells}
    return kernels.pop() if len(kernels) == 1 else None


def _weights(cell: Cell) -> list[Tensor]:
    return [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
