"""Learned positions: one free vector per position, added to the embedding. And none at all.

y_t = x_t + p_t, p = weight (max_length, d_model)      Gehring et al. (2017), section 3.1; Devlin et al. (2019), 3
y_t = x_t                                              Haviv et al. (2022). Departs from the papers: nothing
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import ContextLengthError, Count, Size, checked


def check_length(first: int, time: int, max_length: int) -> None:
    """`first` tokens and `time` more must not be more than max_length together."""
    if first + time > max_length:
        raise ContextLengthError(first, time, max_length)


class PositionsByTable(nn.Module):
    """`module(x, first)`: x (batch, time, d_model) with its positions, if first + time is at most max_length."""

    @checked
    def __init__(self, max_length: Size, d_model: Size) -> None:
        super().__init__()
        self.max_length, self.d_model = max_length, d_model

    @checked
    def forward(
        self, x: Float[Tensor, "batch time {self.d_model}"], first: Count = 0
    ) -> Float[Tensor, "batch time d_model"]:
        check_length(first, x.shape[1], self.max_length)
        return self.placed(x, first, first + x.shape[1])

    def placed(self, x: Tensor, first: int, end: int) -> Tensor:
        """x at positions first … end − 1."""
        raise NotImplementedError


class LearnedPositions(PositionsByTable):
    """x_t + p_t with a free vector p_t for each of max_length positions."""

    is_table = True  # its parameter is looked up

    def __init__(self, max_length: Size, d_model: Size) -> None:
        super().__init__(max_length, d_model)
        self.weight = nn.Parameter(torch.empty(max_length, d_model).normal_(std=0.02))

    def placed(self, x: Tensor, first: int, end: int) -> Tensor:
        return x + self.weight[first:end]


class NoPositions(nn.Module):
    """x as it is, of any length.

    A causal model learns some order even so: token t can count the t tokens that it sees (Haviv et al. 2022). Without a
    causal mask a text is a bag of words.
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
