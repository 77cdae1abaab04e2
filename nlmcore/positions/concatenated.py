"""e(w); pos(t): the position stands beside the embedding instead of being added to it.

    y_t = W [x_t; PE(t)] = W_x x_t + W_p PE(t),     W = [W_x, W_p]      syllabus, lecture 12

Adding is the special case W_x = W_p = I: the concatenation can learn to add, and it can learn to keep the
two apart, at the price of one matrix. What a first linear layer makes of a sum, A (x + p) = A x + A p, is a
concatenation whose two halves are bound to share A.

Symbols: W is `mix.weight` (d_model, d_model + d_position), PE is `table`.

Departs from the lecture: there e(w); pos(t) itself, wider than e(w), goes on; we mix it back to d_model, so
that the blocks keep their width and the number of parameters that it costs is W's.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.fast import Linear
from nlmcore.positions.checks import check_text
from nlmcore.positions.sinusoids import sinusoidal


class ConcatenatedPositions(nn.Module):
    """W [x_t; PE(t)] with sinusoids PE of width d_position (None: d_model); x (batch, time, d_model).

    Raises ValueError for a text longer than max_length, and for a width that is no positive even number.
    """

    table: Tensor

    def __init__(self, max_length: int, d_model: int, d_position: int | None = None) -> None:
        super().__init__()
        d_position = d_model if d_position is None else d_position
        check_sizes(max_length=max_length, d_model=d_model, d_position=d_position)
        self.max_length, self.d_model = max_length, d_model
        self.register_buffer("table", sinusoidal(max_length, d_position), persistent=False)
        self.mix = Linear(d_model + d_position, d_model, bias=False)

    def forward(self, x: Float[Tensor, "batch time d_model"], first: int = 0) -> Float[Tensor, "batch time d_model"]:
        """W [x_t; PE(first + t)]: `first` tokens were read before x."""
        check_text(x, self.d_model, first, self.max_length)
        positions = self.table[first : first + x.shape[1]].expand(len(x), -1, -1)
        return self.mix(torch.cat([x, positions], dim=-1))
