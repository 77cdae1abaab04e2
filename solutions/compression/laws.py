"""A law of compression: integers in their range and near their weights."""

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case

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
