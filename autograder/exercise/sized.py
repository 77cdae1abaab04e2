"""Inputs whose sizes have names: one function of a question, from which the machine makes the usual cases.

    def leaking(draw, time, units):
        return draw.normal(time, units), draw.unit(time, units), draw.normal(units)

Its extra arguments are the sizes. `MAIN` draws them, all different. `ODD` makes each 1, and then everything in double
precision, besides the cases of the question's own `odd` list. Equal sizes, and inputs that are slices, are added to
every question (`autograder.exercise.kinds`). An extra argument with a default is no size: it keeps its default unless a
row says otherwise.

A row, `at("a closed gate", time=4)`, or several, `these(at(…), at(…))`, are the cases of a property as well.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import torch

from autograder.exercise.draw import Draw
from autograder.exercise.specification import Both, Case, Cases, case

Inputs = Callable[..., Case | tuple[Any, ...]]
"""(draw, a size, another, …) -> the arguments of a call; or a case, where a law needs what is `known`."""


def MAIN(draw: Draw) -> NoReturn:  # noqa: N802 - it stands for cases
    """Cases with the question's own `inputs`, all sizes different; what a property has that names none."""
    raise TypeError("the question has no inputs=")


def ODD(draw: Draw) -> NoReturn:  # noqa: N802
    """Cases with the question's own `inputs` and unusual sizes, types and values."""
    raise TypeError("the question has no inputs=")


@dataclass(frozen=True)
class At:
    """A case of a question's inputs, or of other ones, with some of the sizes fixed."""

    label: str
    inputs: Inputs | None
    sizes: tuple[tuple[str, Any], ...]
    double: bool = False

    def __call__(self, draw: Draw) -> list[Case]:
        return Sized(None, (self,))(draw)


def at(label: str, inputs: Inputs | None = None, /, **sizes: Any) -> At:
    return At(label, inputs, tuple(sizes.items()))


@dataclass(frozen=True)
class Sized:
    """A case for each row; sizes that it leaves open are drawn, all different."""

    inputs: Inputs | None
    rows: tuple[At, ...]

    def __call__(self, draw: Draw) -> list[Case]:
        return [self._case(draw, row) for row in self.rows]

    def _case(self, draw: Draw, row: At) -> Case:
        inputs, fixed = row.inputs or self.inputs, dict(row.sizes)
        if inputs is None:
            raise TypeError(f"“{row.label}” has no inputs, and the question has none")
        free = [name for name in names_of(inputs) if name not in fixed]
        made = inputs(draw, **fixed, **dict(zip(free, draw.sizes(len(free)), strict=True)))
        found = replace(made, label=row.label) if isinstance(made, Case) else case(row.label, *made)
        if not row.double:
            return found
        calls = tuple(tuple(map(_double, call)) for call in found.calls)
        return replace(found, calls=calls, known=tuple(map(_double, found.known)))


def cases(inputs: Inputs, *rows: At) -> Cases:
    """A case of these inputs for each row."""
    return Sized(inputs, rows)


def these(*rows: At) -> Cases:
    """A case of the question's own inputs for each row that has no others."""
    return Sized(None, rows)


def of_the_question(kind: Cases, main: Cases | None, odd: Cases | None, inputs: Inputs | None) -> Cases:
    """What `MAIN`, `ODD` and rows without inputs stand for in a question."""
    if isinstance(kind, Both):
        return Both(tuple(of_the_question(part, main, odd, inputs) for part in kind.kinds))
    if isinstance(kind, At):
        kind = these(kind)
    if isinstance(kind, Sized):
        return Sized(kind.inputs or inputs, kind.rows)
    return (main if kind is MAIN else odd if kind is ODD else None) or kind


def names_of(inputs: Inputs) -> list[str]:
    """The names of the sizes."""
    _, *extra = inspect.signature(inputs).parameters.values()
    return [one.name for one in extra if one.default is one.empty]


def usual(inputs: Inputs, odd: Sequence[At]) -> Cases:
    """A question's own unusual cases, and those that every question should have."""
    ones = At("every size 1", None, tuple((name, 1) for name in names_of(inputs)))
    double = At("float64", None, (), double=True)
    there = not ones.sizes or any({*row.sizes} == {*ones.sizes} for row in odd)
    return Sized(inputs, (*odd, *(() if there else (ones,)), double))


def _double(value: Any) -> Any:
    if isinstance(value, list):
        return [_double(item) for item in value]
    if isinstance(value, dict):
        return {key: _double(item) for key, item in value.items()}
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
