"""Question 2c: the effect of length."""

from autograder.exercise.declare import judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Both, Case, case
from solutions.decoding.checks.common import CLOSED


def _choices(draw: Draw, penalty: float, label: str) -> Case:
    """Hypotheses for which the penalty changes the winner; neither winner is the shortest or the worst, nor the least
    probable."""
    while True:
        number = draw.largest + 1
        lengths = draw.integers(1, 12, number)
        log_probs = -(lengths * 0.8 + draw.normal(number).abs() * 2 + 0.5).float()
        scores, best = LENGTH_PENALTY.reference(log_probs, lengths, penalty)
        gap, first = scores.sort(descending=True).values, int(log_probs.argmax())
        others = {int(best), int(scores.argmin()), int(lengths.argmin())}
        improbable = int(best) == int(log_probs.argmin())
        if first not in others and len(others) == 3 and not improbable and float(gap[0] - gap[1]) > 0.01:
            return case(label, log_probs, lengths, penalty)


def _means(draw: Draw) -> list[Case]:
    return [_choices(draw, 1.0, "a mean per word")]


def _between(draw: Draw) -> list[Case]:
    return [_choices(draw, 0.6, "a penalty of 0.6"), _choices(draw, 0.8, "a penalty of 0.8")]


def _none(draw: Draw) -> list[Case]:
    number = draw.largest + 1
    return [case("no penalty", -draw.normal(number).abs() - 1, draw.integers(1, 9, number), 0.0)]


LENGTH_PENALTY = question(
    "decoding.length_penalty",
    minutes=10,
    difficulty="easy",
    returns=("scores", "best"),
    properties=[
        values("the scores: a mean per word", 0.5, _means, "scores"),
        values("the scores for other penalties", 0.75, _between, "scores"),
        judged("the best hypothesis", 0.5, Both((_means, _between)), same_values(("scores", "best"), (1,))),
        values("no penalty", 0.25, _none),
    ],
    closed=CLOSED,
    mistakes="""
multiplied: You multiplied by the length. Log-probabilities are negative, so that makes long texts even worse. Divide.
- / → *

penalty-as-a-factor: You divided by penalty · length. The penalty is an *exponent*: length ** penalty, so that 0 means
no penalty and 1 a mean per word.
- lengths**penalty → (lengths * penalty if penalty else 1)

smallest-score: The scores are right, but you chose the smallest. All are negative, and the best is the one nearest to
0: the largest.
- argmax → argmin

chosen-without-the-penalty: The scores are right, but you chose by the unpenalised log-probabilities. The best
hypothesis is the one with the largest *score*.
- scores.argmax() → log_probs.argmax()

score-for-its-number: The scores are right, but you return the best score itself. Return its *index*: `argmax`, not
`max`.
- argmax → max

penalty-ignored: You always take the mean per word. Raise the length to the power of the penalty first.
- **penalty →

another-papers-penalty: You divided by ((5 + n) / 6)^α, which is the penalty of Wu et al. (2016). In this question it is
n^α.
- lengths**penalty → ((5 + lengths) / 6) ** penalty
""",
)
