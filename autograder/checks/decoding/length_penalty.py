"""Question 2c: what length has to do with it."""

from torch import Tensor

from autograder.checks.decoding.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

BEST = ("scores", "best")


def _choices(draw: Draw, penalty: float, label: str) -> Case:
    """Hypotheses of which another one wins with the penalty than without; neither is the shortest or the worst."""
    while True:
        number = draw.largest + 1
        lengths = draw.integers(1, 12, number)
        log_probs = -(lengths * 0.8 + draw.normal(number).abs() * 2 + 0.5).float()
        scores, best = _penalised(log_probs, lengths, penalty)
        gap, first = scores.sort(descending=True).values, int(log_probs.argmax())
        others = {int(best), int(scores.argmin()), int(lengths.argmin())}
        if first not in others and len(others) == 3 and float(gap[0] - gap[1]) > 0.01:
            return case(label, log_probs, lengths, penalty)


def _means(draw: Draw) -> list[Case]:
    return [_choices(draw, 1.0, "a mean per word")]


def _between(draw: Draw) -> list[Case]:
    return [_choices(draw, 0.6, "a penalty of 0.6"), _choices(draw, 0.8, "a penalty of 0.8")]


def _none(draw: Draw) -> list[Case]:
    number = draw.largest + 1
    return [case("no penalty", -draw.normal(number).abs() - 1, draw.integers(1, 9, number), 0.0)]


def _penalised(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    return _scored(log_probs.double() / lengths.double() ** penalty)


def _scored(scores: Tensor) -> tuple[Tensor, Tensor]:
    return scores, scores.argmax()


def _multiplied(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    return _scored(log_probs.double() * lengths.double() ** penalty)


def _divided_by_a_multiple(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    below = lengths.double() * penalty
    return _scored(log_probs.double() / below.where(below > 0, 1.0))


def _of_wu(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    return _scored(log_probs.double() / ((5 + lengths.double()) / 6) ** penalty)


def _smallest(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    scores, _ = _penalised(log_probs, lengths, penalty)
    return scores, scores.argmin()


def _as_they_came(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    return _penalised(log_probs, lengths, penalty)[0], log_probs.argmax()


def _score_itself(log_probs: Tensor, lengths: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    scores, _ = _penalised(log_probs, lengths, penalty)
    return scores, scores.max()


LENGTH_PENALTY = Exercise(
    name="decoding.length_penalty",
    title="Short wins, unless",
    signature="length_penalty(log_probs, lengths, penalty)",
    arguments=("log_probs", "lengths", "penalty"),
    returns=BEST,
    minutes=10,
    difficulty="easy",
    reference=_penalised,
    properties=(
        Property(name="a mean per word: penalty 1", points=0.75, cases=_means, judge=same_values(BEST)),
        Property(name="other penalties", points=1, cases=_between, judge=same_values(BEST)),
        Property(name="no penalty", points=0.25, cases=_none, judge=same_values(BEST)),
    ),
    misconceptions=(
        Misconception(
            id="multiplied",
            sentence=(
                "You multiplied by the length. Log-probabilities are negative: that makes long texts worse still."
                " Divide."
            ),
            implementation=_multiplied,
        ),
        Misconception(
            id="penalty-as-a-factor",
            sentence=(
                "You divided by penalty · length. The penalty is an *exponent*: length ** penalty, so that 0 means no"
                " penalty and 1 a mean per word."
            ),
            implementation=_divided_by_a_multiple,
        ),
        Misconception(
            id="smallest-score",
            sentence=(
                "The scores are right, and you chose the smallest one. All are negative, and the best is the one"
                " nearest to 0: the largest."
            ),
            implementation=_smallest,
        ),
        Misconception(
            id="chosen-without-the-penalty",
            sentence=(
                "The scores are right, and you chose by the log-probabilities as they came. The best is the one with"
                " the largest *score*."
            ),
            implementation=_as_they_came,
        ),
        Misconception(
            id="score-for-its-number",
            sentence=(
                "The scores are right, and as the best you return the score itself. Asked is its *number*, the place"
                " where it stands: `argmax`, not `max`."
            ),
            implementation=_score_itself,
        ),
        Misconception(
            id="penalty-ignored",
            sentence="You always take the mean per word. Raise the length to the power of the penalty first.",
            implementation=lambda log_probs, lengths, penalty: _penalised(log_probs, lengths, 1.0),
        ),
        Misconception(
            id="another-papers-penalty",
            sentence=(
                "You divided by ((5 + n) / 6)^α, which is the penalty of Wu et al. (2016). The one of this question is"
                " n^α."
            ),
            implementation=_of_wu,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
