"""Is a gradient right? Compare it with difference quotients, which need no calculus.

    ∂f/∂xᵢ ≈ (f(x + h eᵢ) − f(x − h eᵢ)) / 2h        the central difference; its error shrinks as h²

A large h errs by curvature, a small one by rounding; the cube root of the machine's precision, 1e-16^(1/3) ≈ 5e-6,
balances the two.

**Tensors**: PyTorch's own interface for a forward and a backward written by hand. `forward` computes and saves what
`backward` will need; `backward` is given the upstream gradient, one entry per output, and returns upstream × local, one
result per input. `Sigmoid.apply(x)` is differentiable, by our derivative. Source: CS231n and `torch.autograd.Function`;
`torch.autograd.gradcheck` checks these. Departs from the source: nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nlmcore.autodiff.value import Value
from nlmcore.checks import Positive, checked, described

STEP = 5e-6


@checked
def numerical_gradient(
    function: Callable[..., Any], point: Sequence[float | int], step: Positive = STEP
) -> tuple[float, ...]:
    """∂f/∂xᵢ at `point`, for every i, by central differences. `function` takes values and returns one."""
    gradient = []
    for i in range(len(point)):
        above, below = ([x + (h if i == j else 0) for j, x in enumerate(point)] for h in (step, -step))
        difference = float(function(*map(Value, above))) - float(function(*map(Value, below)))
        gradient.append(difference / (above[i] - below[i]))  # the step that was taken, after rounding
    return tuple(gradient)


@dataclass(frozen=True)
class GradientCheck:
    """Both gradients of a function at a point, by its graph and by difference quotients; and how far they are apart."""

    backward: tuple[float, ...]
    numerical: tuple[float, ...]

    @property
    def error(self) -> float:
        """The largest gap, relative to the gradient where that is larger than 1."""
        gaps = (abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in zip(self.backward, self.numerical, strict=True))
        return max(gaps, default=0.0)


def check_gradient(
    function: Callable[..., Value], point: Sequence[float | int], step: Positive = STEP
) -> GradientCheck:
    """Differentiate `function` at `point` twice, through its graph and by difference quotients.

    The `.error` of a right gradient is below about 1e-8, except at a kink (relu at 0).
    """
    inputs = [Value(x) for x in point]
    result = function(*inputs)
    if not isinstance(result, Value):
        raise TypeError(f"function must return a Value, got {described(result)}")
    result.backward()
    return GradientCheck(tuple(x.grad for x in inputs), numerical_gradient(function, point, step))


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
