"""Question 2c: the gradient of the balance loss, derived on paper."""

import torch

from autograder.exercise.declare import question
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.special import formula
from autograder.exercise.specification import Case, case


def _points(draw: Draw) -> list[Case]:
    def router(tokens: int, n: int, label: str = "") -> Case:
        p = torch.softmax(draw.normal(tokens, n, dtype=torch.float64), dim=1)
        share = draw.normal(n, dtype=torch.float64).abs() + 0.1
        return case(label or f"{tokens} tokens, {n} experts", p, share / share.sum())

    return [router(3, 2), router(5, 3), router(2, 4), router(1, 3), router(3, 3, EQUAL)]


BALANCE_GRADIENT = question(
    "modifications.balance_gradient",
    minutes=20,
    difficulty="hard",
    returns=("slope", "gradient"),
    properties=[
        formula("the slope for each probability", 1, _points, "slope"),
        formula("the gradient for each score", 2, _points, "gradient"),
    ],
    numpy=True,
    mistakes="""
tokens-forgotten: Your slope is too large by the number of tokens. A probability enters the loss through a *mean* over
the tokens.
- n / tokens * share → n * share

experts-forgotten: Your slope lacks the factor that makes an even router 1, the number of experts.
- n / tokens * share → 1 / tokens * share

experts-and-tokens-swapped: You swapped the number of tokens and the number of experts.
- n / tokens * share → tokens / n * share

shares-have-a-slope: You differentiated the shares as well, as if they were the mean probabilities. They come from a
choice: constants.
- n / tokens * share → 2 * n / tokens * share

own-probability-only: Your gradient uses only the derivative of an expert's own probability, p (1 − p). A score also
changes the probabilities of all other experts of its token.
- p * (slope - (p * slope).sum(axis=1, keepdims=True)) → p * (1 - p) * slope

plain-mean: You compare each slope with the plain mean of the token's slopes. It is the mean weighted by the token's
probabilities.
- (p * slope).sum(axis=1, keepdims=True) → slope.mean(axis=1, keepdims=True)

not-weighted: You forgot a factor: each difference is multiplied by the probability of its expert, because a score
whose probability is nearly 0 moves nothing.
- p * (slope - → (slope -

sum-over-tokens: Your sum runs over the tokens. A softmax couples the experts of *one* token.
- sum(axis=1, keepdims=True) → sum(axis=0, keepdims=True)

softmax-forgotten: Your gradient for the scores is that for the probabilities. Between them is a softmax.
- return slope, p * (slope - (p * slope).sum(axis=1, keepdims=True)) → return slope, slope.copy()

half-the-softmax: Your gradient is p times the slope. The second term of the softmax's derivative is missing: raising
one score lowers all other probabilities.
- p * (slope - (p * slope).sum(axis=1, keepdims=True)) → p * slope

sign: The sign of your gradient is wrong. Descent goes *against* the gradient and must lower the score of a favourite.
- p * (slope - (p * slope).sum(axis=1, keepdims=True)) → p * ((p * slope).sum(axis=1, keepdims=True) - slope)
""",
)
