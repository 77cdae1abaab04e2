"""What a wrong result has in common with the right one, where no known mistake explains it: a factor, an order, axes.

Said beside the example, of a result with enough different numbers that it cannot be chance.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.question.judges import close
from autograder.question.outcome import Outcome

ENOUGH = 3
"""Different numbers that a result must have. They differ by about a hundredth of the largest, so that a softmax that
chooses one word does not count."""

FEW = 100
"""Slices whose order is compared."""


def resemblance(got: Outcome, expected: Outcome, names: Sequence[str], which: Sequence[int]) -> str | None:
    """A sentence on the first wrong one of the results with the indices `which` that is like what it should be, or like
    what another result should be; None if there is none. If some have the wrong shape, it is about these."""
    misshapen = [i for i in which if got.outputs[i].shape != expected.outputs[i].shape]
    for index in misshapen or which:
        mine, right, name = got.outputs[index], expected.outputs[index], names[index]
        if close(mine, right) or not _telling(right):
            continue
        for other, wanted in enumerate(expected.outputs):
            if other != index and _telling(wanted) and not close(wanted, right) and _same(mine, wanted):
                return f"Your {name} is what {names[other]} should be."
        if said := _alike(name, mine, right):
            return said
    return None


def _telling(tensor: Tensor) -> bool:
    if tensor.dtype == torch.bool or not tensor.numel() or not tensor.isfinite().all():
        return False
    tensor = tensor.double()
    largest = tensor.abs().max()
    return bool(largest > 0) and (100 * tensor / largest).round().unique().numel() >= ENOUGH


def _same(got: Tensor, right: Tensor) -> bool:
    """`close`, but where all numbers are tiny the tolerance is, too."""
    size = right.double().abs().max().clamp(max=1)
    return close(got / size, right / size)


def _alike(name: str, mine: Tensor, right: Tensor) -> str | None:
    if mine.shape == right.shape:
        mine, right = mine.double(), right.double()
        factor = float((mine * right).sum() / (right * right).sum())
        far = abs(factor) > 1e-3 and abs(factor - 1) > 1e-2  # a factor near 1 is an inaccuracy
        if mine.isfinite().all() and far and _same(mine / factor, right):
            if abs(factor + 1) < 1e-3:
                return f"Your {name} has the wrong sign everywhere."
            return f"Your {name} is {factor:.4g} times what it should be, everywhere."
        for axis in range(right.ndim):
            if _same(mine.flip(axis), right):
                return f"Your {name} has the right values, in reverse order along axis {axis}."
            if _same(_sorted_like(mine, right, axis), right):
                return f"Your {name} has the right values, in another order along axis {axis}."
    if right.ndim > 1 and _same(mine, right.mT):
        return f"Your {name} is the transpose of what it should be."
    if mine.shape != right.shape and _same(mine.squeeze(), right.squeeze()):
        return f"Your {name} has the right values; its shape differs only in axes of length 1."
    return None


def _sorted_like(mine: Tensor, right: Tensor, axis: int) -> Tensor:
    """The slices of one tensor along an axis, each once, where the most similar ones of the other are; the tensor
    itself if two are most similar to the same one."""
    count = right.shape[axis]
    ours, theirs = (x.movedim(axis, 0).reshape(count, -1) for x in (mine, right))
    places = torch.cdist(theirs, ours, p=torch.inf).argmin(1) if count <= FEW else torch.zeros(count).long()
    return mine.index_select(axis, places) if places.unique().numel() == count else mine
