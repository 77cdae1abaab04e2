"""Long short-term memory. Hochreiter & Schmidhuber (1997); with the forget gate of Gers, Schmidhuber & Cummins (2000).

    i_t = σ(W^i x_t + U^i h_{t-1} + b^i)           input gate: how much is written
    f_t = σ(W^f x_t + U^f h_{t-1} + b^f)           forget gate: how much is kept
    g_t = tanh(W^g x_t + U^g h_{t-1} + b^g)        what could be written
    o_t = σ(W^o x_t + U^o h_{t-1} + b^o)           output gate: how much is shown
    c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t                the memory: a sum, not a product of matrices
    h_t = o_t ⊙ tanh(c_t)

Symbols: weight_ih stacks W^i, W^f, W^g, W^o; weight_hh stacks the U's; b is bias_ih + bias_hh.

Initialisation: b^f starts at 1, so that a new network remembers (Jozefowicz, Zaremba & Sutskever 2015).

Departs from the papers: no peephole connections; gradients are not truncated at the gates as in 1997. b is the sum of
two biases, because PyTorch has two.
"""

import torch
from torch import Tensor, nn

from nlmcore.checks import door
from nlmcore.recurrent.cell import AnyState, Cell, CellState, Gates, LSTMState


class LSTMCell(Cell):
    """Three gates and two states (h, c). Same numbers as torch.nn.LSTMCell."""

    parts = ("h", "c")
    blocks = ("input", "forget", "candidate", "output")
    kernel = "lstm"

    def __init__(self, input_size: int, d_hidden: int) -> None:
        super().__init__(input_size, d_hidden)
        nn.init.ones_(self.bias_ih[d_hidden : 2 * d_hidden])

    def step(self, projected: Tensor, state: AnyState, U: Tensor) -> tuple[CellState, Gates]:
        h, c = state
        i, f, g, o = torch.addmm(projected, h, U).chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = torch.addcmul(f * c, i, g)  # f ⊙ c + i ⊙ g
        memory = c.tanh()
        h = o * memory
        return LSTMState(h, c), {"input": i, "forget": f, "candidate": g, "output": o, "memory": memory}

    @classmethod
    @door
    def from_torch(cls, module: nn.LSTMCell) -> "LSTMCell":
        """This cell with the weights of a torch.nn.LSTMCell."""
        return cls(module.input_size, module.hidden_size).copy_weights(module)
