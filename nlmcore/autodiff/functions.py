"""The pair of `Value`, for tensors: PyTorch's own interface for a forward and a backward written by hand.

`forward` computes and saves what `backward` will need; `backward` is given the upstream gradient, one entry per
output, and returns upstream × local, one result per input. `Sigmoid.apply(x)` is differentiable, by our derivative.

Source: CS231n and `torch.autograd.Function`; `torch.autograd.gradcheck` checks these. Departs from the source: nothing.
"""

from typing import Any

import torch
from torch import Tensor


class Multiply(torch.autograd.Function):
    """z = x · y. Each operand's local gradient is the other operand, so both are saved."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        if x.shape != y.shape:
            raise ValueError(f"x and y must have one shape, got {tuple(x.shape)} and {tuple(y.shape)}")
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor]:
        x, y = ctx.saved_tensors
        return upstream[0] * y, upstream[0] * x


class Sigmoid(torch.autograd.Function):
    """σ(x) as one node. Its derivative (1 − σ)σ needs only the output, so that is what is saved."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        sigma = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(sigma)
        return sigma

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        (sigma,) = ctx.saved_tensors
        return upstream[0] * (1 - sigma) * sigma
