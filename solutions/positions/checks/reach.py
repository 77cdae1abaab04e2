"""Question 2c: what a head of ALiBi attends to, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from solutions.positions.checks.common import CLOSED

_points = at_points(slope=(0.05, 1.5))

ALIBI_REACH = question(
    "positions.alibi_reach",
    minutes=15,
    difficulty="medium",
    returns=("own", "distance"),
    properties=[
        formula("the weight of its own key", 1, _points, "own"),
        formula("the mean distance", 1, _points, "distance"),
    ],
    closed=CLOSED,
    mistakes="""
powers-of-two: You take powers of 2. The softmax takes powers of e: the factor from one distance to the next is e^(−m).
- math.exp(-slope) → 2 ** -slope

factor-for-weight: Your first result is the factor from one key to the next. The weight of the query's own key is 1
divided by the sum of the geometric series.
- return 1 - x, → return x,

sum-for-weight: Your first result is the sum of the series. The weight of the query's own key is 1 divided by that sum.
- return 1 - x, → return 1 / (1 - x),

series-from-one: Your series begins with distance 1. The query's own key, distance 0, is part of the softmax.
- return 1 - x, x / (1 - x) → return (1 - x) / x, 1 / (1 - x)

not-divided-by-the-sum: You added up n xⁿ without dividing by the sum of all weights. The weights have to sum to 1.
- x / (1 - x) → x / (1 - x) ** 2

one-over-the-slope: 1/m is the mean of a *continuous* distance. Distances are integers here, and for steep slopes that
makes a difference.
- x / (1 - x) → 1 / slope

counted-from-one: Your mean distance counts the query's own key as distance 1. It is distance 0.
- x / (1 - x) → 1 / (1 - x)

upside-down: Your mean distance is upside down: it grows with the slope, but a steep penalty keeps a head near.
- x / (1 - x) → (1 - x) / x
""",
)
