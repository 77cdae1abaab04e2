"""Questions 3a and 3b: the best split of a budget within limits, and when a large model overtakes a small one."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import at_points, formula
from autograder.exercise.specification import Case, case
from solutions.scale_and_insight.checks.common import CLOSED, between


def _law(draw: Draw) -> dict[str, float]:
    return {
        "E": between(draw, 1.5, 2),
        "A": between(draw, 200, 500),
        "alpha": between(draw, 0.3, 0.36),
        "B": between(draw, 600, 2000),
        "beta": between(draw, 0.26, 0.29),
    }


def _limited(draw: Draw, label: str, text: float | None, largest: float | None) -> Case:
    """text, largest: as parts of what the law would like best; None: far above it."""
    law, budget = _law(draw), between(draw, 1, 9) * 10.0 ** draw.integer(18, 20)
    # The best split, from the law's slope, by bisection: the shares of both terms are in the ratio of the exponents.
    low, high = 1.0, budget
    for _ in range(200):
        N = (low * high) ** 0.5
        size = law["alpha"] * law["A"] / N ** law["alpha"]
        reading = law["beta"] * law["B"] / (budget / (6 * N)) ** law["beta"]
        low, high = (N, high) if size > reading else (low, N)
    D = budget / (6 * N)
    return case(label, law, budget, D * (text or 50), N * (largest or 50))


def _free(draw: Draw) -> list[Case]:
    return [_limited(draw, "no limit is met", None, None)]


def _short(draw: Draw) -> list[Case]:
    return [_limited(draw, "the text is too short", between(draw, 0.1, 0.6), None)]


def _small(draw: Draw) -> list[Case]:
    return [_limited(draw, "the model would be too large", None, between(draw, 0.1, 0.6))]


def _both(draw: Draw) -> list[Case]:
    return [
        _limited(draw, "both limits", between(draw, 0.1, 0.6), between(draw, 0.1, 0.6)),
        _limited(draw, "a short text, and a model that becomes too large", between(draw, 0.2, 0.4), 1.5),
    ]


BEST_SPLIT = question(
    "scale_and_insight.best_split",
    minutes=15,
    difficulty="medium",
    returns=("N", "D", "loss"),
    properties=[
        values("the split without a limit", 1, _free, "N", "D"),
        values("its loss", 0.5, _free, "loss"),
        values("the text is too short", 0.5, _short),
        values("the model would be too large", 0.5, _small),
        values("both limits", 0.5, _both),
    ],
    closed=CLOSED,
    mistakes="""
text-ignored: Your D can be larger than the whole text. If the text is too short, read all of it, with a larger model.
- min(max(N, budget / (6 * text)), largest) → min(N, largest)
- min(budget / (6 * N), text) → budget / (6 * N)

memory-ignored: Your model can be larger than `largest`.
- min(max(N, budget / (6 * text)), largest) → max(N, budget / (6 * text))

text-cut-model-kept: You cut the text, but the model stays at its size for a long one, so part of the budget is left
over. A larger model makes use of it.
- min(max(N, budget / (6 * text)), largest) → min(N, largest)

budget-left-over: With a model of the largest allowed size you still read the frontier's text. There is budget left for
more.
- N = min(max(N, budget / (6 * text)), largest)
- D = min(budget / (6 * N), text)
+ D = min(budget / (6 * N), text)
+ N = min(max(N, budget / (6 * text)), largest)

budget-exceeded: With both limits, yours reads more than the text. The memory has the last word on N, and the text on
D.
- min(budget / (6 * N), text) → budget / (6 * N)

six-forgotten: One parameter and one token cost six operations, so the product N · D is C / 6.
* budget / 6) → budget / 1)
* 6 * → 1 *

exponents-swapped: You swapped α and β in the exponent of the compute. A large β means that more text soon stops
helping, so the model should grow faster.
- ** (beta / (alpha + beta)) → ** (alpha / (alpha + beta))

balance-upside-down: Your balance of the two terms is upside down: a large A means that size matters, so N should grow.
- (alpha * A / (beta * B)) → (beta * B / (alpha * A))

exponents-not-in-the-balance: Your balance leaves out α and β: you made the two *terms* equal. At the minimum their
slopes are.
- (alpha * A / (beta * B)) → (A / B)

half-and-half: You give N and D the same number. Hoffmann's law asks for equal *growth* at most, not for equal numbers.
- N = balance * (budget / 6) ** (beta / (alpha + beta)) → N = (budget / 6) ** 0.5

floor-forgotten: N and D are right, but your loss lacks the irreducible part E.
- E + A / N**alpha → A / N**alpha

loss-without-limits: N and D are right, but your loss is the one without the limits.
- N = min(max(N, budget / (6 * text)), largest)
+ free = E + A / N**alpha + B / (budget / (6 * N)) ** beta
+ N = min(max(N, budget / (6 * text)), largest)
- return N, D, E + A / N**alpha + B / D**beta → return N, D, free
""",
)

_points = at_points(
    A=(50.0, 500.0), alpha=(0.3, 0.5), B=(50.0, 500.0), beta=(0.2, 0.45), small=(500, 5_000), large=(6_000, 60_000)
)  # fmt: skip

_late = at_points(
    "a text that helps little", A=(50.0, 90.0), alpha=(0.3, 0.4), B=(300.0, 400.0), beta=(0.05, 0.06),
    small=(500, 900), large=(40_000, 60_000),
)  # fmt: skip

OVERTAKING = question(
    "scale_and_insight.overtaking",
    minutes=20,
    difficulty="hard",
    returns=("share", "operations"),
    properties=[
        formula("the share at the best split", 1, _points, "share"),
        formula("the operations when the large one overtakes", 1.5, _points, "operations"),
        formula("however late it does", 0.5, _late, "operations"),
    ],
    closed=CLOSED,
    mistakes="""
share-of-the-text: That is the share of the text. At the best split α times the size's term equals β times the text's
term; which of them is then larger?
- share = beta / (alpha + beta) → share = alpha / (alpha + beta)

ratio-for-share: That is the ratio of the two terms. The share is one term divided by the sum of both.
- share = beta / (alpha + beta) → share = beta / alpha

half-at-the-best: You made the two terms equal. At the best split their slopes along the curve of equal compute are
equal, and each slope has its exponent as a factor.
- share = beta / (alpha + beta) → share = 0.5

six-forgotten: Your operations are too few by a factor of six: a token costs six operations per parameter.
- operations = 6 * ( → operations = (

six-inside-the-root: The factor of six is inside the root, where it is raised to 1/β. In (6N)^β it is raised to β
first.
- operations = 6 * (text / (A * (small**-alpha - large**-alpha))) ** (1 / beta)
+ operations = (6 * text / (A * (small**-alpha - large**-alpha))) ** (1 / beta)

root-forgotten: You solved for the compute to the power β. Take the root.
- ) ** (1 / beta) → )

root-of-alpha: The compute occurs in the text's term, with the exponent β. Take the root with β, not with α.
- ) ** (1 / beta) → ) ** (1 / alpha)

fraction-upside-down: Your fraction is upside down. A model whose size brings much, a large A, overtakes *early*.
- (text / (A * (small**-alpha - large**-alpha))) → ((A * (small**-alpha - large**-alpha)) / text)

equal-text: You let both read the same text; then the large model is ahead from the start. At equal compute the larger
one has read less: put D = C / 6N into each loss.
- text = B * (large**beta - small**beta) → text = B

exponent-not-split: (large − small) to the power β is not the difference of the powers.
- (large**beta - small**beta) → (large - small) ** beta
""",
)
