"""Laws of an experiment: a prediction was made, and the student's own numbers support the conclusion.

An experiment returns a table with a row for each seed and a column for each way of doing it. A claim about two columns
a and b is defensible, so that of one table several may be:

    ["lower", a, b]        a < b in every row, or in the mean, by more than chance explains
    ["lower", a, b, c]     the same of c·a and b
    ["undecided", a, b]    neither is lower in every row *and* by more than chance explains

Chance explains a mean difference if the paired 95 % interval (Student 1908) of the differences contains 0.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels
from nlmcore.metrics.significance import critical

ROUNDING = 1e-6
"""By so much a number may differ from a right one that is 0."""


@travels
def chooses(case: Case, got: Outcomes, expected: Outcomes, name: str, which: int, options: int) -> str | None:
    """Result `which` is one of 1, …, options."""
    return None if _choice(got[0].outputs[which], options) else f"{name} is not one of the numbers 1 to {options}"


@travels
def right_columns(
    case: Case, got: Outcomes, expected: Outcomes, name: str, which: int, columns: Sequence[int]
) -> str | None:
    """Some columns of a table, result `which`, are the reference's."""
    mine, right = (outcomes[0].outputs[which] for outcomes in (got, expected))
    if mine.shape != right.shape:
        return f"the shape of {name} is not the expected one"
    if close(mine[:, list(columns)], right[:, list(columns)]):
        return None
    said = " and ".join(str(column + 1) for column in columns)
    return f"the values of {name} in column {said} are not the expected ones"


@travels
def is_supported(
    case: Case,
    got: Outcomes,
    expected: Outcomes,
    name: str,
    which: int,
    table: int,
    within: float,
    claims: Sequence[Any],
) -> str | None:
    """The chosen claim, result `which`, is defensible for the numbers, result `table`. They may differ from the right
    ones by a part `within`: numbers that come from no experiment support nothing. Whether they support the claim is
    asked where the case has a `known`: in the situation that the page describes."""
    choice = _choice(got[0].outputs[which], len(claims))
    numbers, right = (outcomes[0].outputs[table].double() for outcomes in (got, expected))
    if not choice:
        return f"{name} is not one of the numbers 1 to {len(claims)}"
    if numbers.shape != right.shape or not numbers.isfinite().all():
        return f"there is no number for every seed yet, so nothing supports a {name}"
    if ((numbers - right).abs() > within * right.abs() + ROUNDING).any():
        return f"the numbers are far from those of this experiment, so they support no {name}"
    if (numbers == numbers[:1]).all():
        return "the numbers are the same for every seed: nothing was repeated"
    if not case.known:
        return None
    claim = claims[choice - 1]
    every = claim if isinstance(claim[0], list) else [claim]
    return next((said for one in every if (said := _refuted(numbers, *one)) is not None), None)


_COMPARED: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "first": (
        lambda table: table[:, 1:] - table[:, :1],
        "there is not yet a number for every column and seed, with a sign for each but the first",
    ),
    "pairs": (
        lambda table: table[:, 1::2] - table[:, 0::2],
        "there are not yet two errors and a sign for every seed and situation",
    ),
}
"""What a column is compared with -> the differences of a table, and what is said where some are missing."""


@travels
def signs_of(
    case: Case, got: Outcomes, expected: Outcomes, which: Sequence[int], against: float | str, within: float
) -> str | None:
    """Result `which[1]` holds the signs of differences in result `which[0]`: of all its numbers less `against`, of its
    other columns less the "first", or of each second column less the one before it ("pairs"). These numbers may differ
    from the right ones by a part `within`: numbers that come from no experiment have no signs."""
    if isinstance(against, str):
        (less, missing), rounding = _COMPARED[against], 0.0
    else:
        less, missing, rounding = (
            lambda table: table - against,
            "there is not yet a number and a sign for every seed",
            ROUNDING,
        )
    numbers, signs = (got[0].outputs[index].double() for index in which)
    right = expected[0].outputs[which[0]].double()
    if numbers.shape != right.shape or signs.shape != less(right).shape:
        return missing
    if not bool(((numbers - right).abs() <= within * right.abs() + rounding).all()):
        return "the numbers are far from those of this experiment, so their signs say nothing"
    return None if close(signs, less(numbers).sign()) else "the signs are not those of your own numbers"


def _choice(output: Tensor, options: int) -> int:
    """1, …, options; 0 for anything else."""
    value = output.double()
    return int(value) if value.ndim == 0 and value in range(1, options + 1) else 0


def _refuted(numbers: Tensor, kind: str, a: int, b: int, factor: float = 1.0) -> str | None:
    """Why the numbers do not support a claim."""
    gaps = (numbers[:, b] - factor * numbers[:, a]).tolist()
    lower, higher = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    sure = _sign(gaps)
    if kind == "lower":
        if lower == len(gaps) or sure > 0:
            return None
        return f"your own numbers do not support this conclusion: what it claims holds for {lower} of {len(gaps)} seeds"
    if len(gaps) in (lower, higher) and sure != 0:
        return (
            f"your own numbers decide it: the difference has the same sign for all {len(gaps)} seeds, and is not chance"
        )
    return None


def _sign(gaps: Sequence[float]) -> int:
    """The sign of the mean, if its 95 % interval does not contain 0; else 0."""
    count = len(gaps)
    mean = sum(gaps) / count
    error = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / (count - 1) / count)
    return 0 if abs(mean) <= critical(count - 1) * error else 1 if mean > 0 else -1
