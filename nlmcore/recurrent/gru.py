"""The gated recurrent unit. Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder",
section 2.3, in the variant that PyTorch and cuDNN compute.

    r_t = σ(W^r x_t + b^r + U^r h_{t-1} + d^r)               reset gate
    z_t = σ(W^z x_t + b^z + U^z h_{t-1} + d^z)               update gate: how much is kept
    n_t = tanh(W^n x_t + b^n + r_t ⊙ (U^n h_{t-1} + d^n))    candidate ("new")
    h_t = z_t ⊙ h_{t-1} + (1 − z_t) ⊙ n_t

Symbols: weight_ih stacks W^r, W^z, W^n; weight_hh stacks U^r, U^z, U^n; bias_ih is b, bias_hh is d.
The paper writes h̃ for n. The lecture on gates writes G and R: they are z and n.

Departs from the paper: Cho et al. reset *before* the product, n = tanh(W x + U (r ⊙ h)); here the reset comes after it,
r ⊙ (U h + d), so that all three products with h are one (and d^n cannot be merged into b^n). The two functions differ,
with equal quality as far as is known. The paper has no biases.
"""

from typing import cast

import torch
from torch import Tensor, nn

from nlmcore.checks import door
from nlmcore.recurrent.cell import AnyState, Cell, CellState, Gates


class GRUCell(Cell):
    """Two gates and one state. Same numbers as torch.nn.GRUCell."""

    blocks = ("reset", "update", "candidate")
    kernel = "gru"

    def step(self, projected: Tensor, state: AnyState, U: Tensor) -> tuple[CellState, Gates]:
        h = cast(Tensor, state)
        sizes = (2 * self.d_hidden, self.d_hidden)  # of both gates, and of the candidate
        from_x, n_from_x = projected.split(sizes, 1)
        from_h, n_from_h = torch.addmm(self.bias_hh, h, U).split(sizes, 1)
        r, z = (from_x + from_h).sigmoid().chunk(2, 1)
        n = torch.addcmul(n_from_x, r, n_from_h).tanh()  # n_from_x + r ⊙ n_from_h
        h = torch.lerp(n.to(h.dtype), h, z.to(h.dtype))  # n + z ⊙ (h − n) = z h + (1 − z) n
        return h, {"reset": r, "update": z, "candidate": n}

    def input_bias(self) -> Tensor:
        return self.bias_ih  # d = bias_hh has to wait: its part in n is multiplied by r

    @classmethod
    @door
    def from_torch(cls, module: nn.GRUCell) -> "GRUCell":
        """This cell with the weights of a torch.nn.GRUCell."""
        return cls(module.input_size, module.hidden_size).copy_weights(module)
