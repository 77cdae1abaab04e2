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
from autograder.exercise.travel import travels

TOLERANCE = 1e-4


def close(got: Tensor, expected: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Equal in shape and, to the tolerance, in value. Dtypes may differ; NaN equals nothing."""
    if got.shape != expected.shape:
        return False
    return torch.allclose(got.double(), expected.double(), rtol=tolerance, atol=tolerance)


@travels
def same_shapes(names: Sequence[str], boolean: bool = False) -> Judge:
    """Every output has the reference's shape; with `boolean`, its dtype is torch.bool too."""

    def judge(case: Case, got: Sequence[Outcome], expected: Sequence[Outcome]) -> str | None:
        for mine, right in zip(got, expected, strict=True):
            for name, output, wanted in zip(names, mine.outputs, right.outputs, strict=True):
                if output.shape != wanted.shape:
                    return f"the shape of {name} is not the expected one"
                if boolean and output.dtype != torch.bool:
                    return f"{name} should be boolean (torch.bool), and its dtype is {_dtype(output)}"
        return None

    return judge


@travels
def same_values(names: Sequence[str], which: Sequence[int] | None = None, tolerance: float = TOLERANCE) -> Judge:
    """The outputs numbered `which` (all by default) are the reference's."""

    def judge(case: Case, got: Sequence[Outcome], expected: Sequence[Outcome]) -> str | None:
        for mine, right in zip(got, expected, strict=True):
            for index in range(len(names)) if which is None else which:
                output, wanted = mine.outputs[index], right.outputs[index]
                if output.shape != wanted.shape:
                    return f"the shape of {names[index]} is not the expected one"
                if output.is_floating_point() and not output.isfinite().all():
                    return f"there is {'NaN' if output.isnan().any() else 'infinity'} in {names[index]}"
                if not close(output, wanted, tolerance):
                    return f"the numbers of {names[index]} are not the expected ones"
        return None

    return judge


def inputs_unchanged(case: Case, got: Sequence[Outcome], expected: Sequence[Outcome]) -> str | None:
    """The caller's tensors are as they were."""
    changed = sorted({name for outcome in got for name in outcome.changed})
    return f"after the call, {' and '.join(changed)} had changed" if changed else None


@travels
def and_inputs_unchanged(first: Judge) -> Judge:
    """What `first` asks, and the caller's tensors as they were."""

    def judge(case: Case, got: Sequence[Outcome], expected: Sequence[Outcome]) -> str | None:
        return first(case, got, expected) or inputs_unchanged(case, got, expected)

    return judge


@travels
def law(*rules: Callable[[Case, Sequence[Outcome]], str | None]) -> Judge:
    """A judge that needs no reference: the first rule that complains is heard. The shapes must be right."""

    def judge(case: Case, got: Sequence[Outcome], expected: Sequence[Outcome]) -> str | None:
        for mine, right in zip(got, expected, strict=True):
            for output, wanted in zip(mine.outputs, right.outputs, strict=True):
                if output.shape != wanted.shape:
                    return "the shape of a result is not the expected one"
        return next((complaint for rule in rules if (complaint := rule(case, got)) is not None), None)

    return judge


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
