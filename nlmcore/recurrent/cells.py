"""The four cells: each class has the equations of one time step, as its lecture writes them.

Vectors are rows, as in the lectures. In all, weight_ih stacks the matrices W, each transposed, in the order of
`blocks`, and weight_hh the matrices U. b is bias_ih + bias_hh, because PyTorch has two biases.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from nlmcore.checks import checked
from nlmcore.recurrent.cell import AnyState, Cell, CellState, Gates, LSTMState


class RNNCell(Cell):
    """The vanilla recurrent network (Elman 1990, "Finding structure in time"). Same numbers as torch.nn.RNNCell.

        h_t = tanh(x_t W + h_{t-1} U + b)

    Departs from the paper: tanh, where Elman's units are logistic (`activation=torch.sigmoid` gives those; torch.relu
    those of Le, Jaitly & Hinton 2015).
    """

    blocks = ("hidden",)

    @checked
    def __init__(self, input_size: int, d_hidden: int, activation: Callable[[Tensor], Tensor] = torch.tanh) -> None:
        super().__init__(input_size, d_hidden)
        self.activation = activation
        self.kernel = "rnn_tanh" if activation is torch.tanh else "rnn_relu" if activation is torch.relu else None

    def step(self, projected: Tensor, h: Any, U: Tensor) -> tuple[CellState, Gates]:
        h = self.activation(torch.addmm(projected, h, U))  # `projected` is x_t W + b; (batch, hidden)
        return h, {"hidden": h}

    @classmethod
    @checked
    def from_torch(cls, module: nn.RNNCell) -> "RNNCell":
        """This cell with the weights of a torch.nn.RNNCell, tanh or relu."""
        activation = {"tanh": torch.tanh, "relu": torch.relu}[module.nonlinearity]
        return cls(module.input_size, module.hidden_size, activation).copy_weights(module)


class UGRNNCell(Cell):
    """The update-gate RNN: one gate, the smallest cell that can keep its memory.

        R_t = tanh(x_t W^R + h_{t-1} U^R + b^R)           what could be written
        G_t = σ(x_t W^G + h_{t-1} U^G + b^G)              how much is kept
        h_t = G_t ⊙ h_{t-1} + (1 − G_t) ⊙ R_t             a residual connection through time

    Collins, Sohl-Dickstein & Sussillo (2016), "Capacity and trainability in recurrent neural networks".

    Symbols: the lecture on gates writes W^{xR}, W^{hR} for our W^R, U^R, and −B for +b; the paper c and g for R and G.

    Departs from the paper: b^G starts at 1 (the gate starts mostly open); there it is tuned per task.
    """

    blocks = ("candidate", "gate")

    def __init__(self, input_size: int, d_hidden: int) -> None:
        super().__init__(input_size, d_hidden, two_biases=False)
        nn.init.ones_(self.bias_ih[d_hidden:])  # b^G: σ(1) = 0.73 of the memory is kept at first

    def step(self, projected: Tensor, h: Any, U: Tensor) -> tuple[CellState, Gates]:
        candidate, gate = torch.addmm(projected, h, U).chunk(2, 1)  # both equations in one product
        R, G = candidate.tanh(), gate.sigmoid()
        h = R + G * (h - R)  # = G h + (1 − G) R, with one product less
        return h, {"candidate": R, "gate": G}


class GRUCell(Cell):
    """The gated recurrent unit: two gates and one state. Same numbers as torch.nn.GRUCell.

        r_t = σ(x_t W^r + b^r + h_{t-1} U^r + d^r)               reset gate
        z_t = σ(x_t W^z + b^z + h_{t-1} U^z + d^z)               update gate: how much is kept
        n_t = tanh(x_t W^n + b^n + r_t ⊙ (h_{t-1} U^n + d^n))    candidate ("new")
        h_t = z_t ⊙ h_{t-1} + (1 − z_t) ⊙ n_t

    Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder", section 2.3, in the variant that
    PyTorch and cuDNN compute. Symbols: bias_ih is b, bias_hh is d; the paper writes h̃ for n, the lecture on gates G and
    R for z and n.

    Departs from the paper: Cho et al. reset *before* the product, n = tanh(x W + (r ⊙ h) U); here the reset comes after
    it, r ⊙ (h U + d), so that all three products with h are one (and d^n cannot be merged into b^n). The paper has no
    biases.
    """

    blocks = ("reset", "update", "candidate")
    kernel = "gru"

    def step(self, projected: Tensor, h: Any, U: Tensor) -> tuple[CellState, Gates]:
        sizes = (2 * self.d_hidden, self.d_hidden)  # of both gates, and of the candidate
        from_x, n_from_x = projected.split(sizes, 1)  # (batch, 2 · hidden) and (batch, hidden)
        from_h, n_from_h = torch.addmm(self.bias_hh, h, U).split(sizes, 1)
        r, z = (from_x + from_h).sigmoid().chunk(2, 1)  # one sigmoid for both gates
        n = torch.addcmul(n_from_x, r, n_from_h).tanh()  # n_from_x + r ⊙ n_from_h
        # Under autocast n and z come in half precision, and the state keeps its own.
        h = torch.lerp(n.to(h.dtype), h, z.to(h.dtype))  # n + z ⊙ (h − n) = z h + (1 − z) n
        return h, {"reset": r, "update": z, "candidate": n}

    def input_bias(self) -> Tensor:
        return self.bias_ih  # d = bias_hh has to wait: its part in n is multiplied by r

    @classmethod
    @checked
    def from_torch(cls, module: nn.GRUCell) -> "GRUCell":
        """This cell with the weights of a torch.nn.GRUCell."""
        return cls(module.input_size, module.hidden_size).copy_weights(module)


class LSTMCell(Cell):
    """Long short-term memory: three gates and two states (h, c). Same numbers as torch.nn.LSTMCell.

        i_t = σ(x_t W^i + h_{t-1} U^i + b^i)           input gate: how much is written
        f_t = σ(x_t W^f + h_{t-1} U^f + b^f)           forget gate: how much is kept
        g_t = tanh(x_t W^g + h_{t-1} U^g + b^g)        what could be written
        o_t = σ(x_t W^o + h_{t-1} U^o + b^o)           output gate: how much is shown
        c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t                the memory: a sum, not a product of matrices
        h_t = o_t ⊙ tanh(c_t)

    Hochreiter & Schmidhuber (1997); with the forget gate of Gers, Schmidhuber & Cummins (2000).

    Initialisation: b^f starts at 1, so that a new network remembers (Jozefowicz, Zaremba & Sutskever 2015).

    Departs from the papers: no peephole connections; gradients are not truncated at the gates as in 1997.
    """

    parts = ("h", "c")
    blocks = ("input", "forget", "candidate", "output")
    kernel = "lstm"

    def __init__(self, input_size: int, d_hidden: int) -> None:
        super().__init__(input_size, d_hidden)
        nn.init.ones_(self.bias_ih[d_hidden : 2 * d_hidden])  # b^f, the second of the four blocks

    def step(self, projected: Tensor, state: AnyState, U: Tensor) -> tuple[CellState, Gates]:
        h, c = state
        i, f, g, o = torch.addmm(projected, h, U).chunk(4, 1)  # four equations in one product, (batch, hidden) each
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = torch.addcmul(f * c, i, g)  # f ⊙ c + i ⊙ g
        memory = c.tanh()  # only a copy is squashed: c itself stays a sum
        h = o * memory
        return LSTMState(h, c), {"input": i, "forget": f, "candidate": g, "output": o, "memory": memory}

    @classmethod
    @checked
    def from_torch(cls, module: nn.LSTMCell) -> "LSTMCell":
        """This cell with the weights of a torch.nn.LSTMCell."""
        return cls(module.input_size, module.hidden_size).copy_weights(module)
