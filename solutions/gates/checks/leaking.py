"""Question 1a: a leaky unit."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case


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
        case("a closed gate, then a fully open one", news, gates, h0),
        case("a single step, one unit", *_leaking(draw, 1, 1)),
        case(EQUAL, *_leaking(draw, units, units)),
    ]


LEAKY = question(
    "gates.leaky",
    minutes=15,
    difficulty="easy",
    returns=("states", "left"),
    properties=[
        shapes(0.25, _runs),
        values("the states", 1.25, _runs, "states"),
        values("what is left of h0", 1, _runs, "left"),
        values("gates of 0 and 1, a single step", 0.5, _odd_runs),
    ],
    numpy=True,
    mistakes="""
gate-the-other-way-round: You used the gate the other way round: g is the fraction that is *kept*, 1 − g the fraction
that is written. With g = 1 the state should not change.
^ gates = 1 - gates

written-in-full: You added the new value in full. The unit keeps g of the old value and writes 1 − g of the new one: the
two fractions sum to 1, so the state cannot grow without bound.
- (1 - g) * r → r

start-ignored: You start from zeros, but the state starts at h0.
- h, states = h0, [] → h, states = np.zeros_like(h0), []

power-of-the-last-gate: You raised the gate at time t to the power t. That is right only if the gate is the same at all
times. Here it changes: multiply the gates one by one.
- np.cumprod(gates, axis=0) → gates ** np.arange(1, len(gates) + 1)[:, None]

last-gate-only: That is what a single step keeps. Every step since the first has kept its own fraction of h0: multiply
all gates so far.
- np.cumprod(gates, axis=0) → gates.copy()

from-the-end: Your products run from time t to the end. What is left of h0 *after* step t is the product of the gates
from the first to the one at t.
- np.cumprod(gates, axis=0) → gates[::-1].cumprod(0)[::-1]

state-not-carried: Every step of yours starts from h0, so no state is passed on. Each step must use the state that the
previous step returned.
- states.append(h) → states.append(g * h0 + (1 - g) * r)

one-tensor-for-all-times: All your states equal the final one: you changed one array in place, and the list holds it
many times. Create a new array at every step.
- np.stack(states) → np.stack([h] * len(states))

left-times-the-start: The second result should be a fraction, but you multiplied it by h0. Its first entry is the first
gate, whatever h0 is.
- np.cumprod(gates, axis=0) → np.cumprod(gates, axis=0) * h0

over-the-units: You multiplied across units. Every unit has its own gates: multiply over time, which is axis 0.
- axis=0 → axis=1

left-before-the-step: Your products stop one gate early: they say what is left *before* each step and start with 1.
Return what is left after each step, so the first entry is the first gate.
- np.cumprod(gates, axis=0) → np.concatenate([np.ones_like(gates[:1]), gates.cumprod(0)[:-1]])
""",
)
