"""Judges of lists whose length is part of the answer: ids in order, pairs in a fixed or in any order."""

import torch
from torch import Tensor

from autograder.question.judges import Outcomes
from autograder.question.specification import Case
from autograder.question.travel import travels


@travels
def same_list(case: Case, got: Outcomes, expected: Outcomes, name: str) -> str | None:
    """The reference's ids, in its order. The complaint says what kind of list was returned, and whether it is too
    long."""
    mine, right = _lists(got, expected)
    if mine.numel() == right.numel() == 0:
        return None
    if mine.numel() > 0 and (mine.ndim != right.ndim or mine.shape[1:] != right.shape[1:]):
        found = ("a single number", "a plain list of ids", "a list of lists")[min(mine.ndim, 2)]
        wanted = "a plain list of ids" if right.ndim == 1 else "a list of pairs"
        return f"{name} is {found}, but {wanted} was asked for"
    if len(mine) != len(right):
        return f"{name} is too {'short' if len(mine) < len(right) else 'long'}"
    return None if torch.equal(mine.double(), right.double()) else f"{name} has the right length, but different ids"


@travels
def right_up_to(case: Case, got: Outcomes, expected: Outcomes, name: str, rows: int) -> str | None:
    """The first `rows` rows equal the reference's, whatever follows."""
    mine, right = _lists(got, expected)
    if mine.ndim != right.ndim or len(mine) < min(rows, len(right)):
        return f"{name} is too short, or not a list of pairs"
    same = torch.equal(mine[:rows].double(), right[:rows].double())
    return None if same else f"the start of {name} is not the expected one"


def _lists(got: Outcomes, expected: Outcomes) -> tuple[Tensor, Tensor]:
    """The first results; a tuple of one id, or of one pair, was a list of one."""
    mine, right = got[0].outputs[0], expected[0].outputs[0]
    return mine[None] if len(right) == 1 and mine.shape == right.shape[1:] else mine, right


@travels
def same_pairs(case: Case, got: Outcomes, expected: Outcomes, name: str) -> str | None:
    """The rows are the reference's, each as often, in any order."""
    mine, right = got[0].outputs[0], expected[0].outputs[0]
    if mine.numel() == right.numel() == 0:
        return None
    if mine.numel() > 0 and (mine.ndim != 2 or mine.shape[1] != 2):
        return f"{name} is not a list of pairs"
    if len(mine) != len(right):
        return f"{name} has {'fewer' if len(mine) < len(right) else 'more'} pairs than it should have"
    same = sorted(mine.double().tolist()) == sorted(right.double().tolist())
    return None if same else f"{name} are not the expected ones"
