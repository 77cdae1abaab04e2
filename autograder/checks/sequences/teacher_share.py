"""Question 2a: how often the truth is fed."""

import math

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

SHARE = ("share",)


def _teacher_share(step: int, kind: str, k: float) -> float:
    if kind == "linear":
        return max(0.0, 1.0 - k * step)
    if kind == "exponential":
        return k**step
    return k / (k + math.exp(step / k))


def _linear(draw: Draw) -> list[Case]:
    step = draw.integer(3, 9)
    return [case("linear", step, "linear", 0.06), case("linear, long after", 40 + step, "linear", 0.05)]


def _exponential(draw: Draw) -> list[Case]:
    return [case("exponential", draw.integer(2, 9), "exponential", 0.8)]


def _sigmoid(draw: Draw) -> list[Case]:
    return [case("inverse sigmoid", draw.integer(5, 30), "inverse sigmoid", 6.0 + draw.integer(0, 3))]


def _at_first(draw: Draw) -> list[Case]:
    return [case(f"{kind}, step 0", 0, kind, k) for kind, k in (("linear", 0.1), ("exponential", 0.9))]


def _unclipped(step: int, kind: str, k: float) -> float:
    return 1.0 - k * step if kind == "linear" else _teacher_share(step, kind, k)


def _times(step: int, kind: str, k: float) -> float:
    return k / (k + math.exp(min(step * k, 300))) if kind == "inverse sigmoid" else _teacher_share(step, kind, k)


def _plain_sigmoid(step: int, kind: str, k: float) -> float:
    return 1 / (1 + math.exp(step / k)) if kind == "inverse sigmoid" else _teacher_share(step, kind, k)


def _e_to_the(step: int, kind: str, k: float) -> float:
    return math.exp(-k * step) if kind == "exponential" else _teacher_share(step, kind, k)


TEACHER_SHARE = Exercise(
    name="sequences.teacher_share",
    title="How often the truth",
    signature="teacher_share(step, kind, k)",
    arguments=("step", "kind", "k"),
    returns=SHARE,
    minutes=10,
    difficulty="easy",
    reference=_teacher_share,
    properties=(
        Property(name="linear", points=0.5, cases=_linear, judge=same_values(SHARE)),
        Property(name="exponential", points=0.5, cases=_exponential, judge=same_values(SHARE)),
        Property(name="inverse sigmoid", points=0.75, cases=_sigmoid, judge=same_values(SHARE)),
        Property(name="in the beginning: always the truth", points=0.25, cases=_at_first, judge=same_values(SHARE)),
    ),
    misconceptions=(
        Misconception(
            id="reversed",
            sentence=(
                "Yours grows. The model begins with the truth, share 1, and is weaned from it: the share falls with the"
                " step."
            ),
            implementation=lambda step, kind, k: 1.0 - _teacher_share(step, kind, k),
        ),
        Misconception(
            id="below-zero",
            sentence="Your linear share falls below 0. It stays at 0 once it is there.",
            implementation=_unclipped,
        ),
        Misconception(
            id="step-times-k",
            sentence=(
                "In the inverse sigmoid you multiplied the step by k. It is divided: e^(step / k), so that a larger k"
                " means a *later* fall."
            ),
            implementation=_times,
        ),
        Misconception(
            id="plain-sigmoid",
            sentence=(
                "Your inverse sigmoid has 1 where k should stand, so it begins with one half. With k in numerator and"
                " denominator, k / (k + e^(step / k)), it begins near 1."
            ),
            implementation=_plain_sigmoid,
        ),
        Misconception(
            id="e-to-the-minus-k",
            sentence="Your exponential is e^(−k·step). Here k itself, below 1, is raised to the step: k ** step.",
            implementation=_e_to_the,
        ),
    ),
    closed=("nlmcore.training",),
)
