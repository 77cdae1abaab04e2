"""Learned positions: one free vector per place, added to the embedding. And none at all.

    y_t = x_t + p_t                Gehring et al. (2017), section 3.1; Devlin et al. (2019), section 3
    y_t = x_t                      Haviv et al. (2022)

Symbols: p is `weight` (max_length, d_model).

Departs from the papers: nothing.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.positions.checks import check_text


class LearnedPositions(nn.Module):
    """x_t + p_t with a free vector p_t for each of max_length positions; x (batch, time, d_model).

    Raises ValueError for a text longer than max_length: there is no vector for what was never trained.
    """

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        check_sizes(max_length=max_length, d_model=d_model)
        self.max_length = max_length
        self.weight = nn.Parameter(torch.empty(max_length, d_model).normal_(std=0.02))

    def forward(self, x: Float[Tensor, "batch time d_model"], first: int = 0) -> Float[Tensor, "batch time d_model"]:
        """x_t + p_{first + t}: `first` tokens were read before x."""
        check_text(x, self.weight.shape[1], first, self.max_length)
        return x + self.weight[first : first + x.shape[1]]


class NoPositions(nn.Module):
    """x as it is, of any length; max_length is not used.

    For attention that is told positions itself (rotary, ALiBi, …), and for the finding that a causal model
    learns some order without being told any: token t can count the t tokens that it sees (Haviv et al. 2022).
    Without a causal mask a text is a bag of words.
    """

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        check_sizes(max_length=max_length, d_model=d_model)
        self.d_model = d_model

    def forward(self, x: Float[Tensor, "batch time d_model"], first: int = 0) -> Float[Tensor, "batch time d_model"]:
        """x. Raises what the other modules raise, but for the length."""
        check_text(x, self.d_model, first)
        return x
