"""A state taken apart into its tensors and put together again, whatever model it comes from."""

import dataclasses
from collections.abc import Callable

from torch import Tensor

from nlmcore.language_model import State

Step = Callable[[Tensor, State], State]
"""state_t = step(x_t, state_{t-1}), x_t of shape (batch, features): a recurrent cell."""


def tensors_of(state: State) -> list[Tensor]:
    """Every tensor of floats in a state, in a fixed order (an LSTM's h before its c)."""
    found: list[Tensor] = []
    _walk(state, found.append)
    return found


def replace_tensors(state: State, tensors: list[Tensor]) -> State:
    """The same state with other tensors, in the order of `tensors_of`."""
    rest = iter(tensors)
    return _walk(state, lambda _: next(rest))


def separate(state: State) -> State:
    """The same values, each tensor a node of its own in autograd's graph.

    An LSTM's h_t is computed from its c_t; but as a state the pair is what is handed on, and ∂L/∂c_t must not count
    what flows through h_t a second time.
    """
    return replace_tensors(state, [tensor.clone() for tensor in tensors_of(state)])


def check_inputs(inputs: object) -> None:
    """Refuse inputs that are not finite floats (batch, time, features)."""
    if not isinstance(inputs, Tensor) or not inputs.is_floating_point():
        what = inputs.dtype if isinstance(inputs, Tensor) else type(inputs).__name__
        raise TypeError(f"inputs must be a tensor of floats (batch, time, features), got {what}")
    if inputs.ndim != 3 or not inputs.numel():
        raise ValueError(f"inputs must be (batch, time, features), none of them 0, got shape {tuple(inputs.shape)}")
    if not inputs.isfinite().all():
        raise ValueError("inputs must be finite, got NaN or infinity among them")


def _walk(state: State, visit: Callable[[Tensor], Tensor | None]) -> State:
    if isinstance(state, Tensor):
        return visit(state) if state.is_floating_point() else state
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        fields = {f.name: _walk(getattr(state, f.name), visit) for f in dataclasses.fields(state)}
        return dataclasses.replace(state, **fields)
    if isinstance(state, tuple) and hasattr(state, "_fields"):  # a named tuple
        return type(state)(*(_walk(part, visit) for part in state))
    if isinstance(state, tuple | list):
        return type(state)(_walk(part, visit) for part in state)
    if isinstance(state, dict):
        return {key: _walk(part, visit) for key, part in state.items()}
    return state
