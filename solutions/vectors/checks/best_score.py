"""Question 4: what a dot product becomes, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula

_points = at_points(n=(20, 90), m=(0.5, 8.0), k=(2, 15), x=(-2.0, 2.0))

BEST_SCORE = question(
    "vectors.best_score",
    minutes=15,
    difficulty="medium",
    returns=("slope", "best"),
    properties=[
        formula("the slope of F", 1, _points, "slope"),
        formula("the best dot product", 1, _points, "best"),
    ],
    numpy=True,
    mistakes="""
noise-raises-the-score: Your best x grows with k. The more noise words per pair, the more often this pair is called
noise: ln k is subtracted.
- math.log(n / (k * m)) → math.log(n * k / m)

noise-words-forgotten: Your best dot product is the PMI itself. With k noise words per pair it is lower, by ln k.
- math.log(n / (k * m)) → math.log(n / m)

noise-pulls-as-well: Noise pushes the two apart: the slope of ln σ(−x) is −σ(x), with a minus sign.
- - k * m * yes → + k * m * yes

errors-swapped: You swapped σ(x) and 1 − σ(x). The pull of the neighbours ends when σ(x) is 1, the push of the noise
when it is 0.
- n * (1 - yes) - k * m * yes → n * yes - k * m * (1 - yes)

ratio-turned-over: Your best dot product has the wrong sign. Words that meet more often than chance should have a large
one.
- math.log(n / (k * m)) → math.log(k * m / n)

logarithm-forgotten: Your second result is e^x. Take its logarithm.
- math.log(n / (k * m)) → n / (k * m)

probability-for-score: Your second result is the best σ(x). Solve for x.
- math.log(n / (k * m)) → n / (n + k * m)

slope-of-the-loss: You differentiated the loss, −F. The best x is the same, but F rises where the loss falls.
- n * (1 - yes) - k * m * yes → n * (yes - 1) + k * m * yes
""",
)
