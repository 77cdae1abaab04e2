"""What may be required of a function's outputs: the judges that most exercises need.

A judge sees outputs only, never the function, so it can sit in another process than the student's code.
It compares with the reference, or holds the outputs to a law. A law is the fairer judge where one exists:
who forgot a factor elsewhere still earns the points for a mask that masks.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from autograder.exercise.outcome import Outcome
from autograder.exercise.specification import Case, Judge
from autograder.exercise.travel import made_of, travels

TOLERANCE = 1e-4
PARTS = {"same_shapes", "right_where_known", "uniform_where_known"}
BEYOND = 1e6
"""How many times larger than the largest right number a result may be."""

Outcomes = Sequence[Outcome]  # of the calls of one case, in order


def close(got: Tensor, expected: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Equal in shape and, to the tolerance, in value. Dtypes may differ; NaN equals nothing."""
    if got.shape != expected.shape:
        return False
    return torch.allclose(got.double(), expected.double(), rtol=tolerance, atol=tolerance)


def implausible(
    judge: Judge, got: Outcomes, expected: Outcomes, names: Sequence[str], which: Sequence[int] | None = None
) -> str | None:
    """What is asked of numbers before a judge sees them: those numbered `which` (all by default) are finite, and not
    beyond all measure. Infinity and 1e30 obey many a law. A judge of shapes, or of a part, looks for itself."""
    if PARTS & set(made_of(judge)):
        return None
    for mine, right in zip(got, expected, strict=True):
        for index in range(len(names)) if which is None else which:
            output, wanted = mine.outputs[index].double(), right.outputs[index].double()
            if not wanted.isfinite().all():
                continue
            if not output.isfinite().all():
                return f"there is {'NaN' if output.isnan().any() else 'infinity'} in {names[index]}"
            largest = max(1.0, float(wanted.abs().max()) if wanted.numel() else 0.0)
            if output.numel() and float(output.abs().max()) > BEYOND * largest:
                return f"the numbers of {names[index]} are far too large"
    return None


@travels
def same_shapes(
    case: Case, got: Outcomes, expected: Outcomes, names: Sequence[str], boolean: bool = False
) -> str | None:
    """Every output has the reference's shape; with `boolean`, its dtype is torch.bool too."""
    for mine, right in zip(got, expected, strict=True):
        for name, output, wanted in zip(names, mine.outputs, right.outputs, strict=True):
            if output.shape != wanted.shape:
                return f"the shape of {name} is not the expected one"
            if boolean and output.dtype != torch.bool:
                return f"{name} should be boolean (torch.bool), and its dtype is {_dtype(output)}"
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
    """The outputs numbered `which` (all by default) are the reference's."""
    for mine, right in zip(got, expected, strict=True):
        for index in range(len(names)) if which is None else which:
            output, wanted = mine.outputs[index], right.outputs[index]
            if output.shape != wanted.shape:
                return f"the shape of {names[index]} is not the expected one"
            if not close(output, wanted, tolerance):
                return f"the numbers of {names[index]} are not the expected ones"
    return None


def inputs_unchanged(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """The caller's tensors are as they were."""
    changed = sorted({name for outcome in got for name in outcome.changed})
    return f"after the call, {' and '.join(changed)} had changed" if changed else None


@travels
def and_inputs_unchanged(case: Case, got: Outcomes, expected: Outcomes, first: Judge) -> str | None:
    return first(case, got, expected) or inputs_unchanged(case, got, expected)


@travels
def law(case: Case, got: Outcomes, expected: Outcomes, *rules: Callable[[Case, Outcomes], str | None]) -> str | None:
    """A judge that needs no reference: the first rule that complains is heard. The shapes must be right."""
    for mine, right in zip(got, expected, strict=True):
        for output, wanted in zip(mine.outputs, right.outputs, strict=True):
            if output.shape != wanted.shape:
                return "the shape of a result is not the expected one"
    return next((complaint for rule in rules if (complaint := rule(case, got)) is not None), None)


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
