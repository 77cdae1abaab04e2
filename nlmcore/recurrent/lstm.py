"""Long short-term memory. Hochreiter & Schmidhuber (1997); with the forget gate of Gers, Schmidhuber & Cummins (2000).

    i_t = σ(W^i x_t + U^i h_{t-1} + b^i)           input gate: how much is written
    f_t = σ(W^f x_t + U^f h_{t-1} + b^f)           forget gate: how much is kept
    g_t = tanh(W^g x_t + U^g h_{t-1} + b^g)        what could be written
    o_t = σ(W^o x_t + U^o h_{t-1} + b^o)           output gate: how much is shown
    c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t                the memory: a sum, not a product of matrices
    h_t = o_t ⊙ tanh(c_t)

Symbols: weight_ih stacks W^i, W^f, W^g, W^o; weight_hh stacks the U's; b is bias_ih + bias_hh.

Initialisation: b^f starts at 1, so that a new network remembers (Gers et al. 2000; Jozefowicz, Zaremba &
Sutskever 2015 find that it matters).

Departs from the papers: no peephole connections; gradients are not truncated at the gates as in 1997. Two
biases that are only ever added, because PyTorch has two.
"""

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn

from nlmcore.recurrent.cell import Cell, CellState, Gates, LSTMState, check_torch


class LSTMCell(Cell):
    """Three gates and two states (h, c). Same numbers as torch.nn.LSTMCell."""

    parts = ("h", "c")
    blocks = ("input", "forget", "candidate", "output")

    def __init__(self, input_size: int, d_hidden: int) -> None:
        super().__init__(input_size, d_hidden)
        nn.init.ones_(self.bias_ih[d_hidden : 2 * d_hidden])

    def step(self, projected: Tensor, state: CellState, U: Tensor) -> tuple[CellState, Gates]:
        h, c = cast(LSTMState, state)
        i, f, g, o = torch.addmm(projected, h, U).chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = torch.addcmul(f * c, i, g)  # f ⊙ c + i ⊙ g
        memory = c.tanh()
        h = o * memory
        return LSTMState(h, c), {"input": i, "forget": f, "candidate": g, "output": o, "memory": memory}

    def step_backward(self, dh: Tensor, dc: Tensor, gates: Gates, c_before: Tensor, da: tuple[Tensor, ...]) -> Tensor:
        """`step` differentiated by hand: from ∂L/∂h_t and ∂L/∂c_t to ∂L/∂c_{t-1} and, for a = W x + U h + b, ∂L/∂a_t.

            ∂L/∂c_t += ∂L/∂h_t ⊙ o_t ⊙ (1 − tanh² c_t)          from h_t = o_t ⊙ tanh(c_t)
            ∂L/∂c_{t-1} = ∂L/∂c_t ⊙ f_t                          the path on which gradients survive
            each gate: upstream ⊙ local, with σ' = σ (1 − σ) and tanh' = 1 − tanh²

        ∂L/∂a_t is written into `da`, its four blocks, each (batch, hidden); ∂L/∂c_{t-1} is returned.
        `nlmcore.recurrent.through_time` uses it, because PyTorch's own graph of a step costs more than the
        step itself; the tests hold it to that graph.
        """
        i, f, g, o, memory = gates.values()
        di, df, dg, do = da
        dc = dc + _tanh_backward(dh * o, memory)
        _sigmoid_backward_into(dc * g, i, grad_input=di)
        _sigmoid_backward_into(dc * c_before, f, grad_input=df)
        _tanh_backward_into(dc * i, g, grad_input=dg)
        _sigmoid_backward_into(dh * memory, o, grad_input=do)
        return dc * f

    def input_bias(self) -> Tensor:
        return self.bias_ih + self.bias_hh

    def kernel(self) -> Callable | None:
        return torch._VF.lstm  # type: ignore[attr-defined]

    @classmethod
    def from_torch(cls, module: nn.LSTMCell) -> "LSTMCell":
        """This cell with the weights of a torch.nn.LSTMCell."""
        check_torch(module, nn.LSTMCell)
        cell = cls(module.input_size, module.hidden_size)
        cell.copy_weights(module)
        return cell


# (upstream, tanh) -> upstream · (1 − tanh²), and (upstream, σ) -> upstream · σ (1 − σ), in one pass each
_tanh_backward = torch.ops.aten.tanh_backward.default
_tanh_backward_into = torch.ops.aten.tanh_backward.grad_input
_sigmoid_backward_into = torch.ops.aten.sigmoid_backward.grad_input
