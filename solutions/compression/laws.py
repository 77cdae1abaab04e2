"""Laws of compression: integers in their range and near their weights, and signs that follow from returned errors."""

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels

HALF = 0.5005
"""A step's half, and a little."""


def nearest_inside(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """All integers are between 0 and 2^bits − 1, and none means a number farther than half a step from its weight. In
    the ties of a symmetric range several integers are right."""
    codes, scale, zero = (result.double() for result in got[0].outputs)
    weights, bits, group = case.calls[0]
    if codes.shape != weights.shape or scale.shape != expected[0].outputs[1].shape or zero.shape != scale.shape:
        return "the shapes are not the expected ones"
    for name, integers in (("codes", codes), ("zero", zero)):
        if not close(integers, integers.round()):
            return f"{name} contains numbers that are not integers"
        if bool(((integers < 0) | (integers > 2**bits - 1)).any()):
            return f"{name} contains integers outside 0 … {2**bits - 1}"
    if not close(scale, expected[0].outputs[1].double()):
        return "the values of scale are not the expected ones"
    step, zeros = _of_members(scale, group), _of_members(zero, group)
    far = (step * (codes - zeros) - weights.double()).abs() > HALF * step
    return "an integer means a number more than half a step away from its weight" if bool(far.any()) else None


def _of_members(of_groups: Tensor, group: int) -> Tensor:
    return of_groups.repeat_interleave(group, 1)


@travels
def signs_beside(case: Case, got: Outcomes, expected: Outcomes, table: int, which: int, within: float) -> str | None:
    """Result `which` has the signs of the other columns of result `table` less its first. These numbers may differ from
    the right ones by a part `within`: numbers that come from no experiment have no signs."""
    mine, signs = (got[0].outputs[index].double() for index in (table, which))
    right = expected[0].outputs[table].double()
    if mine.shape != right.shape or signs.shape != right[:, 1:].shape:
        return "there is not yet a number for every column and seed, with a sign for each but the first"
    if not bool(((mine - right).abs() <= within * right.abs()).all()):
        return "the numbers are far from those of this experiment, so their signs say nothing"
    return None if close(signs, (mine[:, 1:] - mine[:, :1]).sign()) else "the signs are not those of your own numbers"
