"""Question 4: what a letter costs, and the perplexity at which other tokens cost as much."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from solutions.subwords.checks.common import CLOSED

_points = at_points(perplexity=(5.0, 40.0), n=(1.5, 2.4), m=(2.6, 4.0))

COMPARABLE = question(
    "subwords.comparable",
    minutes=10,
    difficulty="easy",
    returns=("bits", "other"),
    properties=[
        formula("the bits per letter", 1, _points, "bits"),
        formula("the other perplexity", 1, _points, "other"),
    ],
    closed=CLOSED,
    mistakes="""
nats-for-bits: You took the natural logarithm, which counts in nats. Bits are logarithms to the base 2.
- math.log2 → math.log

cost-of-a-token: Your first result is what a token costs. It has n letters, so each letter costs the n-th part.
- math.log2(perplexity) / n → math.log2(perplexity)

multiplied-by-letters: You multiplied the cost of a token by its letters. The letters share the cost: divide.
- math.log2(perplexity) / n → math.log2(perplexity) * n

perplexity-divided: You divided the perplexity before you took the logarithm. The cost, which is the logarithm, is
what the letters of a token share.
- math.log2(perplexity) / n → math.log2(perplexity / n)

letters-swapped: You swapped n and m in the second result. Longer tokens cost more, so the perplexity of the model
with the longer tokens is the larger one.
- (m / n) → (n / m)

perplexity-scaled: You multiplied the perplexity by m/n. The cost of a token grows like that, and perplexity is its
exponential: m/n belongs into the exponent.
- perplexity ** (m / n) → perplexity * m / n

perplexity-of-a-letter: Your second result is the perplexity per letter. The other model's tokens have m letters.
- ** (m / n) → ** (1 / n)
""",
)
