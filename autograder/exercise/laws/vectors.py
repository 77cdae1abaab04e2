"""Judges of pairs in any order."""

from autograder.exercise.judges import Outcomes
from autograder.exercise.specification import Case
from autograder.exercise.travel import travels


@travels
def same_pairs(case: Case, got: Outcomes, expected: Outcomes, name: str) -> str | None:
    """The rows are the reference's, each as often; in which order does not matter."""
    mine, right = got[0].outputs[0], expected[0].outputs[0]
    if mine.numel() == right.numel() == 0:
        return None
    if mine.numel() > 0 and (mine.ndim != 2 or mine.shape[1] != 2):
        return f"{name} is no list of pairs"
    if len(mine) != len(right):
        return f"{name} has {'fewer' if len(mine) < len(right) else 'more'} pairs than there are"
    same = sorted(mine.double().tolist()) == sorted(right.double().tolist())
    return None if same else f"{name} are not the expected ones"
