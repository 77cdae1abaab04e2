"""Laws of rewards: an advantage says who is above the mean of the group, and signs follow from the returned shares."""

from collections.abc import Sequence

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels


def ordered_around_zero(case: Case, got: Outcomes) -> str | None:
    """Each row sums to 0 and is, up to a factor, the row of `known[0]`, deviations that are not all 0."""
    mine, right = got[0].outputs[0].double(), case.known[0].double()
    if not close(mine.sum(1), 0 * mine.sum(1)):
        return "the advantages of a group do not sum to 0"
    return (
        None if close(_unit(mine), _unit(right)) else "the advantages are not in proportion to rewards less their mean"
    )


def _unit(rows: Tensor) -> Tensor:
    return rows / rows.norm(dim=1, keepdim=True).clamp(min=1e-9)


@travels
def signs_of(
    case: Case, got: Outcomes, expected: Outcomes, which: Sequence[int], start: float, within: float
) -> str | None:
    """Result `which[1]` holds the signs of result `which[0]` less `start`. These numbers may differ from the right ones
    by a part `within`: numbers that come from no experiment have no signs."""
    shares, signs = (got[0].outputs[index].double() for index in which)
    right = expected[0].outputs[which[0]].double()
    if shares.shape != right.shape or signs.shape != right.shape:
        return "there is not yet a number and a sign for every seed"
    if not bool(((shares - right).abs() <= within * right.abs()).all()):
        return "the numbers are far from those of this experiment, so their signs say nothing"
    return None if close(signs, (shares - start).sign()) else "the signs are not those of your own numbers"
