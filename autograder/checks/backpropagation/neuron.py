"""Question 1a: one neuron, and its gradients."""

import torch
from torch import Tensor

from autograder.checks.backpropagation.common import CLOSED
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

NEURON = ("value", "d_w", "d_x", "d_b")
Four = tuple[Tensor, Tensor, Tensor, Tensor]


def _number(draw: Draw) -> Tensor:
    """Away from 0, where a bias does nothing, and from 1, where a factor does nothing."""
    number = draw.normal(1)[0].clone()
    return number + (1.2 if number > 0 else -0.2)


def _neurons(draw: Draw) -> list[Case]:
    (d,) = draw.sizes(1)
    return [case("a neuron", draw.normal(d), draw.normal(d), _number(draw))]


def _odd_neurons(draw: Draw) -> list[Case]:
    (d,) = draw.sizes(1)
    return [
        case("a single input", draw.normal(1), draw.normal(1), _number(draw)),
        case("float64", *(draw.normal(d).double() for _ in range(2)), _number(draw).double()),
    ]


def _neuron(w: Tensor, x: Tensor, b: Tensor) -> Four:
    value = torch.sigmoid(w @ x + b)
    slope = value * (1 - value)
    return value, slope * x, slope * w, slope


def _with_slope(w: Tensor, x: Tensor, b: Tensor, slope: Tensor) -> Four:
    return torch.sigmoid(w @ x + b), slope * x, slope * w, slope


def _value(w: Tensor, x: Tensor, b: Tensor) -> Tensor:
    return torch.sigmoid(w @ x + b)


def _exchanged(w: Tensor, x: Tensor, b: Tensor) -> Four:
    value, d_w, d_x, d_b = _neuron(w, x, b)
    return value, d_x, d_w, d_b


def _of_the_value(w: Tensor, x: Tensor, b: Tensor) -> Tensor:
    again = torch.sigmoid(_value(w, x, b))
    return again * (1 - again)


NEURON_GRADIENTS = Exercise(
    name="backpropagation.neuron",
    title="One neuron",
    signature="neuron(w, x, b)",
    arguments=("w", "x", "b"),
    returns=NEURON,
    minutes=15,
    difficulty="easy",
    reference=_neuron,
    properties=(
        Property(name="the value", points=0.5, cases=_neurons, judge=same_values(NEURON, [0]), outputs=(0,)),
        Property(
            name="the gradient of the bias", points=0.75, cases=_neurons, judge=same_values(NEURON, [3]), outputs=(3,)
        ),
        Property(
            name="the gradient of the weights",
            points=0.75,
            cases=_neurons,
            judge=same_values(NEURON, [1]),
            outputs=(1,),
        ),
        Property(
            name="the gradient of the inputs", points=0.75, cases=_neurons, judge=same_values(NEURON, [2]), outputs=(2,)
        ),
        Property(name="one input, and float64", points=0.25, cases=_odd_neurons, judge=same_values(NEURON)),
    ),
    misconceptions=(
        Misconception(
            id="slope-forgotten",
            sentence=(
                "The gradients are those of w·x + b: the slope of the sigmoid is missing. Every gradient goes through"
                " it on its way back: multiply by (1 − σ) σ."
            ),
            implementation=lambda w, x, b: (_value(w, x, b), x.clone(), w.clone(), torch.ones_like(b)),
        ),
        Misconception(
            id="sigmoid-twice",
            sentence=(
                "You put the *value* into the sigmoid once more. The slope is (1 − σ) σ, with σ the value that you"
                " already have: no sigmoid is needed on the way back."
            ),
            implementation=lambda w, x, b: _with_slope(w, x, b, _of_the_value(w, x, b)),
        ),
        Misconception(
            id="inputs-for-weights",
            sentence=(
                "The gradients of w and of x have changed places. At a product each factor gets the *other* one: w gets"
                " x, and x gets w."
            ),
            implementation=_exchanged,
        ),
        Misconception(
            id="bias-as-a-factor",
            sentence=(
                "Your d_b is the slope times b, as if b were a factor. It is added: at a sum everybody gets what comes"
                " from above, so d_b is the slope itself."
            ),
            implementation=lambda w, x, b: (*_neuron(w, x, b)[:3], _neuron(w, x, b)[3] * b),
        ),
        Misconception(
            id="half-the-slope",
            sentence="Your slope is 1 − σ. It is (1 − σ) σ: it is small where the neuron is off, too.",
            implementation=lambda w, x, b: _with_slope(w, x, b, 1 - _value(w, x, b)),
        ),
        Misconception(
            id="tanh-slope",
            sentence="Your slope is 1 − σ². That is the slope of a tanh; the sigmoid's is (1 − σ) σ.",
            implementation=lambda w, x, b: _with_slope(w, x, b, 1 - _value(w, x, b) ** 2),
        ),
    ),
    closed=CLOSED,
)
