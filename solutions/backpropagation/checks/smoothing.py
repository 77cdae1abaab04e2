"""Question 5: label smoothing, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula

_points = at_points(z=(-3.0, 3.0), epsilon=(0.05, 0.4))

SMOOTHED_LOSS = question(
    "backpropagation.smoothed_loss",
    minutes=15,
    difficulty="medium",
    returns=("slope", "best"),
    properties=[
        formula("the slope", 1, _points, "slope"),
        formula("the best logit", 1, _points, "best"),
    ],
    numpy=True,
    mistakes="""
target-still-hard: Your slope is the one without smoothing, σ(z) − 1. The target is 1 − ε.
- (1 - epsilon), math → 1, math

smoothing-with-the-wrong-sign: Your target is 1 + ε, above 1: the second term of the loss got the wrong sign. Its slope
is ε σ(z).
- (1 - epsilon), math → (1 + epsilon), math

target-is-the-rest: Your target is ε, the probability of the other class. The labelled class has 1 − ε.
- (1 - epsilon), math → epsilon, math
- math.log((1 - epsilon) / epsilon) → math.log(epsilon / (1 - epsilon))

slope-reversed: Your slope has the wrong sign: it is what the model says minus what is right. Where the probability is
too large, a smaller logit has a smaller loss.
- 1 / (1 + math.exp(-z)) - (1 - epsilon) → (1 - epsilon) - 1 / (1 + math.exp(-z))

best-reversed: Your best logit has the wrong sign. The labelled class should be the more probable one, so with ε below
½ the best logit is above 0.
- math.log((1 - epsilon) / epsilon) → math.log(epsilon / (1 - epsilon))

probability-for-logit: Your second result is the best *probability*. Solve σ(z) = 1 − ε for z.
- math.log((1 - epsilon) / epsilon) → 1 - epsilon

ratio-without-logarithm: Your second result is e^z. Take its logarithm.
- math.log((1 - epsilon) / epsilon) → (1 - epsilon) / epsilon

loss-for-slope: Your first result is L(z) itself. Return its derivative.
- 1 / (1 + math.exp(-z)) - (1 - epsilon) → math.log(1 + math.exp(-z)) + epsilon * z
""",
)
