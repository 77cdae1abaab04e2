"""Layers of recurrent cells over a sequence: stacked, bidirectional, with residual connections.

    h_t^l = cell^l(h_t^{l-1}, h_{t-1}^l),   h_t^0 = x_t                  stacked: Graves (2013), section 2
    h_t   = [forward_t ; backward_t]                                     Schuster & Paliwal (1997)
    h^l   = h^{l-1} + layer^l(h^{l-1})   for every layer but the first   Wu et al. (2016), section 3.1

A language model cannot be bidirectional: the backward cell has read the token that is to be predicted.

The cells are the very cells of this folder. With `fused=True` PyTorch's kernels run over their parameters;
otherwise, or where there is no kernel, or while somebody records the gates, they are run step by step. Both
ways give the same numbers and gradients.

Departs from the papers: dropout is between layers only (Zaremba, Sutskever & Vinyals 2014), as in torch.nn.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_dropout, check_sizes
from nlmcore.recurrent.cell import AnyState, Cell, CellState, LSTMState
from nlmcore.recurrent.checks import check_floats, check_function
from nlmcore.recurrent.fused import flatten, run_kernel
from nlmcore.recurrent.fused_padded import run_padded_kernel
from nlmcore.recurrent.gru import GRUCell
from nlmcore.recurrent.lstm import LSTMCell
from nlmcore.recurrent.masks import check_padding_mask
from nlmcore.recurrent.rnn import RNNCell
from nlmcore.recurrent.through_time import Unrolled, run, unroll
from nlmcore.recurrent.ugrnn import UGRNNCell

CELLS: dict[str, Callable[[int, int], Cell]] = {"rnn": RNNCell, "ugrnn": UGRNNCell, "gru": GRUCell, "lstm": LSTMCell}

RecurrentState = CellState
"""What `Recurrent` remembers: as a cell's state, but each tensor (batch, layers · directions, hidden)."""


def build_cell(cell: str | Callable[[int, int], Cell], input_size: int, d_hidden: int) -> Cell:
    """A cell by its name in CELLS, or from a function of (input_size, d_hidden).

    Raises ValueError for an unknown name or a cell of other sizes, TypeError for what builds no Cell.
    """
    if isinstance(cell, str) and cell not in CELLS:
        raise ValueError(f"cell must be one of {sorted(CELLS)} or build a Cell, got {cell!r}")
    build = CELLS[cell] if isinstance(cell, str) else cell
    check_function("cell", build)
    built = build(input_size, d_hidden)
    if not isinstance(built, Cell):
        raise TypeError(f"cell must build a Cell from (input_size, d_hidden), got {type(built).__name__}")
    if (built.input_size, built.d_hidden) != (input_size, d_hidden):
        raise ValueError(f"cell must build one of sizes {(input_size, d_hidden)}, got {built}")
    return built


class Recurrent(nn.Module):
    """Cells over time: `outputs, state = recurrent(x, state)`.

    `cell` is a name in CELLS, or anything that builds a cell from (input_size, d_hidden).
    `cells` holds them layer by layer, in each layer forward before backward, as torch.nn orders its weights.

    Raises ValueError for an unknown name, sizes below 1 or a dropout outside [0, 1); TypeError for sizes that are no
    whole numbers, or a function that builds no Cell.
    """

    def __init__(
        self,
        cell: str | Callable[[int, int], Cell],
        input_size: int,
        d_hidden: int,
        n_layers: int = 1,
        bidirectional: bool = False,
        residual: bool = False,
        dropout: float | int = 0.0,
        fused: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(input_size=input_size, d_hidden=d_hidden, n_layers=n_layers)
        check_dropout(dropout)
        self.input_size, self.d_hidden, self.n_layers = input_size, d_hidden, n_layers
        self.directions = 2 if bidirectional else 1
        self.output_size = self.directions * d_hidden
        self.residual, self.dropout, self.fused = residual, dropout, fused
        sizes = [input_size] + [self.output_size] * (n_layers - 1)
        self.cells = nn.ModuleList(build_cell(cell, size, d_hidden) for size in sizes for _ in range(self.directions))

    def forward(
        self, x: Tensor, state: AnyState | None = None, mask: Tensor | None = None
    ) -> tuple[Float[Tensor, "batch time output"], RecurrentState]:
        """Read x (batch, time, input_size); outputs are the last layer's hidden states at every time.

        state: each tensor (batch, layers · directions, d_hidden); None is zeros. mask (batch, time), True = a
        real token: a padded position changes no state, and its output is zero. A text without a real token is
        allowed: it keeps its state.
        The state returned is each cell's last: the backward cells' after the first token.

        Raises TypeError for a wrong structure or another dtype than the cells', ValueError for a wrong shape.
        """
        self._check_input(x)
        if mask is not None:
            check_padding_mask(mask, (x.shape[0], x.shape[1]))
            x = x.masked_fill(~mask.unsqueeze(-1), 0.0)  # whatever stands there, even NaN, is not read
            mask = None if bool(mask.all()) else mask.T  # (time, batch)
        cells = cast(list[Cell], list(self.cells))
        states = self._unpack(state, x)
        final: list[CellState] = []
        hidden = x.transpose(0, 1)  # time first: each step's slice is then one piece of memory
        for layer in range(self.n_layers):
            here = slice(layer * self.directions, (layer + 1) * self.directions)
            inputs = hidden if layer == 0 else F.dropout(hidden, self.dropout, self.training)
            outputs, last = self._layer(cells[here], inputs, states[here], mask)
            hidden = hidden + outputs if self.residual and layer > 0 else outputs
            final += last
        return hidden.transpose(0, 1), _pack(final)

    def unroll(self, x: Tensor, state: AnyState | None = None) -> list[Unrolled]:
        """Everything that happens while reading x: each cell's states and gates at all times, in the order of `cells`.

        For pictures and measurements; without dropout. `unroll(x)[-1].states` of a one-directional network without
        residual connections are its outputs (for an LSTM, and its memory).
        """
        self._check_input(x)
        states = self._unpack(state, x)
        seen: list[Unrolled] = []
        for layer in range(self.n_layers):
            here = range(layer * self.directions, (layer + 1) * self.directions)
            runs = [unroll(cast(Cell, self.cells[k]), x, states[k], reverse=k > here[0]) for k in here]
            outputs = torch.cat([r.states.h if isinstance(r.states, LSTMState) else r.states for r in runs], dim=-1)
            x = x + outputs if self.residual and layer > 0 else outputs
            seen += runs
        return seen

    def zero_state(self, batch: int) -> RecurrentState:
        """Nothing read yet: what `state=None` means."""
        check_sizes(batch=batch)
        return _pack([cast(Cell, cell).zero_state(cell.weight_hh.new_empty(batch)) for cell in self.cells])  # type: ignore[union-attr, operator]

    @classmethod
    def from_torch(cls, module: nn.RNNBase, fused: bool = True) -> "Recurrent":
        """The same network with the weights of a torch.nn.RNN, GRU or LSTM; ours is batch first, whatever theirs is.

        Raises ValueError for a projected LSTM or one without biases, TypeError for anything else.
        """
        names: dict[str, Callable[[int, int], Cell]] = {"GRU": GRUCell, "LSTM": LSTMCell, "RNN_TANH": RNNCell}
        names["RNN_RELU"] = lambda input_size, d_hidden: RNNCell(input_size, d_hidden, torch.relu)
        if not isinstance(module, nn.RNNBase):
            raise TypeError(f"module must be a torch.nn.RNN, GRU or LSTM, got {type(module).__name__}")
        if module.proj_size or not module.bias:
            raise ValueError(f"module must have biases and no projection, got {module}")
        sizes = (module.input_size, module.hidden_size, module.num_layers, module.bidirectional)
        ours = cls(names[module.mode], *sizes, dropout=module.dropout, fused=fused)
        with torch.no_grad():
            for cell, theirs in zip(ours.cells, module.all_weights, strict=True):
                for parameter, value in zip(cell.parameters(), theirs, strict=True):
                    parameter.copy_(value)
        return ours.to(module.weight_hh_l0.device, module.weight_hh_l0.dtype)  # type: ignore[arg-type, call-overload]

    def _layer(
        self, cells: list[Cell], x: Tensor, states: list[CellState], mask: Tensor | None
    ) -> tuple[Tensor, list[CellState]]:
        """One layer, forward and perhaps backward, over x (time, batch, input)."""
        kernels = {cell.kernel() for cell in cells}
        recording = any(cell.gate_recorder is not None for cell in cells)
        if self.fused and len(kernels) == 1 and None not in kernels and not recording:
            return run_kernel(cells, x, states) if mask is None else run_padded_kernel(cells, x, states, mask)
        runs = [run(cell, x, states[k], mask, reverse=k == 1) for k, cell in enumerate(cells)]
        return torch.cat([outputs for outputs, _ in runs], dim=-1), [last for _, last in runs]

    @property
    def _weight(self) -> Tensor:
        return cast(Tensor, self.cells[0].weight_hh)

    def _check_input(self, x: Tensor) -> None:
        check_floats("x", x, self._weight)
        if x.ndim != 3 or x.shape[2] != self.input_size or not x.numel():
            raise ValueError(
                f"x must be (batch, time, input_size={self.input_size}), none of them 0, got shape {tuple(x.shape)}"
            )

    def _unpack(self, state: AnyState | None, x: Tensor) -> list[CellState]:
        """Each cell's own state."""
        cells = cast(Sequence[Cell], self.cells)
        if state is None:
            return [cell.zero_state(x) for cell in cells]
        parts = state if isinstance(state, tuple) else (state,)
        shape = (len(x), len(cells), self.d_hidden)
        if len(parts) != len(cells[0].parts) or not all(isinstance(part, Tensor) for part in parts):
            what = "a pair (h, c) of tensors" if len(cells[0].parts) == 2 else "one tensor"
            raise TypeError(f"state must be {what}, got {type(state).__name__}")
        for name, part in zip(cells[0].parts, parts, strict=True):
            if part.shape != shape:
                raise ValueError(
                    f"{name} of the state must be (batch, layers · directions, d_hidden) = {shape},"
                    f" got {tuple(part.shape)}"
                )
            check_floats(f"{name} of the state", part, self._weight)
        rows = zip(*(part.unbind(1) for part in parts), strict=True)
        return [LSTMState(*row) if len(row) == 2 else row[0] for row in rows]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Recurrent":
        moved: Any = super()._apply(fn, recurse)
        flatten(cast(list[Cell], list(self.cells)), self.directions)
        return moved

    def extra_repr(self) -> str:
        return f"residual={self.residual}, dropout={self.dropout}, fused={self.fused}"


def _pack(states: list[CellState]) -> RecurrentState:
    """Each cell's state to one of shape (batch, layers · directions, hidden)."""
    if isinstance(states[0], LSTMState):
        return LSTMState(*(torch.stack(part, dim=1) for part in zip(*cast(list[LSTMState], states), strict=True)))
    return torch.stack(cast(list[Tensor], states), dim=1)
