"""Inputs whose sizes have names: one function of a question, from which the machine makes the usual cases.

    def leaking(draw, time, units):
        return draw.normal(time, units), draw.unit(time, units), draw.normal(units)

Its extra arguments are the sizes. `MAIN` draws them, all different. `ODD` makes each 1, and then everything in double
precision, besides the cases of the question's own `odd` list. Equal sizes, and inputs that are slices, are added to
every question (`autograder.exercise.kinds`).

An argument with a default is no size; a row may set it, as it may fix a size. A row is a case of its own where a
property names it:

    def leaking(draw, time, units, gate=0.5):
    values("gates that are closed", 0.5, at("closed", gate=0.0), at("closed, one step", gate=0.0, time=1), "states")
"""

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
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
    """A case of a question's inputs, or of other ones, with some of the arguments fixed."""

    label: str
    inputs: Inputs | None
    fixed: tuple[tuple[str, Hashable], ...]
    double: bool = False

    def __call__(self, draw: Draw) -> list[Case]:
        if self.inputs is None:
            raise TypeError(f"“{self.label}”: the question has no inputs=")
        return Sized(self.inputs, (self,))(draw)


def at(label: str, inputs: Inputs | None = None, **fixed: Hashable) -> At:
    return At(label, inputs, tuple(fixed.items()))


@dataclass(frozen=True)
class Sized:
    """A case for each row; sizes that it leaves open are drawn, all different. Inputs without floating-point numbers
    have no case in double precision."""

    inputs: Inputs
    rows: tuple[At, ...]

    def __call__(self, draw: Draw) -> list[Case]:
        made = [(row.double, self._case(draw, row)) for row in self.rows]
        return [_doubled(one) if double else one for double, one in made if not double or _is_float(one.calls)]

    def _case(self, draw: Draw, row: At) -> Case:
        inputs, fixed = row.inputs or self.inputs, dict(row.fixed)
        free = [name for name in names_of(inputs) if name not in fixed]
        made = inputs(draw, **fixed, **dict(zip(free, draw.sizes(len(free)), strict=True)))
        return replace(made, label=row.label) if isinstance(made, Case) else case(row.label, *made)


def cases(inputs: Inputs, *rows: At) -> Cases:
    """A case of these inputs for each row."""
    return Sized(inputs, rows)


def names_of(inputs: Inputs) -> list[str]:
    """The names of the sizes."""
    _, *others = inspect.signature(inputs).parameters.values()
    return [one.name for one in others if one.default is inspect.Parameter.empty]


def usual(inputs: Inputs, odd: Sequence[At]) -> Cases:
    """A question's own unusual cases, and those that every question should have."""
    ones = At("every size 1", None, tuple((name, 1) for name in names_of(inputs)))
    double = At("float64", None, (), double=True)
    there = any({*row.fixed} == {*ones.fixed} for row in odd)
    return Sized(inputs, (*odd, *(() if there else (ones,)), double))


def of_question(named: Cases, own: Mapping[Cases, Cases], inputs: Inputs | None) -> Cases:
    """The cases that a property names, of a question with these inputs: `own` says what `MAIN` and `ODD` are."""
    if isinstance(named, Both):
        return Both(tuple(of_question(kind, own, inputs) for kind in named.kinds))
    if isinstance(named, At) and named.inputs is None and inputs is not None:
        return cases(inputs, named)
    return own.get(named, named)


def _doubled(found: Case) -> Case:
    calls = tuple(tuple(map(_double, call)) for call in found.calls)
    return replace(found, calls=calls, known=tuple(map(_double, found.known)))


def _double(value: Any) -> Any:
    if isinstance(value, list):
        return [_double(item) for item in value]
    if isinstance(value, dict):
        return {key: _double(item) for key, item in value.items()}
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _is_float(value: Any) -> bool:
    """Whether it contains floating-point numbers."""
    if isinstance(value, dict):
        return _is_float(list(value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_is_float, value))
    return isinstance(value, torch.Tensor) and value.is_floating_point()
