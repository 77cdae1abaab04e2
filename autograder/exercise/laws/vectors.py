"""Judges of pairs in any order."""

from collections.abc import Sequence

from autograder.exercise.outcome import Outcome
from autograder.exercise.specification import Case, Judge
from autograder.exercise.travel import travels


@travels
def same_pairs(name: str) -> Judge:
    """The rows are the reference's, each as often; in which order does not matter."""

    def judge(case: Case, got: Sequence[Outcome], expected: Sequence[Outcome]) -> str | None:
        mine, right = got[0].outputs[0], expected[0].outputs[0]
        if mine.numel() == right.numel() == 0:
            return None
        if mine.numel() > 0 and (mine.ndim != 2 or mine.shape[1] != 2):
            return f"{name} is no list of pairs"
        if len(mine) != len(right):
            return f"{name} has {'fewer' if len(mine) < len(right) else 'more'} pairs than there are"
        same = sorted(mine.double().tolist()) == sorted(right.double().tolist())
        return None if same else f"{name} are not the expected ones"

    return judge
