"""Kinds of inputs that every question judges, added to its own cases by one mechanism: equal sizes, and slices.

An axis that is taken for another gives no error where all sizes are equal; `view` fails on a slice of a larger tensor.
The cases come from the question's main generator, the one that the most points depend on, and belong to its properties.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from autograder.question.draw import Draw, Exhausted
from autograder.question.specification import Both, Case, Cases, Property, parts
from autograder.question.travel import made_of

EQUAL, SLICES, DIGITS = "all sizes equal", "inputs that are slices", "ids of several digits"
"""What such a case is called. A generator that draws ids, or has no sizes to make equal, makes such a case itself."""
_COMPARING = {"same_values", "same_list", "same_path", "same_pairs", "mixed_from_two_rows", "and_inputs_unchanged"}
_PATIENCE = 1000


class _Equal(Draw):
    """Draws one size for all."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw.integer(0, 10**9), draw.largest, _PATIENCE)
        self.several = False
        self._size = super().sizes(1)[0]

    def sizes(self, count: int) -> list[int]:
        self._count()
        self.several |= count > 1
        return [self._size] * count


@dataclass(frozen=True)
class Equal:
    """The first case of a kind, with equal sizes; none if the kind has no two sizes, or needs different ones."""

    kind: Cases

    def __call__(self, draw: Draw) -> list[Case]:
        equal = _Equal(draw)
        try:
            first = self.kind(equal)[0]
        except Exhausted:
            return []
        return [replace(first, label=EQUAL)] if equal.several else []


@dataclass(frozen=True)
class Slices:
    """The first case of a kind, each of its tensors a slice of a larger one; none if there is no tensor."""

    kind: Cases

    def __call__(self, draw: Draw) -> list[Case]:
        first = self.kind(draw)[0]
        sliced = tuple(tuple(map(_sliced, call)) for call in first.calls)
        if all(t.is_contiguous() for call in sliced for value in call for t in _tensors(value)):
            return []
        return [replace(first, label=SLICES, calls=sliced)]


def with_every_kind(properties: Sequence[Property]) -> tuple[Property, ...]:
    """The properties, those that compare values on the main kind with the further cases: what another property says
    stays true of it."""
    comparing = [prop for prop in properties if set(filter(None, made_of(prop.judge))) <= _COMPARING]
    if not comparing:
        return tuple(properties)
    kinds = (kind for prop in comparing for kind in parts(prop.cases))
    main = max(kinds, key=lambda kind: sum(prop.points for prop in comparing if kind in parts(prop.cases)))
    return tuple(
        replace(prop, cases=Both((*parts(prop.cases), Equal(main), Slices(main))))
        if main in parts(prop.cases) and any(prop is one for one in comparing)
        else prop
        for prop in properties
    )


def _sliced(value: Any) -> Any:
    """Of a tuple, such as a cache, the parts stay as they are."""
    if isinstance(value, list):
        return [_sliced(item) for item in value]
    if isinstance(value, dict):
        return {key: _sliced(item) for key, item in value.items()}
    if not isinstance(value, Tensor) or value.numel() < 2 or not value.is_contiguous():
        return value
    if value.dtype == torch.uint8:  # the state of a generator, which PyTorch refuses as a slice
        return value
    larger = value.new_zeros(*value.shape[:-1], 2 * value.shape[-1] + 1)
    larger[..., 1::2] = value
    return larger[..., 1::2]


def _tensors(value: Any) -> list[Tensor]:
    value = list(value.values()) if isinstance(value, dict) else value
    if isinstance(value, list):
        return [tensor for item in value for tensor in _tensors(item)]
    return [value] if isinstance(value, Tensor) else []
