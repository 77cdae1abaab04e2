"""The update-gate RNN: one gate, the smallest cell that can keep its memory.
Collins, Sohl-Dickstein & Sussillo (2016), "Capacity and trainability in recurrent neural networks".

    R_t = tanh(W^R x_t + U^R h_{t-1} + b^R)           what could be written
    G_t = σ(W^G x_t + U^G h_{t-1} + b^G)              how much is kept
    h_t = G_t ⊙ h_{t-1} + (1 − G_t) ⊙ R_t             a residual connection through time

Symbols: the lecture on gates writes W^{xR}, W^{hR} for our W^R, U^R, and −B for +b; the paper writes c_t and g_t for
R_t and G_t. weight_ih stacks W^R over W^G, weight_hh stacks U^R over U^G.

Departs from the paper: b^G starts at 1 (the gate starts mostly open); there it is tuned per task.
"""

from typing import cast

import torch
from torch import Tensor, nn

from nlmcore.recurrent.cell import AnyState, Cell, CellState, Gates


class UGRNNCell(Cell):
    """h_t = G ⊙ h_{t-1} + (1 − G) ⊙ R, with R a vanilla RNN's step and G a gate."""

    blocks = ("candidate", "gate")

    def __init__(self, input_size: int, d_hidden: int) -> None:
        super().__init__(input_size, d_hidden, two_biases=False)
        nn.init.ones_(self.bias_ih[d_hidden:])

    def step(self, projected: Tensor, state: AnyState, U: Tensor) -> tuple[CellState, Gates]:
        h = cast(Tensor, state)
        candidate, gate = torch.addmm(projected, h, U).chunk(2, 1)
        R, G = candidate.tanh(), gate.sigmoid()
        h = R + G * (h - R)  # = G h + (1 − G) R, with one product less
        return h, {"candidate": R, "gate": G}
