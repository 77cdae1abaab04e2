"""Judges check what is required of a function's outputs; these are the ones that most exercises need.

A judge sees only outputs, never the function, so it can run in a different process from the student's code. It compares
the outputs with the reference, or checks them against a law. Where a law exists, it is the fairer judge: a student who
forgot a factor elsewhere still earns the points for a mask that masks.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from autograder.question.outcome import GENERATOR, Outcome
from autograder.question.specification import Case, Judge
from autograder.question.travel import made_of, travels

TOLERANCE = 1e-4
PARTS = frozenset({"same_shapes", "right_where_known", "uniform_where_known"})
INPUTS = frozenset({"inputs_unchanged", "and_inputs_unchanged"})
COMPARING = frozenset({"same_shapes", "same_values"})
BEYOND = 1e6
"""How many times larger than the largest right value a result may be."""

Outcomes = Sequence[Outcome]  # of the calls of one case, in order


def close(got: Tensor, expected: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Equal in shape and, to the tolerance, in value. Dtypes may differ; NaN equals nothing."""
    if got.shape != expected.shape:
        return False
    return same(got, expected) or torch.allclose(got.double(), expected.double(), rtol=tolerance, atol=tolerance)


def same(got: Tensor, expected: Tensor) -> bool:
    """Equal in dtype and to the last digit, as most right answers are. Checked first, because it is quick."""
    return got.dtype == expected.dtype and torch.equal(got, expected)


def implausible(
    judge: Judge, got: Outcomes, expected: Outcomes, names: Sequence[str], which: Sequence[int] | None = None
) -> str | None:
    """A check of the results before a judge sees them: those with the indices `which` (all by default) are finite, and
    not absurdly large. Infinity and 1e30 obey many laws. A judge of shapes, or of one part, makes its own checks."""
    if _is_made_of(judge, PARTS):
        return None
    for name, output, right in _results(got, expected, names, which):
        if same(output, right) or not math.isfinite(wanted := _largest(right)):
            continue
        largest = _largest(output)
        if not math.isfinite(largest):
            return f"there is {'NaN' if math.isnan(largest) else 'infinity'} in {name}"
        if largest > BEYOND * max(1.0, wanted):
            return f"the values of {name} are far too large"
    return None


def _results(
    got: Outcomes, expected: Outcomes, names: Sequence[str], which: Sequence[int] | None
) -> Iterator[tuple[str, Tensor, Tensor]]:
    """(name, the student's, the reference's) of the results with the indices `which`, all by default, of every call."""
    for mine, right in zip(got, expected, strict=True):
        for index in range(len(names)) if which is None else which:
            yield names[index], mine.outputs[index], right.outputs[index]


@functools.cache
def _is_made_of(judge: Judge, parts: frozenset[str]) -> bool:
    return bool(parts & set(made_of(judge)))


def _largest(tensor: Tensor) -> float:
    """The largest absolute value; NaN if there is one in it."""
    return float(tensor.double().abs().max()) if tensor.numel() else 0.0


@travels
def same_shapes(
    case: Case, got: Outcomes, expected: Outcomes, names: Sequence[str], boolean: bool = False
) -> str | None:
    """Every output has the reference's shape; with `boolean`, its dtype is torch.bool too."""
    for mine, right in zip(got, expected, strict=True):
        for name, output, wanted in zip(names, mine.outputs, right.outputs, strict=False):
            if output.shape != wanted.shape:
                return f"the shape of {name} is not the expected one"
            if boolean and output.dtype != torch.bool:
                dtype = str(output.dtype).removeprefix("torch.")
                return f"{name} should be boolean (torch.bool), but its dtype is {dtype}"
    return None


@travels
def same_values(
    case: Case,
    got: Outcomes,
    expected: Outcomes,
    names: Sequence[str],
    which: Sequence[int] | None = None,
    tolerance: float = TOLERANCE,
) -> str | None:
    """The outputs with the indices `which` (all by default) equal the reference's."""
    for name, output, wanted in _results(got, expected, names, which):
        if output.shape != wanted.shape:
            return f"the shape of {name} is not the expected one"
        if not close(output, wanted, tolerance):
            return f"the values of {name} are not the expected ones"
    return None


@travels
def at_most(
    case: Case, got: Outcomes, expected: Outcomes, names: Sequence[str], which: Sequence[int], times: float
) -> str | None:
    """The results with the indices `which` are right, and the number after all results is at most so many times the
    reference's: who computes nothing saves nothing."""
    if (complaint := same_values(names, which)(case, got, expected)) is not None:
        return complaint
    for mine, right in zip(got, expected, strict=True):
        took, needed = float(mine.outputs[len(names)]), float(right.outputs[len(names)])
        if took > times * needed:
            much = f"{took / needed:.1f} times as much" if needed else "more"
            return f"{much} is computed {'as' if needed else 'than'} is needed"
    return None


@travels
def in_any_order(
    case: Case, got: Outcomes, expected: Outcomes, names: Sequence[str], which: Sequence[int] | None = None
) -> str | None:
    """Each of the lists with the indices `which` (all by default) contains the reference's numbers, in any order."""
    for name, *both in _results(got, expected, names, which):
        output, wanted = (each.double().reshape(-1).sort().values for each in both)
        if not close(output, wanted):
            return f"{name} does not contain the expected numbers, in whatever order"
    return None


def keeps_inputs(judge: Judge) -> bool:
    """Whether a judge asks for unchanged inputs."""
    return _is_made_of(judge, INPUTS)


def compares(judge: Judge) -> bool:
    """Whether a judge asks for the reference's own results."""
    return _is_made_of(judge, COMPARING)


def inputs_unchanged(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """The caller's tensors are unchanged."""
    changed = sorted({name for outcome in got for name in outcome.changed} - {GENERATOR})
    return f"after the call, {' and '.join(changed)} had changed" if changed else None


@travels
def and_inputs_unchanged(case: Case, got: Outcomes, expected: Outcomes, first: Judge) -> str | None:
    return first(case, got, expected) or inputs_unchanged(case, got, expected)


@travels
def law(case: Case, got: Outcomes, expected: Outcomes, *rules: Callable[[Case, Outcomes], str | None]) -> str | None:
    """A judge that needs no reference; it returns the first rule's complaint. The shapes must be right."""
    for mine, right in zip(got, expected, strict=True):
        for output, wanted in zip(mine.outputs, right.outputs, strict=True):
            if output.shape != wanted.shape:
                return "the shape of a result is not the expected one"
    return next((complaint for rule in rules if (complaint := rule(case, got)) is not None), None)
