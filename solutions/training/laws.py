"""Laws of training: dropout drops by chance and keeps the mean, clipping shortens only what is too long, and the parts
of a run."""

import math
from collections.abc import Sequence

import torch

from autograder.question.judges import Outcomes, close
from autograder.question.outcome import GENERATOR
from autograder.question.specification import Case, Judge
from autograder.question.travel import travels


def only_in_training(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Call 0 evaluates and returns `known[0]`; call 1 trains, and returns something else."""
    evaluated, trained = (outcome.outputs[0] for outcome in got)
    if not close(evaluated, case.known[0]):
        return "at evaluation y should be x itself"
    return "in training y should not be x itself" if close(trained, case.known[0]) else None


def dropped_or_scaled(case: Case, got: Outcomes) -> str | None:
    """Each entry is 0 or that of `known[0]`, which has no zeros, divided by 1 − `known[1]`; both occur."""
    x, rate = case.known[0].double(), float(case.known[1])
    for outcome in got:
        y = outcome.outputs[0].double()
        zero = y == 0
        if not bool(zero.any()) or bool(zero.all()):
            return "some entries should be 0, and some should not"
        if close(y[~zero], x[~zero]):
            return "the entries that are not dropped are not scaled"
        if not close(y[~zero], x[~zero] / (1 - rate)):
            return "the entries that are not dropped are not scaled by the right factor"
    return None


def as_many_as_the_rate_says(case: Case, got: Outcomes) -> str | None:
    """The fraction of zeros is `known[1]`, within five standard deviations."""
    rate = float(case.known[1])
    for outcome in got:
        y = outcome.outputs[0]
        if abs(float((y == 0).double().mean()) - rate) > 5 * math.sqrt(rate * (1 - rate) / y.numel()):
            return "the fraction of entries that are 0 is far from the rate"
    return None


def decided_one_by_one(case: Case, got: Outcomes) -> str | None:
    """Calls 0 and 1 have the same seed, the others have others; no two rows, and no two columns, drop the same entries,
    and the global generator is left alone."""
    one, again, *others = (outcome.outputs[0] == 0 for outcome in got)
    if any(GENERATOR in outcome.changed for outcome in got):
        return "your function used the global generator"
    if not torch.equal(one, again):
        return "the same seed gives different results"
    if any(torch.equal(one, other) for other in others):
        return "different seeds drop the same entries"
    if all(other.sum() == one.sum() for other in others):  # by chance less often than once in a million times
        return "the number of zeros is the same for every seed, so the entries are not independent"
    for mask, what in ((one, "rows"), (one.T, "columns")):
        if len(torch.unique(mask, dim=0)) < len(mask) / 2:
            return f"different {what} drop the same entries, so they are not decided one by one"
    return None


def shortens_what_is_too_long(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Call 0 is below its limit and stays as it is; call 1 is above it and does not."""
    below, above = (
        (mine.outputs[0].double(), right.outputs[0].double()) for mine, right in zip(got, expected, strict=True)
    )
    if below[0].shape != below[1].shape or above[0].shape != above[1].shape:
        return "clipped should have one entry per entry of the gradients"
    if not close(*below):
        return "a gradient below its limit has been changed"
    if float(above[0].norm()) > 2 * float(above[1].norm()):
        return "a gradient above its limit is not shortened"
    return "a gradient above its limit has vanished" if float(above[0].norm()) < float(above[1].norm()) / 9 else None


RUN = ("best", "dev", "key", "memory", "step", "weights")
"""The keys of a run, in the order in which they become one row."""


@travels
def run_holds(case: Case, got: Outcomes, expected: Outcomes, keys: Sequence[str]) -> str | None:
    """Output 1, a run, holds the reference's values under these keys; `known[0]` are the lengths of all its parts."""
    mine, right = got[0].outputs[1], expected[0].outputs[1]
    if mine.shape != right.shape:
        return "the run does not have the expected entries: a key is missing or additional, or a list too short or long"
    lengths = case.known[0].tolist()
    for key, ours, theirs in zip(RUN, mine.split(lengths), right.split(lengths), strict=True):
        if key in keys and not close(ours, theirs):
            return f'the entry run["{key}"] does not hold the expected values'
    return None


@travels
def both(case: Case, got: Outcomes, expected: Outcomes, first: Judge, second: Judge) -> str | None:
    return first(case, got, expected) or second(case, got, expected)
