"""What a wrong result has in common with the right one, where no known mistake explains it: a factor, an order, axes.

Said beside the example, of a result with enough different numbers that it cannot be chance.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.question.judges import close
from autograder.question.outcome import Outcome

ENOUGH = 3
"""Different numbers that a result must have."""


def likeness(got: Outcome, expected: Outcome, names: Sequence[str], which: Sequence[int]) -> str | None:
    """A sentence on the first wrong one of the results with the indices `which` that is like what it should be, or like
    what another result should be; None if there is none."""
    for index in which:
        mine, right, name = got.outputs[index], expected.outputs[index], names[index]
        if close(mine, right) or not _telling(right):
            continue
        for other, wanted in enumerate(expected.outputs):
            if other != index and not close(wanted, right) and close(mine, wanted):
                return f"Your {name} is what {names[other]} should be."
        if said := _alike(name, mine, right):
            return said
    return None


def _telling(tensor: Tensor) -> bool:
    return tensor.dtype != torch.bool and tensor.isfinite().all().item() and tensor.unique().numel() >= ENOUGH


def _alike(name: str, mine: Tensor, right: Tensor) -> str | None:
    if mine.shape == right.shape:
        mine, right = mine.double(), right.double()
        factor = float((mine * right).sum() / (right * right).sum())
        if mine.isfinite().all() and abs(factor) > 1e-3 and close(mine / factor, right):
            if abs(factor + 1) < 1e-3:
                return f"Your {name} has the wrong sign everywhere."
            return f"Your {name} is {factor:.4g} times what it should be, everywhere."
        for axis in range(right.ndim):
            if close(mine.flip(axis), right):
                return f"Your {name} has the right values, in reverse order along axis {axis}."
    if right.ndim > 1 and close(mine, right.mT):
        return f"Your {name} is the transpose of what it should be."
    if mine.shape != right.shape and close(mine.squeeze(), right.squeeze()):
        return f"Your {name} has the right values, but an axis of length 1 too many or too few."
    return None
