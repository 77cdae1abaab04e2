"""Question 3: the length penalty at which two texts tie, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from autograder.exercise.specification import Both

_points = at_points(L=(-9.0, -4.0), n=(7, 15), K=(-3.0, -0.5), m=(2, 5), alpha=(0.2, 1.8))
_turned = at_points(
    "the longer text is more probable", L=(-3.0, -0.5), n=(7, 15), K=(-9.0, -4.0), m=(2, 5), alpha=(0.2, 1.8)
)

TIE = question(
    "decoding.tie",
    minutes=15,
    difficulty="medium",
    returns=("slope", "tie"),
    properties=[
        formula("the slope of the score", 1, _points, "slope"),
        formula("the penalty of the tie", 1, Both((_points, _turned)), "tie"),
    ],
    numpy=True,
    mistakes="""
quotient-upside-down: Your second result is 1/α. From ln (L / K) = α ln (n / m), divide by the logarithm of the lengths.
- math.log(L / K) / math.log(n / m) → math.log(n / m) / math.log(L / K)

power-rule: You differentiated n^−α as if n were the variable. Here α is: the derivative of e^(−α ln n) has the factor
−ln n.
- -math.log(n) * L / n**alpha → -alpha * L / n ** (alpha + 1)

minus-lost: The minus sign of the exponent is lost. A log-probability is negative, and dividing it by more makes it
larger, so the score grows with α.
- -math.log(n) → math.log(n)

logarithm-lost: The factor ln n is lost: the inner derivative of e^(−α ln n).
- -math.log(n) * L → -L

ratio-of-one-turned: You turned one of the two fractions over, so your α has the wrong sign. Write L above K
and n above m, or both the other way round.
- math.log(n / m) → math.log(m / n)

logarithms-forgotten: At the tie L/K = (n/m)^α. α is an exponent: take logarithms on both sides.
- math.log(L / K) / math.log(n / m) → (L / K) / (n / m)

difference-for-ratio: You divided the difference of the log-probabilities by that of the logarithms of the lengths. The
scores are quotients: their ratio is 1 at the tie.
- math.log(L / K) / math.log(n / m) → (L - K) / math.log(n / m)

score-for-slope: Your first result is the score itself. Return its derivative.
- -math.log(n) * L / n**alpha → L / n**alpha
""",
)
