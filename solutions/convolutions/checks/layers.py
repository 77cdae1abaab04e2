"""Question 2c: a stack with growing dilations, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from solutions.convolutions.checks.common import CLOSED

_points = at_points(k=(2, 5), r=(2, 4), L=(2, 7), n=(30, 900))

DILATED_STACK = question(
    "convolutions.dilated_stack",
    minutes=15,
    difficulty="medium",
    returns=("size", "layers"),
    properties=[
        formula("the size", 1, _points, "size"),
        formula("the number of layers", 1, _points, "layers"),
    ],
    closed=CLOSED,
    mistakes="""
one-layer-too-many: The dilations of L layers end with r to the power L − 1, because the first one is 1. Your sum has
one term too many.
- r**L → r ** (L + 1)
- / math.log(r) → / math.log(r) - 1

whole-widths: A layer of width k reaches k − 1 dilations back, not k: one of the k positions is the one that it starts
from.
* (k - 1) → k

position-itself-forgotten: The receptive field contains the position itself: add 1 to the reach, and subtract it from
n.
- 1 + (k → (k
- (n - 1) → n

final-layer-only: That is what the final layer reaches. The layers below it reach further back still: add all of them
up.
- (r**L - 1) / (r - 1) → r ** (L - 1)
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r) → 1 + math.log((n - 1) / (k - 1)) / math.log(r)

sum-not-divided: Multiplied by r − 1, the sum 1 + r + … is r to the power L, minus 1. So the sum itself is that divided
by r − 1.
- (r**L - 1) / (r - 1) → (r**L - 1)
- (n - 1) * (r - 1) / (k - 1) → (n - 1) / (k - 1)

natural-logarithm: Your second result is a natural logarithm. The power has the base r: divide by ln r.
-  / math.log(r) →

rounded-up: You rounded the number of layers. Return it as it is: where it is not an integer, no stack has exactly this
size.
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r)
+ math.ceil(math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r))

dilations-added: Your dilations grow by a constant, or not at all. Each is r times the previous one.
- (k - 1) * (r**L - 1) / (r - 1) → (k - 1) * (L + r * L * (L - 1) / 2)
or
- (k - 1) * (r**L - 1) / (r - 1) → (k - 1) * L
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r) → (n - 1) / (k - 1)
or
- (k - 1) * (r**L - 1) / (r - 1) → (k - 1) * r * L
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r) → (n - 1) / (k - 1) / r
""",
)
