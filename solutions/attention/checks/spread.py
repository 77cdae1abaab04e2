"""Question 5: the variance of a dot product, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from solutions.attention.checks.common import CLOSED

_points = at_points(d=(2, 300), a=(0.2, 3.0), b=(0.2, 3.0), m=(-2.0, 2.0))

SCORE_SPREAD = question(
    "attention.score_spread",
    minutes=15,
    difficulty="medium",
    returns=("variance", "divisor"),
    properties=[
        formula("the variance", 1.25, _points, "variance"),
        formula("the divisor", 0.75, _points, "divisor"),
    ],
    closed=CLOSED,
    mistakes="""
mean-forgotten: You left out the mean of the keys. The mean of k² is the variance plus the squared mean, b + m².
* (b + m**2) → b

mean-not-squared: The mean of k² is b + m², with the mean squared: it has the same unit as a variance.
* m**2 → m

spreads-added: You added the two variances of a product. For independent factors of which one has mean 0, the mean of
the square is the product of the two mean squares.
* a * (b + m**2) → (a + b + m**2)

one-entry: That is the variance of one product of entries. The dot product is a sum of d of them, and variances add.
* d * a → a

terms-added-as-deviations: You added standard deviations. Those of independent terms do not add, their squares do: the
variance grows with d, not with d².
* d * a → d**2 * a

divided-by-the-variance: Your divisor is the variance itself. Dividing by c divides the variance by c², so divide by
the root, the standard deviation.
- math.sqrt(d * a * (b + m**2)) → d * a * (b + m**2)

divided-by-the-root-of-the-width: Your divisor is √d, as in 2b. That is right for entries of variance 1 and mean 0
only.
- math.sqrt(d * a * (b + m**2)) → math.sqrt(d)
""",
)
