"""Question 1a: a unit that leaks."""

import torch
from torch import Tensor

from autograder.checks.gates.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

LEAK = ("states", "left")
Two = tuple[Tensor, Tensor]


def _leaking(draw: Draw, time: int, units: int) -> tuple[Tensor, Tensor, Tensor]:
    return draw.normal(time, units), torch.sigmoid(draw.normal(time, units) + 0.5), draw.normal(units)


def _runs(draw: Draw) -> list[Case]:
    (units,) = draw.sizes(1)
    return [case("several units, each with its own gates", *_leaking(draw, units + draw.integer(1, 3), units))]


def _odd_runs(draw: Draw) -> list[Case]:
    (units,) = draw.sizes(1)
    news, gates, h0 = _leaking(draw, 4, units)
    gates[1], gates[2] = 0.0, 1.0
    return [
        case("a gate that is shut, then one that is wide open", news, gates, h0),
        case("a single step, one unit", *_leaking(draw, 1, 1)),
    ]


def _leaky(news: Tensor, gates: Tensor, h0: Tensor) -> Two:
    return _mixed(news, gates, h0), gates.cumprod(0)


def _mixed(news: Tensor, gates: Tensor, h0: Tensor) -> Tensor:
    h, states = h0, []
    for new, g in zip(news, gates, strict=True):
        h = g * h + (1 - g) * new
        states.append(h)
    return torch.stack(states)


def _added(news: Tensor, gates: Tensor, h0: Tensor) -> Two:
    h, states = h0, []
    for new, g in zip(news, gates, strict=True):
        h = g * h + new
        states.append(h)
    return torch.stack(states), gates.cumprod(0)


def _not_carried(news: Tensor, gates: Tensor, h0: Tensor) -> Two:
    return gates * h0 + (1 - gates) * news, gates.cumprod(0)


def _one_tensor(news: Tensor, gates: Tensor, h0: Tensor) -> Two:
    return _mixed(news, gates, h0)[-1].expand_as(news).clone(), gates.cumprod(0)


def _before_each_step(news: Tensor, gates: Tensor, h0: Tensor) -> Two:
    return _mixed(news, gates, h0), torch.cat([torch.ones_like(gates[:1]), gates.cumprod(0)[:-1]])


LEAKY = Exercise(
    name="gates.leaky",
    title="A unit that leaks",
    signature="leaky(news, gates, h0)",
    arguments=("news", "gates", "h0"),
    returns=LEAK,
    minutes=15,
    difficulty="easy",
    reference=_leaky,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_runs, judge=same_shapes(LEAK)),
        Property(name="the states", points=1.25, cases=_runs, judge=same_values(LEAK, [0]), outputs=(0,)),
        Property(name="what is left of h0", points=1, cases=_runs, judge=same_values(LEAK, [1]), outputs=(1,)),
        Property(
            name="gates of 0 and 1, a single step", points=0.5, cases=_odd_runs, judge=same_values(LEAK), outputs=(0, 1)
        ),
    ),
    misconceptions=(
        Misconception(
            id="gate-the-other-way-round",
            sentence=(
                "Your gate works the other way round: g says how much is *kept*, 1 − g how much is written. With"
                " g = 1 the state should not change at all."
            ),
            implementation=lambda news, gates, h0: _leaky(news, 1 - gates, h0),
        ),
        Misconception(
            id="written-in-full",
            sentence=(
                "The new value is added in full. Mixing takes g of the old and 1 − g of the new: the two shares make 1,"
                " so the state cannot grow without bound."
            ),
            implementation=_added,
        ),
        Misconception(
            id="start-ignored",
            sentence="You begin with zeros, whatever h0 is.",
            implementation=lambda news, gates, h0: _leaky(news, gates, torch.zeros_like(h0)),
        ),
        Misconception(
            id="power-of-the-last-gate",
            sentence=(
                "You raised the gate of time t to the t-th power. That is what is left if the gate is the same at all"
                " times; here each has its own: multiply them, one by one."
            ),
            implementation=lambda news, gates, h0: (
                _mixed(news, gates, h0),
                gates ** torch.arange(1, len(gates) + 1)[:, None],
            ),
        ),
        Misconception(
            id="last-gate-only",
            sentence=(
                "That is what one step keeps. Of h0 every step since the first has kept its share: the product of all"
                " gates so far."
            ),
            implementation=lambda news, gates, h0: (_mixed(news, gates, h0), gates.clone()),
        ),
        Misconception(
            id="from-the-end",
            sentence=(
                "Your products run from time t to the end. What is left of h0 *after* step t is the product from the"
                " first gate to that of t."
            ),
            implementation=lambda news, gates, h0: (_mixed(news, gates, h0), gates.flip(0).cumprod(0).flip(0)),
        ),
        Misconception(
            id="state-not-carried",
            sentence=(
                "Every step begins with h0: the state is not handed on. Each step mixes into what the one before it has"
                " made."
            ),
            implementation=_not_carried,
        ),
        Misconception(
            id="one-tensor-for-all-times",
            sentence=(
                "All states are the same, the last one: you changed one tensor in place, and the list holds it many"
                " times. Make a new tensor at every step."
            ),
            implementation=_one_tensor,
        ),
        Misconception(
            id="left-times-the-start",
            sentence=(
                "What is left is asked as a share, and you have multiplied it by h0. It begins with the first gate,"
                " whatever h0 is."
            ),
            implementation=lambda news, gates, h0: (_mixed(news, gates, h0), gates.cumprod(0) * h0),
        ),
        Misconception(
            id="over-the-units",
            sentence=(
                "Your products run over the units. Each unit has gates of its own: multiply along the times, which are"
                " axis 0."
            ),
            implementation=lambda news, gates, h0: (_mixed(news, gates, h0), gates.cumprod(1)),
        ),
        Misconception(
            id="left-before-the-step",
            sentence=(
                "Your products stop one gate short: they say what is left *before* each step, and begin with 1. Asked"
                " is what is left after it: the first is the first gate."
            ),
            implementation=_before_each_step,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
