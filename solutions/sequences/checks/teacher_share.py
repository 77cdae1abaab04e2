"""Question 2a: how often the decoder is given the reference."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.sequences.checks.common import CLOSED


def _linear(draw: Draw) -> list[Case]:
    step = draw.integer(3, 9)
    return [case("linear", step, "linear", 0.06), case("linear, long after", 40 + step, "linear", 0.05)]


def _exponential(draw: Draw) -> list[Case]:
    return [case("exponential", draw.integer(2, 9), "exponential", 0.8)]


def _sigmoid(draw: Draw) -> list[Case]:
    return [case("inverse sigmoid", draw.integer(5, 30), "inverse sigmoid", 6.0 + draw.integer(0, 3))]


def _at_first(draw: Draw) -> list[Case]:
    return [case(f"{kind}, step 0", 0, kind, k) for kind, k in (("linear", 0.1), ("exponential", 0.9))]


TEACHER_SHARE = question(
    "sequences.teacher_share",
    minutes=10,
    difficulty="easy",
    returns=("share",),
    properties=[
        values("linear", 0.5, _linear),
        values("exponential", 0.5, _exponential),
        values("inverse sigmoid", 0.8, _sigmoid),
        values("at the start: always the reference", 0.2, _at_first),
    ],
    closed=CLOSED,
    mistakes="""
reversed: Your fraction grows. Training starts with the reference, fraction 1, and moves away from it: the fraction
falls with the step.
- return max → return 1 - max
- return k**step → return 1 - k**step
- return k / → return 1 - k /

below-zero: Your linear fraction falls below 0. It should stay at 0 once it is there.
- max(0.0, 1 - k * step) → 1 - k * step

step-times-k: In the inverse sigmoid you multiplied the step by k. Divide by it: e^(step / k), so that a larger k means
a *later* fall.
- step / k → min(step * k, 300)

plain-sigmoid: Your inverse sigmoid has 1 where it should have k, so it starts at one half. With k in numerator and
denominator, k / (k + e^(step / k)), it starts near 1.
- k / (k + → 1 / (1 +

e-to-the-minus-k: Your exponential is e^(−k·step). Here k itself, below 1, is raised to the power of the step: k **
step.
- k**step → math.exp(-k * step)
""",
)
