"""Walking through a model's state, whatever it is made of: to cut it from its past, to write it down, to restore it."""

import dataclasses
from collections.abc import Callable
from typing import Any

from torch import Tensor

from nlmcore.language_model import State


def map_leaves(function: Callable[[Any], Any], state: State) -> State:
    """The same structure, with `function` applied to every tensor and every other value that holds no further parts."""
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        parts = {f.name: map_leaves(function, getattr(state, f.name)) for f in dataclasses.fields(state) if f.init}
        return dataclasses.replace(state, **parts)
    if isinstance(state, tuple) and hasattr(state, "_fields"):  # a named tuple
        return type(state)(*(map_leaves(function, part) for part in state))
    if isinstance(state, tuple | list):
        return type(state)(map_leaves(function, part) for part in state)
    if isinstance(state, dict):
        return {key: map_leaves(function, part) for key, part in state.items()}
    return function(state)


def detach(state: State) -> State:
    """The same numbers, but no gradient flows through them into the past."""
    return map_leaves(lambda leaf: leaf.detach() if isinstance(leaf, Tensor) else leaf, state)


def leaves(state: State) -> list[Any]:
    """All leaves in a fixed order."""
    found: list[Any] = []
    map_leaves(found.append, state)
    return found


def rebuild(template: State, new_leaves: list[Any]) -> State:
    """The structure of `template` with these leaves; ValueError if their number or kind does not fit."""
    old = leaves(template)
    if [isinstance(leaf, Tensor) for leaf in old] != [isinstance(leaf, Tensor) for leaf in new_leaves]:
        raise ValueError("the carried state in the checkpoint has another structure than this model's state")
    remaining = iter(new_leaves)
    return map_leaves(lambda _: next(remaining), template)
