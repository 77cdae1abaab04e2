"""Inputs whose sizes have names: one function of a question, from which the machine makes the usual cases.

    def leaking(draw, time, units):
        return draw.normal(time, units), draw.unit(time, units), draw.normal(units)

Its extra arguments are the sizes. `MAIN` draws them, all different. `ODD` makes each 1, and then everything in double
precision, besides the cases of the question's own `odd` list. Equal sizes, and inputs that are slices, are added to
every question (`autograder.question.kinds`).

An argument with a default is no size: it has that value unless a row gives another one, or a function of the draw. A
row, or `these` rows, are the cases of a property as well.

    def moved(draw, time, half, first=0, base=100.0):
        return draw.normal(time, 2 * half), first, base

    values("from a later position", 0.75, at("from a later position", first=between(3, 9)))
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from torch import Tensor

from autograder.question.draw import Draw
from autograder.question.outcome import tensors_in, with_tensors
from autograder.question.specification import Both, Case, Cases, case

Inputs = Callable[..., Case | tuple[Any, ...]]
"""(draw, a size, another, …) -> the arguments of a call; or a case, where a law needs what is `known`."""


def MAIN(draw: Draw) -> NoReturn:  # noqa: N802 - it stands for cases
    """Cases with the question's own `inputs`, all sizes different; what a property has that names none."""
    raise TypeError("the question has no inputs=")


def ODD(draw: Draw) -> NoReturn:  # noqa: N802
    """Cases with the question's own `inputs` and unusual sizes, types and values."""
    raise TypeError("the question has no inputs=")


@dataclass(frozen=True, eq=False)
class At:
    """A case of a question's inputs, or of other ones, with some of the sizes and other arguments given."""

    label: str
    inputs: Inputs | None
    given: Mapping[str, Any]
    double: bool = False

    def __call__(self, draw: Draw) -> list[Case]:
        return Sized(None, (self,))(draw)


def at(label: str = "", inputs: Inputs | None = None, /, *, double: bool = False, **given: Any) -> At:
    """`given`: sizes and other arguments, or functions of the draw that return them. `double`: everything in double
    precision. Without a label it has the name of the property."""
    return At(label, inputs, given, double)


def between(low: int, high: int) -> Callable[[Draw], int]:
    """A value for `at`: an integer that is drawn."""
    return lambda draw: draw.integer(low, high)


def beyond(low: int) -> Callable[[Draw], int]:
    """A value for `at`: a size, and that many more."""
    return lambda draw: low + draw.size()


def largest(more: int = 0) -> Callable[[Draw], int]:
    """A value for `at`: the largest size, which is larger for hidden inputs, and that many more."""
    return lambda draw: draw.largest + more


def several(*calls: tuple[Any, ...], known: tuple[Tensor, ...] = ()) -> Case:
    """What `inputs` returns where a law compares several calls, or needs to know something."""
    return Case(label="", calls=calls, known=known)


@dataclass(frozen=True)
class Sized:
    """A case for each row; sizes that it leaves open are drawn, all different. Inputs without floating-point numbers
    have no case in double precision."""

    inputs: Inputs | None
    rows: tuple[At, ...]

    def __call__(self, draw: Draw) -> list[Case]:
        found = []
        for row in self.rows:
            made = self._case(draw, row)
            if not row.double or any(tensor.is_floating_point() for tensor in tensors_in(made.calls)):
                found.append(_doubled(made) if row.double else made)
        return found

    def _case(self, draw: Draw, row: At) -> Case:
        inputs = row.inputs or self.inputs
        if inputs is None:
            raise TypeError(f"“{row.label}”: the question has no inputs=")
        fixed = {name: value(draw) if callable(value) else value for name, value in row.given.items()}
        free = [name for name in names_of(inputs) if name not in fixed]
        made = inputs(draw, **fixed, **dict(zip(free, draw.sizes(len(free)), strict=True)))
        return replace(made, label=row.label) if isinstance(made, Case) else case(row.label, *made)


def cases(inputs: Inputs, *rows: At) -> Cases:
    """A case of these inputs for each row."""
    return Sized(inputs, rows)


def these(*rows: At) -> Cases:
    """A case of the question's own inputs for each row that has no others."""
    return Sized(None, rows)


def of_question(named: Cases, label: str, inputs: Inputs | None, own: Mapping[Cases, Cases]) -> Cases:
    """The cases that the property `label` names, of a question with these inputs; `own`: what `MAIN` and `ODD` are."""
    if isinstance(named, Both):
        return Both(tuple(of_question(kind, label, inputs, own) for kind in named.kinds))
    if isinstance(named, At):
        named = these(named)
    if not isinstance(named, Sized):
        return own.get(named, named)
    rows = tuple(row if row.label else replace(row, label=label) for row in named.rows)
    return Sized(named.inputs or inputs, rows)


def names_of(inputs: Inputs) -> list[str]:
    """The names of the sizes."""
    _, *arguments = inspect.signature(inputs).parameters.values()
    return [argument.name for argument in arguments if argument.default is argument.empty]


def usual(inputs: Inputs, odd: Sequence[At]) -> Cases:
    """A question's own unusual cases, and those that every question should have."""
    names = names_of(inputs)
    there = not names or any(row.inputs is None and {*names} <= {*row.given} for row in odd)
    ones = () if there else (At("every size 1", None, dict.fromkeys(names, 1)),)
    return Sized(inputs, (*odd, *ones, at("float64", double=True)))


def _doubled(found: Case) -> Case:
    calls, known = with_tensors(
        (found.calls, found.known), lambda one: one.double() if one.is_floating_point() else one
    )
    return replace(found, calls=calls, known=known)
