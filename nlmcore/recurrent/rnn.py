"""The vanilla recurrent network (Elman 1990, "Finding structure in time").

    h_t = tanh(W x_t + U h_{t-1} + b)

The lecture on recurrent networks writes h_t = σ(U h_{t-1} + W x_t) with any squashing σ, and
y_t = softmax(V h_t); V belongs to the language model, not to the cell. Here W is weight_ih, U is weight_hh, b is
bias_ih + bias_hh.

Departs from the paper: tanh, where Elman's units are logistic (`activation=torch.sigmoid` gives those; torch.relu those
of Le, Jaitly & Hinton 2015). b is the sum of two biases, because PyTorch has two.
"""

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn

from nlmcore.checks import door
from nlmcore.recurrent.cell import AnyState, Cell, CellState, Gates


class RNNCell(Cell):
    """h_t = tanh(W x_t + U h_{t-1} + b). Same numbers as torch.nn.RNNCell."""

    blocks = ("hidden",)

    @door
    def __init__(self, input_size: int, d_hidden: int, activation: Callable[[Tensor], Tensor] = torch.tanh) -> None:
        super().__init__(input_size, d_hidden)
        self.activation = activation
        self.kernel = "rnn_tanh" if activation is torch.tanh else "rnn_relu" if activation is torch.relu else None

    def step(self, projected: Tensor, state: AnyState, U: Tensor) -> tuple[CellState, Gates]:
        h = cast(Tensor, state)
        h = self.activation(torch.addmm(projected, h, U))
        return h, {"hidden": h}

    @classmethod
    @door
    def from_torch(cls, module: nn.RNNCell) -> "RNNCell":
        """This cell with the weights of a torch.nn.RNNCell, tanh or relu."""
        activation = {"tanh": torch.tanh, "relu": torch.relu}[module.nonlinearity]
        return cls(module.input_size, module.hidden_size, activation).copy_weights(module)
