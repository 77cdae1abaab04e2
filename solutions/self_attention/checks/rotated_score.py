"""Question 4: a rotary score as a formula, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from solutions.self_attention.checks.common import CLOSED

_points = at_points(a=(-2.0, -0.5), b=(0.5, 2.0), c=(0.5, 2.0), e=(-2.0, -0.5), r=(2, 30), w=(0.1, 1.5))

ROTATED_SCORE = question(
    "self_attention.rotated_score",
    minutes=15,
    difficulty="medium",
    returns=("score", "largest"),
    properties=[
        formula("the score", 1.25, _points, "score"),
        formula("the largest score", 0.75, _points, "largest"),
    ],
    closed=CLOSED,
    mistakes="""
distance-reversed: You rotated by −r w. The key is r positions *after* the query, so seen from the query it is rotated
forwards.
- math.sin(r * w) → -math.sin(r * w)

terms-without-cross: You left out the mixed products of a with e and of b with c. A rotation mixes the two coordinates
of the key.
- a * (c * cos - e * sin) + b * (c * sin + e * cos) → (a * c + b * e) * cos

sign-of-one-term: The sign of one mixed product is wrong: the first coordinate of a rotated vector has −e sin, the
second has +c sin.
- c * cos - e * sin → c * cos + e * sin

one-step-only: You rotated by w, the angle of one step. Over r positions it is r w.
* r * w → w

angles-divided: You divided the angle by the distance. It grows with the distance.
* r * w → w / r

largest-at-distance-zero: Your second result is the score at distance 0. Another angle may give more: the largest dot
product of two vectors is the product of their lengths.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → a * c + b * e

lengths-squared: Your second result is the product of the squared lengths.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → (a**2 + b**2) * (c**2 + e**2)

lengths-added: A dot product is bounded by the *product* of the lengths, not by their sum.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → math.sqrt(a**2 + b**2) + math.sqrt(c**2 + e**2)
""",
)
