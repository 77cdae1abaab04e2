"""Laws of a memory: what is left fades from row to row, and signs follow from the returned pairs of errors."""

from collections.abc import Sequence

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels


def one_step_apart(case: Case, got: Outcomes) -> str | None:
    """Below its diagonal, each row of a square is the row above it times the gate of its own token, `known[0]`."""
    within, a = got[0].outputs[0].double(), case.known[0].double()
    faded = (a[:, 1:, None] * within[:, :-1]).tril()
    if not bool((within.diagonal(dim1=1, dim2=2) > 0).all()):
        return "there is nothing on the diagonal"
    return None if close(within[:, 1:].tril(), faded) else "a row is not the one above it, times its own gate"


@travels
def signs_of_pairs(case: Case, got: Outcomes, expected: Outcomes, which: Sequence[int], within: float) -> str | None:
    """Result `which[1]` says, for each two columns of result `which[0]`, whether the first is lower (1) or the second
    (−1). These numbers may differ from the right ones by a part `within`: numbers that come from no experiment have no
    signs."""
    errors, signs = (got[0].outputs[index].double() for index in which)
    right, wanted = (expected[0].outputs[index] for index in which)
    if errors.shape != right.shape or signs.shape != wanted.shape:
        return "there are not yet two errors and a sign for every seed and situation"
    if not _near(errors, right.double(), within):
        return "the numbers are far from those of this experiment, so their signs say nothing"
    difference = errors[:, 1::2] - errors[:, 0::2]
    return None if close(signs, difference.sign()) else "the signs are not those of your own numbers"


def _near(mine: Tensor, right: Tensor, within: float) -> bool:
    return bool(((mine - right).abs() <= within * right.abs()).all())
