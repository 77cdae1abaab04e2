"""Question 4: a matrix that is used twice."""

import torch
from torch import Tensor

from autograder.checks.backpropagation.common import CLOSED
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

TIED = ("d_W",)


def _tied(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a batch", draw.normal(batch, n_in), draw.normal(n_in, hidden) / n_in**0.5, draw.normal(batch, n_in))]


def _small(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [
        case("one example, one hidden unit", draw.normal(1, n), draw.normal(n, 1), draw.normal(1, n)),
        case("W is square", draw.normal(2, n), draw.normal(n, n) / n**0.5, draw.normal(2, n)),
    ]


def _ways(x: Tensor, W: Tensor, d_y: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient by way of W's first use, and by way of its second."""
    h = torch.tanh(x @ W)
    return x.T @ (d_y @ W * (1 - h * h)), d_y.T @ h


def _by_the_transpose(x: Tensor, W: Tensor, d_y: Tensor) -> Tensor:
    h = torch.tanh(x @ W)
    return x.T @ (d_y @ W.T * (1 - h * h)) + d_y.T @ h


TIED_GRADIENT = Exercise(
    name="backpropagation.tied_gradient",
    title="Used twice",
    signature="tied_gradient(x, W, d_y)",
    arguments=("x", "W", "d_y"),
    returns=TIED,
    minutes=25,
    difficulty="hard",
    reference=lambda x, W, d_y: sum(_ways(x, W, d_y)),
    properties=(
        Property(name="it has the shape of W", points=0.25, cases=_tied, judge=same_shapes(TIED)),
        Property(name="the gradient", points=2.75, cases=_tied, judge=same_values(TIED)),
        Property(name="small sizes", points=1, cases=_small, judge=same_values(TIED)),
    ),
    misconceptions=(
        Misconception(
            id="second-use-only",
            sentence=(
                "Only W's second use, above, has been counted. It is also what h was made with: its gradient is the sum"
                " over both ways."
            ),
            implementation=lambda x, W, d_y: _ways(x, W, d_y)[1],
        ),
        Misconception(
            id="first-use-only",
            sentence=(
                "Only W's first use, below, has been counted: perhaps the second was overwritten (`=` in the place of"
                " `+=`). The gradient is the sum over both ways."
            ),
            implementation=lambda x, W, d_y: _ways(x, W, d_y)[0],
        ),
        Misconception(
            id="averaged",
            sentence="You took the mean of the two ways. Gradients that meet are *added*.",
            implementation=lambda x, W, d_y: sum(_ways(x, W, d_y)) / 2,
        ),
        Misconception(
            id="tanh-skipped",
            sentence="On the way through W's first use the tanh is missing: multiply by 1 − h².",
            implementation=lambda x, W, d_y: x.T @ (d_y @ W) + d_y.T @ torch.tanh(x @ W),
        ),
        Misconception(
            id="upper-use-not-transposed",
            sentence=(
                "By way of the upper use you have the gradient of Wᵀ, (hidden, in). W itself gets its transpose,"
                " d_yᵀ h; where W is square, only the numbers tell."
            ),
            implementation=lambda x, W, d_y: _ways(x, W, d_y)[0] + _ways(x, W, d_y)[1].T,
        ),
        Misconception(
            id="back-by-the-transpose",
            sentence=(
                "From y back to h you went through Wᵀ. Forward, y = h Wᵀ; on the way back stands the transpose of"
                " *that*, which is W itself."
            ),
            implementation=_by_the_transpose,
        ),
    ),
    closed=CLOSED,
)
