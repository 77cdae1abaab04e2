"""Question 1a: one step."""

import torch
from torch import Tensor

from autograder.checks.recurrence.common import REFERENCE_ITSELF, step, weights
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

STEP = ("h",)


def _steps(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a batch", draw.normal(batch, n_in), draw.normal(batch, hidden), *weights(draw, n_in, hidden))]


def _square(draw: Draw) -> list[Case]:
    batch, n = draw.sizes(2)
    return [case("as many units as inputs", draw.normal(batch, n), draw.normal(batch, n), *weights(draw, n, n))]


def _odd_steps(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    doubles = [t.double() for t in (draw.normal(2, n), draw.normal(2, n), *weights(draw, n, n))]
    return [
        case("one text, one unit", draw.normal(1, n), draw.normal(1, 1), *weights(draw, n, 1)),
        case("float64", *doubles),
    ]


def _exchanged(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(x @ U + h @ W + b)


RNN_STEP = Exercise(
    name="recurrence.rnn_step",
    title="One step",
    signature="rnn_step(x, h, W, U, b)",
    arguments=("x", "h", "W", "U", "b"),
    returns=STEP,
    minutes=10,
    difficulty="easy",
    reference=step,
    properties=(
        Property(name="a batch", points=1, cases=_steps, judge=same_values(STEP)),
        Property(name="as many units as inputs", points=0.5, cases=_square, judge=same_values(STEP)),
        Property(name="one text, one unit, and float64", points=0.5, cases=_odd_steps, judge=same_values(STEP)),
    ),
    misconceptions=(
        Misconception(
            id="u-and-w-exchanged",
            sentence=(
                "U and W have changed places. W reads the input, U the state before. Where both are square nothing"
                " complains; sizes that differ show it at once."
            ),
            implementation=_exchanged,
        ),
        Misconception(
            id="no-tanh",
            sentence="The sum is there and the tanh is missing: without it the state grows without bound.",
            implementation=lambda x, h, W, U, b: x @ W + h @ U + b,
        ),
        Misconception(
            id="sigmoid",
            sentence="You squashed with a sigmoid, between 0 and 1. Here it is tanh, between −1 and 1.",
            implementation=lambda x, h, W, U, b: torch.sigmoid(x @ W + h @ U + b),
        ),
        Misconception(
            id="past-forgotten",
            sentence="The state before does not come in: without h U this is a network that reads one word.",
            implementation=lambda x, h, W, U, b: torch.tanh(x @ W + b),
        ),
        Misconception(
            id="bias-forgotten",
            sentence="The bias b is missing: it is added before the tanh.",
            implementation=lambda x, h, W, U, b: torch.tanh(x @ W + h @ U),
        ),
        Misconception(
            id="tanh-of-the-parts",
            sentence=(
                "You squashed x W and h U each for itself and added the results. Add first, squash once: the state then"
                " stays between −1 and 1."
            ),
            implementation=lambda x, h, W, U, b: torch.tanh(x @ W + b) + torch.tanh(h @ U),
        ),
        Misconception(
            id="u-transposed",
            sentence=(
                "U is transposed. Vectors are rows here, so the state stands to its left as it is: h U. (PyTorch's"
                " weight_hh is our U transposed.)"
            ),
            implementation=lambda x, h, W, U, b: torch.tanh(x @ W + h @ U.T + b),
            also=(lambda x, h, W, U, b: torch.tanh(x @ W.T + h @ U.T + b),),
        ),
        Misconception(
            id="bias-after-the-tanh",
            sentence=(
                "b is added after the tanh, and the state can leave −1 to 1. It is part of the sum that is squashed:"
                " it moves the point at which a unit turns."
            ),
            implementation=lambda x, h, W, U, b: torch.tanh(x @ W + h @ U) + b,
        ),
        Misconception(
            id="bias-twice",
            sentence=(
                "b is added twice, once with the input and once with the state. PyTorch has two biases there; here is"
                " one, and it is added once."
            ),
            implementation=lambda x, h, W, U, b: torch.tanh(x @ W + h @ U + 2 * b),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
