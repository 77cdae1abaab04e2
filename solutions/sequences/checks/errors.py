"""Question 2c: the share of wrong words, if errors breed errors."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from solutions.sequences.checks.common import CLOSED

_points = at_points(epsilon=(0.02, 0.2), delta=(0.35, 0.7), t=(2, 4))

WRONG_SHARE = question(
    "sequences.wrong_share",
    minutes=15,
    difficulty="medium",
    returns=("settled", "after"),
    properties=[
        formula("the share on which it settles", 1, _points, "settled"),
        formula("the share at word t", 1, _points, "after"),
    ],
    closed=CLOSED,
    mistakes="""
errors-breed-nothing: Your shares do not depend on δ. A word after a wrong word is wrong with probability δ, so the
share becomes larger than ε.
- return settled, settled * (1 - (delta - epsilon) ** t) → return epsilon, epsilon

after-right-words-too-often: You used ε after every previous word, p = ε + p δ. Only the fraction 1 − p of the previous
words was right: p = (1 − p) ε + p δ.
- 1 + epsilon - delta → 1 - delta

share-of-right-words: Your first result is the share of right words. The share of wrong ones is what is left.
- epsilon / (1 + epsilon - delta) → (1 - delta) / (1 + epsilon - delta)

sign-in-the-denominator: There is a sign error in your denominator. Bring all terms with p to one side:
p (1 + ε − δ) = ε.
- 1 + epsilon - delta → 1 - epsilon - delta

never-recovers: Your second result is the probability of at least one error in t words. That is the share of wrong words
only if no right word ever follows a wrong one, δ = 1.
- settled * (1 - (delta - epsilon) ** t) → 1 - (1 - epsilon) ** t

distance-for-share: Your second result is the distance that is still to go. Subtract it from the share on which the text
settles.
- settled * (1 - (delta - epsilon) ** t) → settled * (delta - epsilon) ** t

one-word-late: Your second result is the share at word t − 1. Counting begins with p₀ = 0 at `bos`, so t steps lead to
word t.
- ** t) → ** (t - 1))

factor-delta: The distance does not shrink by δ at each step. Subtract the equation of p from that of pₜ: ε is in the
factor as well.
- (delta - epsilon) ** t → delta**t
""",
)
