"""A recurrent cell: the function that reads one more input, written once per cell as the lecture writes it.

    state_t = cell(x_t, state_{t-1})

Every cell of this folder has the same two stacked matrices, one block of rows per equation ("gate"):

    W = weight_ih (blocks · hidden, input)     reads the input x_t
    U = weight_hh (blocks · hidden, hidden)    reads the hidden state h_{t-1}

A step has a part that does not wait for the previous state, W x_t + b, and one that does. `project` is the
first, for all times in one matrix product; `step` is the second. `cell(x, state)` is the two together.

Initialisation: weights are uniform in ±1/√hidden, as in torch.nn; biases are 0, except that the gate that
keeps the memory starts open, with bias 1, where a cell says so.

Departs from the papers: nothing here; each cell's file says where it does.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.recurrent.checks import check_floats


class LSTMState(NamedTuple):
    """The two vectors that an LSTM carries: the hidden state h that others see, and the cell's memory c."""

    h: Tensor
    c: Tensor


CellState = Tensor | LSTMState
"""h of shape (batch, hidden), or the LSTM's pair of them."""

AnyState = CellState | tuple[Tensor, ...]
"""What is accepted as a state: a plain pair (h, c) will do for an LSTM."""

Gates = dict[str, Tensor]
"""What the step computed on its way, by name, each (batch, hidden)."""


class Cell(nn.Module, ABC):
    """One time step: `cell(x, state) -> state`. Subclasses give the equations in `step`."""

    blocks: ClassVar[tuple[str, ...]]
    """The blocks of rows of weight_ih and weight_hh, in order."""

    parts: ClassVar[tuple[str, ...]] = ("h",)
    """The vectors of the state: ("h",), or the LSTM's ("h", "c")."""

    def __init__(self, input_size: int, d_hidden: int, two_biases: bool = True) -> None:
        super().__init__()
        check_sizes(input_size=input_size, d_hidden=d_hidden)
        self.input_size, self.d_hidden = input_size, d_hidden
        rows = len(self.blocks) * d_hidden
        self.weight_ih = nn.Parameter(torch.empty(rows, input_size))
        self.weight_hh = nn.Parameter(torch.empty(rows, d_hidden))
        self.bias_ih = nn.Parameter(torch.zeros(rows))
        self.bias_hh: nn.Parameter
        self.register_parameter("bias_hh", nn.Parameter(torch.zeros(rows)) if two_biases else None)
        self.gate_recorder: Callable[[Gates], None] | None = None  # set by nlmcore.diagnostics.record_gates
        bound = 1 / math.sqrt(d_hidden)
        nn.init.uniform_(self.weight_ih, -bound, bound)
        nn.init.uniform_(self.weight_hh, -bound, bound)

    @abstractmethod
    def input_bias(self) -> Tensor:
        """The bias that does not wait for the state: added in `project`, (blocks · hidden,)."""

    @abstractmethod
    def step(self, projected: Tensor, state: CellState, U: Tensor) -> tuple[CellState, Gates]:
        """The equations: from W x_t + b (batch, blocks · hidden) and state_{t-1} to state_t, and the gates' values.

        U is weight_hh transposed, (hidden, blocks · hidden): rows are texts, so the board's U h is h @ U here.
        """

    @abstractmethod
    def kernel(self) -> Callable | None:
        """PyTorch's fused loop over time for this very cell, if there is one."""

    def zero_state(self, like: Tensor) -> CellState:
        """Nothing read yet: zeros (batch, hidden), with the batch, dtype and device of `like` (batch, …)."""
        zeros = like.new_zeros(len(like), self.d_hidden)
        return LSTMState(zeros, zeros) if len(self.parts) == 2 else zeros

    def project(self, x: Tensor) -> Tensor:
        """W x + b for any number of inputs at once: (..., input) to (..., blocks · hidden)."""
        return F.linear(x, self.weight_ih, self.input_bias())

    def forward(self, x: Tensor, state: AnyState | None = None) -> CellState:
        """state_t from x_t (batch, input) and state_{t-1}; None is a state of zeros.

        Raises TypeError for another dtype than the weights' or another structure, ValueError for a wrong shape.
        """
        check_floats("x", x, self.weight_hh)
        if x.ndim != 2 or x.shape[1] != self.input_size:
            raise ValueError(f"x must be (batch, input_size={self.input_size}), got shape {tuple(x.shape)}")
        state = self.zero_state(x) if state is None else self.check_state(state, len(x))
        state, gates = self.step(self.project(x), state, self.weight_hh.T)
        if self.gate_recorder is not None:
            self.gate_recorder({name: gate.unsqueeze(1) for name, gate in gates.items()})
        return state

    def check_state(self, state: AnyState, batch: int) -> CellState:
        """Refuse a state that is not this cell's: TypeError for another structure or dtype, ValueError for a shape."""
        parts = state if isinstance(state, tuple) else (state,)
        if len(parts) != len(self.parts) or not all(isinstance(part, Tensor) for part in parts):
            what = "a pair (h, c) of tensors" if len(self.parts) == 2 else "one tensor"
            raise TypeError(f"state of {type(self).__name__} must be {what}, got {type(state).__name__}")
        for name, part in zip(self.parts, parts, strict=True):
            if part.shape != (batch, self.d_hidden):
                raise ValueError(
                    f"{name} of the state must be (batch, d_hidden) = ({batch}, {self.d_hidden}),"
                    f" got {tuple(part.shape)}"
                )
            check_floats(f"{name} of the state", part, self.weight_hh)
        return LSTMState(*parts) if len(parts) == 2 else parts[0]

    def recurrent_matrices(self) -> dict[str, Tensor]:
        """U's blocks by name, each (hidden, hidden): what multiplies h_{t-1} in each equation."""
        return dict(zip(self.blocks, self.weight_hh.split(self.d_hidden), strict=True))

    def copy_weights(self, module: nn.Module) -> None:
        """Take the weights of a torch.nn cell (or of any module with the same four names). Missing biases are zero."""
        with torch.no_grad():
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                theirs, ours = getattr(module, name), getattr(self, name)
                ours.copy_(theirs) if theirs is not None else ours.zero_()
        self.to(module.weight_ih.device, module.weight_ih.dtype)  # type: ignore[arg-type, call-overload]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.d_hidden}"


def check_torch(module: object, expected: type[nn.Module]) -> None:
    """Refuse to copy from anything but the torch.nn cell of the same name."""
    if not isinstance(module, expected):
        raise TypeError(f"module must be a torch.nn.{expected.__name__}, got {type(module).__name__}")
