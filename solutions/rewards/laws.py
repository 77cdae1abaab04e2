"""A law of rewards: an advantage says who is above the mean of the group."""

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case


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
