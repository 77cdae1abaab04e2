"""A recurrent cell: the function that reads one more input, written once per cell as the lecture writes it.

    state_t = cell(x_t, state_{t-1})

Vectors are rows, so a matrix stands to their right. Every cell of this folder has the same two matrices, one block of
columns per equation ("gate"). They are stored transposed, as in torch.nn:

    W = weight_ih.T    (input, blocks · hidden)     reads the input x_t
    U = weight_hh.T    (hidden, blocks · hidden)    reads the hidden state h_{t-1}

x_t W + b does not wait for the previous state: `project` computes it for all times in one matrix product. The rest of
the equations is `step`. `cell(x, state)` is the two together.

Initialisation: weights are uniform in ±1/√hidden, as in torch.nn; biases are 0, except that some cells open the gate
that keeps the memory with a bias of 1.

Departs from the papers: nothing here; each cell of `cells` says where it does.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.language_model import check_state

C = TypeVar("C", bound="Cell")


class LSTMState(NamedTuple):
    """The two vectors that an LSTM carries: the hidden state h that others see, and the cell's memory c."""

    h: Tensor
    c: Tensor


CellState = Tensor | LSTMState  # h of shape (batch, hidden), or the LSTM's pair of them

AnyState = CellState | tuple[Tensor, ...]  # what is accepted as a state: a plain pair (h, c) will do for an LSTM

Gates = dict[str, Tensor]  # what the step computed on its way, by name, each (batch, hidden)


class Unrolled(NamedTuple):
    """States and gates of one cell at all time steps, (batch, time, hidden) each."""

    states: CellState
    gates: Gates


class Cell(nn.Module, ABC):
    """One time step: `cell(x, state) -> state`. Subclasses give the equations in `step`."""

    blocks: ClassVar[tuple[str, ...]]  # the blocks of columns of W and U, in order
    parts: ClassVar[tuple[str, ...]] = ("h",)  # the vectors of the state: ("h",), or the LSTM's ("h", "c")
    kernel: str | None = None  # the name in `nlmcore.fast.recurrent` of PyTorch's own loop over time, if there is one

    @checked
    def __init__(self, input_size: Size, d_hidden: Size, two_biases: bool = True) -> None:
        super().__init__()
        self.input_size, self.d_hidden = input_size, d_hidden
        rows = len(self.blocks) * d_hidden
        self.weight_ih = nn.Parameter(torch.empty(rows, input_size))
        self.weight_hh = nn.Parameter(torch.empty(rows, d_hidden))
        self.bias_ih = nn.Parameter(torch.zeros(rows))
        self.bias_hh: nn.Parameter
        self.register_parameter("bias_hh", nn.Parameter(torch.zeros(rows)) if two_biases else None)
        self.gate_recorder: Callable[[Gates], None] | None = None  # set by nlmcore.diagnostics.record_gates
        bound = 1 / math.sqrt(d_hidden)  # for both matrices, as in torch.nn: the input's width does not count
        nn.init.uniform_(self.weight_ih, -bound, bound)
        nn.init.uniform_(self.weight_hh, -bound, bound)

    @abstractmethod
    def step(self, projected: Tensor, state: AnyState, U: Tensor) -> tuple[CellState, Gates]:
        """The equations: from x_t W + b (batch, blocks · hidden) and state_{t-1} to state_t, and the gates' values.

        U is weight_hh transposed, (hidden, blocks · hidden), and a row of h is a text: h @ U is the board's h U.
        """

    def input_bias(self) -> Tensor:
        """b, (blocks · hidden,): all of the bias, unless part of it has to wait for the state."""
        return self.bias_ih if self.bias_hh is None else self.bias_ih + self.bias_hh

    def project(self, x: Tensor) -> Tensor:
        """x W + b for any number of inputs: (..., input) to (..., blocks · hidden)."""
        return F.linear(x, self.weight_ih, self.input_bias())

    @checked(like="weight_hh")
    def forward(self, x: Float[Tensor, "batch {self.input_size}"], state: AnyState | None = None) -> CellState:
        """state_t from x_t and state_{t-1}; None is a state of zeros.

        Raises TypeError for another dtype than the weights' or another structure, ValueError for a wrong shape.
        """
        state, gates = self.step(self.project(x), self.start(state, x), self.weight_hh.T)
        self.record([gates])
        return state

    @property
    def watched(self) -> bool:
        """Whether a hook wants to see every step: then no kernel may run, and no product be taken out of the call."""
        return bool(self._forward_hooks or self._forward_pre_hooks)

    def call(self, x: Tensor, state: CellState) -> tuple[CellState, Gates]:
        """`cell(x, state)`, hooks included, and the gates, which its caller records."""
        seen: list[Gates] = []
        outer, self.gate_recorder = self.gate_recorder, seen.append
        try:
            state = self(x, state)
        finally:
            self.gate_recorder = outer
        return state, {name: gate.squeeze(1) for name, gate in seen[0].items()}

    def record(self, gates: list[Gates]) -> None:
        """Pass the gates of all times to the recorder, if there is one."""
        if self.gate_recorder is not None:
            self.gate_recorder(stack_gates(gates))

    def through_time(
        self, x: Tensor, state: CellState, mask: Tensor | None = None, reverse: bool = False
    ) -> tuple[list[CellState], list[Gates]]:
        """for t = 1 … T: state_t = cell(x_t, state_{t-1}). All states and all gates, in the order of the text.

        x (time, batch, input). With `reverse` the cell reads from the last time to the first. mask (time, batch): where
        it is False, the state is unchanged.
        """
        watched, U = self.watched, self.weight_hh.T
        # Indexing x[t] in the loop would make the backward pass quadratic in T.
        inputs = (x if watched else self.project(x)).unbind(0)
        states: list[CellState] = [state] * len(inputs)
        gates: list[Gates] = [{}] * len(inputs)  # by time, so that a reversed run is in the order of the text too
        real = None if mask is None else mask.unsqueeze(-1).unbind(0)
        for t in reversed(range(len(inputs))) if reverse else range(len(inputs)):
            new, gates[t] = self.call(inputs[t], state) if watched else self.step(inputs[t], state, U)
            # A padded position reads nothing: those texts keep their old state.
            state = new if real is None else each(lambda n, o, keep=real[t]: torch.where(keep, n, o), new, state)
            states[t] = state
        return states, gates

    @checked(like="weight_hh")
    def unroll(
        self, x: Float[Tensor, "batch time {self.input_size}"], state: AnyState | None = None, reverse: bool = False
    ) -> Unrolled:
        """Read x and keep all states and all gates, for pictures and measurements. Raises as `forward` does.

        With `reverse` the cell reads from the last time to the first: `states[:, t]` is its state after x[:, t:].
        """
        check_not_empty(x)
        states, gates = self.through_time(x.transpose(0, 1), self.start(state, x), reverse=reverse)
        return Unrolled(each(lambda *times: torch.stack(times, dim=1), *states), stack_gates(gates))

    def start(self, state: AnyState | None, x: Tensor) -> CellState:
        """The state to start from: the one given, once it is checked, or zeros like x (batch, …)."""
        return self.zero_state(x) if state is None else self.check_state(state, (len(x), self.d_hidden))

    def zero_state(self, like: Tensor) -> CellState:
        """Nothing read yet: zeros (batch, hidden), with the batch, dtype and device of `like` (batch, …)."""
        return as_state([like.new_zeros(len(like), self.d_hidden)] * len(self.parts))

    def check_state(self, state: AnyState, shape: tuple[int, ...], axes: str = "(batch, d_hidden)") -> CellState:
        """Refuse a state that is not this cell's: TypeError for another structure or dtype, ValueError for a shape."""
        return as_state(check_state(state, [shape] * len(self.parts), self.weight_hh.dtype, self.parts, axes))

    def recurrent_matrices(self) -> dict[str, Tensor]:
        """U's blocks by name, each (hidden, hidden), transposed as stored: what multiplies h_{t-1} in each equation."""
        return dict(zip(self.blocks, self.weight_hh.split(self.d_hidden), strict=True))

    def copy_weights(self: C, module: nn.Module) -> C:
        """Take the weights of a torch.nn cell (or of any module with the same four names). Missing biases are zero."""
        with torch.no_grad():
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                theirs, ours = getattr(module, name), getattr(self, name)
                ours.copy_(theirs) if theirs is not None else ours.zero_()  # copied: training ours leaves theirs alone
        return self.to(module.weight_ih.device, module.weight_ih.dtype)  # type: ignore[arg-type, call-overload]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.d_hidden}"


def as_state(parts: Sequence[Tensor]) -> CellState:
    """(h,) is h, and (h, c) an LSTM's state."""
    return LSTMState(*parts) if len(parts) == 2 else parts[0]


def each(function: Callable[..., Tensor], *states: CellState) -> CellState:
    """The state whose h is function(h, …) of the states' h's, and for an LSTM whose c is that of their c's."""
    if isinstance(states[0], LSTMState):
        return LSTMState(*map(function, *states))
    return function(*states)


unroll = Cell.unroll  # unroll(cell, x, state, reverse): as the method


def stack_gates(gates: list[Gates]) -> Gates:
    """By name, (batch, time, hidden)."""
    return {name: torch.stack([gate[name] for gate in gates], dim=1) for name in gates[0]}


def check_not_empty(x: Tensor) -> None:
    """Refuse no texts, or texts of no time, with ValueError."""
    if not x.numel():
        raise ValueError(f"x must hold at least one text and one time step, got shape {tuple(x.shape)}")


def hidden_of(state: CellState) -> Tensor:
    """h: what a cell shows to others."""
    return state.h if isinstance(state, LSTMState) else state
