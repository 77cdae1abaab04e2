"""Learned positions: one free vector per position, added to the embedding. And none at all.

y_t = x_t + p_t, p = weight (max_length, d_model)      Gehring et al. (2017), section 3.1; Devlin et al. (2019), 3
y_t = x_t                                              Haviv et al. (2022). Departs from the papers: nothing
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Count, Size, checked
from nlmcore.positions.checks import check_length


class LearnedPositions(nn.Module):
    """x_t + p_t with a free vector p_t for each of max_length positions; x (batch, time, d_model).

    Raises ValueError for a text longer than max_length: positions beyond it have no trained vector.
    """

    @checked
    def __init__(self, max_length: Size, d_model: Size) -> None:
        super().__init__()
        self.max_length, self.d_model, self.is_table = max_length, d_model, True
        self.weight = nn.Parameter(torch.empty(max_length, d_model).normal_(std=0.02))

    @checked
    def forward(
        self, x: Float[Tensor, "batch time {self.d_model}"], first: Count = 0
    ) -> Float[Tensor, "batch time d_model"]:
        """x_t + p_{first + t}: `first` tokens were read before x."""
        check_length(first, x.shape[1], self.max_length)
        return x + self.weight[first : first + x.shape[1]]


class NoPositions(nn.Module):
    """x as it is, of any length.

    For positions inside attention (rotary, ALiBi, …). A causal model learns some order even without any: token t can
    count the t tokens that it sees (Haviv et al. 2022). Without a causal mask a text is a bag of words.
    """

    @checked
    def __init__(self, max_length: Size, d_model: Size) -> None:
        super().__init__()
        self.d_model = d_model

    @checked
    def forward(
        self, x: Float[Tensor, "batch time {self.d_model}"], first: Count = 0
    ) -> Float[Tensor, "batch time d_model"]:
        return x
