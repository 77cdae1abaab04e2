"""Question 2d: the discount by leaving one out, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula

_points = at_points(n_1=(400, 900), n_2=(5, 190), D=(0.05, 0.95))

BEST_DISCOUNT = question(
    "ngrams.best_discount",
    minutes=15,
    difficulty="medium",
    returns=("slope", "best"),
    properties=[
        formula("the slope of F", 1, _points, "slope"),
        formula("the best discount", 1, _points, "best"),
    ],
    numpy=True,
    mistakes="""
chain-rule-forgotten: The derivative of ln(1 − D) is −1/(1 − D): the chain rule gives the minus sign, because 1 − D
falls as D grows. Otherwise the slope is never 0.
- D - 2 → D + 2
- n_1 + 2 * n_2 → n_1 - 2 * n_2

twice-seen-counted-once: A pair that was seen twice is left out twice, so its term has the factor 2. It is lost in your
formula.
* 2 * n_2 → n_2

solved-for-the-rest: Your second result is 1 − D, the part of a count that is kept. Return D, the part that is taken.
- n_1 / (n_1 + 2 * n_2) → 2 * n_2 / (n_1 + 2 * n_2)

not-solved-for-all: Your second result is the ratio D/(1 − D). D is on both sides of the equation: collect it on one
side before you divide.
- n_1 / (n_1 + 2 * n_2) → n_1 / (2 * n_2)

factor-in-the-wrong-term: The factor 2 belongs to the pairs that were seen twice, n_2, not to those seen once.
- n_1 / D - 2 * n_2 → 2 * n_1 / D - n_2
- n_1 / (n_1 + 2 * n_2) → 2 * n_1 / (2 * n_1 + n_2)

function-for-slope: Your first result is F(D) itself. Return its derivative: how fast F grows as D grows.
- n_1 / D - 2 * n_2 / (1 - D) → n_1 * math.log(D) + 2 * n_2 * math.log(1 - D)
""",
)
