"""Laws of rotations: what holds whatever the angles are."""

import torch

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case

ALIKE = "one vector, given at all positions, is unchanged at all of them"


def lengths_are_kept(case: Case, got: Outcomes) -> str | None:
    """Each row has kept its length. All rows of a call were the same before, and no longer are."""
    for arguments, outcome in zip(case.calls, got, strict=True):
        before, after = arguments[0].double(), outcome.outputs[0].double()
        if not close(after.norm(dim=-1), before.norm(dim=-1)):
            return "the vectors have changed their lengths"
        if close(after, after[:1].expand(after.shape), 1e-2):
            return ALIKE
    return None


def scores_depend_on_the_distance(case: Case, got: Outcomes) -> str | None:
    """Two calls, one query and one key at all positions: their products are equal along every diagonal, and differ
    between diagonals."""
    query, key = (outcome.outputs[0].double() for outcome in got)
    scores = query @ key.T
    diagonals = [scores.diagonal(offset) for offset in range(-len(scores) + 1, len(scores))]
    if any(not close(d, d[:1].expand(d.shape)) for d in diagonals):
        return "two pairs of positions at the same distance have different scores"
    if close(torch.stack([d[0] for d in diagonals]), diagonals[0][0].expand(len(diagonals))):
        return "every distance has the same score"
    return None


def output_of_shared_values(case: Case, got: Outcomes) -> str | None:
    """output = weights @ values, with the returned weights; known: the values that each head reads. The first two calls
    have different queries."""
    if close(got[0].outputs[1], got[1].outputs[1], 1e-2):
        return "different queries gave the same weights"
    for values, outcome in zip(case.known, got, strict=True):
        output, weights = (part.double() for part in outcome.outputs[:2])
        if not bool((weights.abs() > 1e-2).any()):
            return "the weights are all zero"
        if not close(output, weights @ values.double()):
            return "the output is not that of your own weights"
    return None
