"""Question 5: the gradient of a weight that is used T times, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula

_few = at_points("few steps", u=(0.5, 1.4), h_0=(0.5, 2.0), y=(-2.0, -0.5), T=(2, 5))
_many = at_points("many steps", u=(0.8, 1.1), h_0=(0.5, 2.0), y=(-2.0, -0.5), T=(6, 20))

THROUGH_TIME = question(
    "recurrence.through_time",
    minutes=15,
    difficulty="medium",
    returns=("d_u", "d_h_0"),
    properties=[
        formula("the gradient of the weight, few steps", 0.75, _few, "d_u"),
        formula("the gradient of the weight, many steps", 0.5, _many, "d_u"),
        formula("the gradient of the initial state", 0.75, _many, "d_h_0"),
    ],
    numpy=True,
    mistakes="""
last-use-only: Your gradient of the weight counts its last use only, u h_(T−1) with h_(T−1) as given. The earlier uses
reach the loss through h_(T−1).
- error * T * u ** (T - 1) * h_0 → error * u ** (T - 1) * h_0

exponent-kept: The derivative of u^T is T u^(T−1): the exponent falls by one.
- u ** (T - 1) → u**T

error-forgotten: You differentiated h_T, not the loss. The derivative of ½ (h_T − y)² begins with the factor h_T − y.
- u**T * h_0 - y → 1.0

error-reversed: Your error is y − h_T. The derivative of ½ (h_T − y)² is h_T − y, so both signs are reversed.
- u**T * h_0 - y → y - u**T * h_0

one-step-too-few: After T steps h_0 has been multiplied by u T times, and so is the gradient on its way back.
- error * u**T → error * u ** (T - 1)

state-left-in: Your second result still has the factor h_0. With respect to h_0, u^T h_0 has the derivative u^T.
- error * u**T → error * u**T * h_0
""",
)
