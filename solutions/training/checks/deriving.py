"""Question 1c: the same gradient again and again, on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula

_points = at_points(
    g=(0.5, 3.0), beta=(0.5, 0.95), q=(0.1, 0.45), beta1=(0.6, 0.95), beta2=(0.96, 0.999), t=(2, 30)
)  # fmt: skip

SAME_GRADIENT = question(
    "training.same_gradient",
    minutes=20,
    difficulty="medium",
    returns=("velocity", "steps", "uncorrected"),
    properties=[
        formula("the velocity", 0.5, _points, "velocity"),
        formula("the number of steps", 0.75, _points, "steps"),
        formula("Adam's uncorrected step", 0.75, _points, "uncorrected"),
    ],
    numpy=True,
    mistakes="""
limit-for-sum: Your velocity is the value that it approaches after many steps. After t steps the sum has t terms, and
the part βᵗ of the limit is still missing.
- g * (1 - beta**t) → g

average-for-sum: Your velocity is an average that approaches g. Momentum's sum approaches g / (1 − β).
- g * (1 - beta**t) / (1 - beta) → g * (1 - beta**t)

one-term-too-many: Your geometric sum has one term too many. After t steps the powers of β go from 0 to t − 1.
- 1 - beta**t → 1 - beta ** (t + 1)

missing-for-reached: You solved βᵗ = q. The velocity has reached the fraction q when the fraction 1 − q is still
missing.
- math.log(1 - q) → math.log(q)

fraction-upside-down: Your number of steps is upside down: t ln β = ln (1 − q), so divide by ln β.
- math.log(1 - q) / math.log(beta) → math.log(beta) / math.log(1 - q)

velocity-not-relative: You asked when the velocity reaches q itself. It should reach the fraction q of the value that
it approaches, which is g / (1 − β).
- math.log(1 - q) / → math.log(abs(1 - q * (1 - beta) / g)) /

root-forgotten: Adam divides by the *root* of the second average.
- math.sqrt(1 - beta2**t) → (1 - beta2**t)

correction-for-step: That is the factor by which the corrections change the step. Without them the step is one divided
by that.
- (1 - beta1**t) / math.sqrt(1 - beta2**t) → math.sqrt(1 - beta2**t) / (1 - beta1**t)

first-step-only: Your third formula is right for the first step only. The averages of step t contain t gradients, so
the powers of β₁ and β₂ are needed.
- (1 - beta1**t) / math.sqrt(1 - beta2**t) → (1 - beta1) / math.sqrt(1 - beta2)

gradient-not-cancelled: Your third formula contains g. The first average is proportional to g and so is the root of
the second, so g cancels.
- (1 - beta1**t) / math → g * (1 - beta1**t) / math
""",
)
