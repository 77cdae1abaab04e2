"""Question 1a: momentum, for a whole network."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.training.checks.common import matrix_and_bias, tensors, without


def _first(draw: Draw) -> list[Case]:
    shapes = matrix_and_bias(draw)
    rate = draw.integer(2, 8) / 10
    return [case("the first step", tensors(draw, shapes), tensors(draw, shapes), {}, rate, 0.9)]


def _later(draw: Draw) -> list[Case]:
    shapes = matrix_and_bias(draw)
    weights, gradients, velocity = (tensors(draw, shapes) for _ in range(3))
    return [case("a later step", weights, gradients, velocity, draw.integer(2, 8) / 10, draw.integer(5, 9) / 10)]


def _absent(draw: Draw) -> list[Case]:
    """The bias has no gradient, and the embeddings get their first."""
    shapes = [*matrix_and_bias(draw), ("E", [2, draw.size()])]
    weights, gradients, velocity = (tensors(draw, shapes) for _ in range(3))
    return [case("a parameter without a gradient", weights, without(gradients, "b"), without(velocity, "E"), 0.3, 0.8)]


def _odd(draw: Draw) -> list[Case]:
    n = draw.size()
    one = [("w", [n])]
    twice = [tensors(draw, one, torch.float64) for _ in range(3)]
    slices = [{"W": draw.strided(2, n)} for _ in range(3)]
    return [
        case("one parameter, β = 0", tensors(draw, one), tensors(draw, one), tensors(draw, one), 0.5, 0.0),
        case("float64", *twice, 0.25, 0.9),
        case("slices of larger arrays", *slices, 0.1, 0.5),
    ]


MOMENTUM = question(
    "training.momentum_step",
    minutes=15,
    difficulty="easy",
    returns=("weights", "velocity"),
    properties=[
        values("the weights after the first step", 0.5, _first, "weights"),
        values("the velocity after the first step", 0.25, _first, "velocity"),
        values("the velocity after a later step", 0.5, _later, "velocity"),
        values("the weights after a later step", 0.5, _later, "weights"),
        values("a parameter without a gradient", 0.25, _absent),
        values("β = 0, one parameter, float64, slices", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
velocity-reset: Your velocity is 0 again at every step, so this is plain SGD. Begin with the velocity that you are
given, and return the new one.
- velocity.get(name, 0) → 0

averaged: Your velocity is an average: the gradient enters it times 1 − β. Adam's first average does that. Momentum
keeps a sum, so that a gradient that always points the same way gives ever longer steps.
- * velocity.get(name, 0) + g → * velocity.get(name, 0) + (1 - beta) * g

step-before-the-update: You step along the velocity that you were given, which does not contain this gradient yet.
First update the velocity, then step along the new one.
- weights[name] - rate * v → weights[name] - rate * velocity.get(name, np.zeros_like(g))

rate-in-the-velocity: Your velocity contains the learning rate. Then a change of the rate acts on old gradients only
after many steps. Here the velocity is a sum of gradients, and the rate multiplies it once, in the step.
- name, 0) + g → name, 0) + rate * g
- - rate * v → - v

uphill: You add the step, so the loss rises. Subtract it: the gradient points uphill.
- weights[name] - rate → weights[name] + rate

looks-ahead: That is Nesterov's momentum, which adds the gradient once more to the step. Here the step is the
velocity, nothing else.
- weights[name] - rate * v → weights[name] - rate * (g + beta * v)

coasting: A parameter without a gradient coasts along its old velocity in your function. It should stay where it is,
and its velocity too.
- gradients.items() → {**{name: 0 * v for name, v in velocity.items()}, **gradients}.items()

left-out: Your dictionaries contain only the parameters that had a gradient. The next step needs all of them: start
from copies, `dict(weights)` and `dict(velocity)`.
- dict(weights), dict(velocity) → {}, {}

only-weights-left-out: Your new weights contain only the parameters that had a gradient, so the network has lost the
others. Start from a copy, `dict(weights)`.
- dict(weights), dict(velocity) → {}, dict(velocity)

only-velocity-left-out: Your new velocity contains only the parameters that had a gradient, so what you knew of the
others is forgotten. Start from a copy, `dict(velocity)`.
- dict(weights), dict(velocity) → dict(weights), {}

in-place: The values are right, but you changed the dictionaries or arrays that you were given. `new = weights` is
only a second name, and `-=` writes into the caller's array.
- dict(weights), dict(velocity) → weights, velocity
or
- weights[name] - rate * v → np.subtract(weights[name], rate * v, out=weights[name])
or
- dict(weights), dict(velocity) → dict(weights), velocity
or
- dict(weights), dict(velocity) → weights, dict(velocity)
""",
)
