"""The one function that every language model of this course is.

    logits, state = model(tokens, state=None)

`tokens` is a LongTensor (batch, time). `logits[b, t]` scores the token that follows `tokens[b, :t+1]`.
`state` is all that the model remembers of what it has read; None means nothing yet.

**The chunking law.** Reading a text in one call or in pieces gives the same: for every k,

    model(tokens)  =  model(tokens[:, :k])  followed by  model(tokens[:, k:], state after k)

**A state is a value.** To continue twice from one state gives the same both times. A state is a nested tuple of
tensors, or a frozen dataclass of them, whose first dimension is the batch, so `select` can gather rows of any model's
state, and beam search needs to know nothing of the model.

**Hidden vectors** are optional. Most neural models can also be called in two halves:

    hidden, state = model.hidden_states(tokens, state)      (batch, time, d_model)
    logits = model.output(hidden)                           each position separately

**Masks** are boolean, (batch, time), True = a real token. A text without one reads as nothing in every model: a
recurrent state is unchanged, a mean, a maximum and an attention over it are zero.

Departs from the literature: in notation only.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeGuard, TypeVar, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import described

__all__ = [
    "LanguageModel",
    "NeuralLanguageModel",
    "State",
    "call_model",
    "check_id",
    "check_logits",
    "check_model",
    "check_source_state",
    "check_state",
    "context_length",
    "evaluation_mode",
    "leaves",
    "map_leaves",
    "select",
    "shows_hidden",
]

_S = TypeVar("_S")
State = Any  # None, a tensor, or a nested tuple or frozen dataclass of tensors; the first dimension is the batch


@runtime_checkable
class LanguageModel(Protocol):
    """Anything that can be called like `logits, state = model(tokens, state)` and knows its vocabulary."""

    vocab_size: int

    def __call__(
        self, tokens: Int[Tensor, "batch time"], state: State = None
    ) -> tuple[Float[Tensor, "batch time vocab"], State]: ...


@runtime_checkable
class NeuralLanguageModel(LanguageModel, Protocol):
    """A language model with hidden vectors: calling it gives `output(hidden_states(tokens, state))`."""

    def hidden_states(
        self, tokens: Int[Tensor, "batch time"], state: State = None
    ) -> tuple[Float[Tensor, "batch time d_model"], State]: ...

    if TYPE_CHECKING:  # often a part of a module, and since Python 3.12 `isinstance` does not see those

        def output(self, hidden: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time vocab"]: ...


def shows_hidden(model: object) -> TypeGuard[NeuralLanguageModel]:
    """Whether `hidden_states` and `output` may replace the call of this model.

    They may not where the call was changed and `hidden_states` was not: by a subclass, by a wrapper that passes
    attributes on, by an assignment to the object, by a hook.
    """
    kind, own = type(model), getattr(model, "__dict__", {})
    call = "__call__"
    if isinstance(model, nn.Module):
        call = "forward"
        if kind.__call__ is not nn.Module.__call__ or model._forward_hooks or model._forward_pre_hooks:
            return False
    defined = {name: depth for depth, base in reversed([*enumerate(kind.__mro__)]) for name in vars(base)}
    if call in own or "hidden_states" in own or not {call, "hidden_states"} <= defined.keys():
        return False
    return defined["hidden_states"] <= defined[call] and callable(getattr(model, "output", None))


def check_model(model: object, name: str = "model") -> None:
    """Refuse, with TypeError, anything that is not called like model(tokens, state) or has no vocabulary."""
    size = getattr(model, "vocab_size", None)
    if not callable(model) or not isinstance(size, int):
        raise TypeError(
            f"{name} must be a language model, called like model(tokens, state), with an integer vocab_size,"
            f" got {model!r:.80}"
        )


def select(state: State, indices: Tensor) -> State:
    """Gather rows of any model's state: row i of the result is row `indices[i]` of `state`; `indices` is (chosen,).

    Values that are not tensors (None, a step count) are kept. A state class that knows a better way may
    define its own `select(indices)`.

    Raises TypeError if `indices` is not a tensor of integers, IndexError if one lies outside the batch.
    """
    if not isinstance(indices, Tensor) or indices.dtype not in (torch.int64, torch.int32) or indices.ndim != 1:
        raise TypeError(f"indices must be a one-dimensional tensor of integers, got {described(indices)}")
    low, high = (int(indices.min()), int(indices.max())) if len(indices) else (0, -1)

    def gather(part: Any) -> Any:
        if not isinstance(part, Tensor):
            return part.select(indices) if hasattr(part, "select") else part
        if low < 0 or high >= len(part):
            raise IndexError(f"indices must lie in [0, {len(part)}), the state's batch, got {low} to {high}")
        return part.index_select(0, indices.to(part.device))

    return map_leaves(gather, state, lambda part: hasattr(part, "select"))


def check_state(
    state: State, shapes: Sequence[tuple[int, ...]], dtype: torch.dtype, names: Sequence[str] = (), axes: str = ""
) -> tuple[Tensor, ...]:
    """The tensors of a state, refused unless they have the shapes and the dtype of a fresh state of the same batch.

    For states that are one tensor, or a tuple of them, whose shapes do not depend on what was read. `names` and `axes`
    are those of the tensors, for the message.

    Raises TypeError for another structure or dtype (under autocast any dtype will do), ValueError for another shape.
    """
    parts = state if isinstance(state, tuple) else (state,)
    if not all(isinstance(part, Tensor) for part in parts):
        raise TypeError(f"state must be None or what an earlier call gave back, got {described(state)}")
    if len(parts) != len(shapes):
        raise TypeError(f"state must hold {len(shapes)} tensors as this model's do, got {len(parts)}")
    for i, (part, shape) in enumerate(zip(parts, shapes, strict=True)):
        name = f"{names[i]} of the state" if names else "state" if len(parts) == 1 else f"part {i} of the state"
        if part.shape != shape:
            words = f"{shape}, {axes}" if axes else f"{shape}"
            raise ValueError(f"{name} must have shape {words}, got {tuple(part.shape)}: another batch's or model's")
        if part.dtype != dtype and not torch.is_autocast_enabled(part.device.type):
            raise TypeError(f"{name} must be {dtype} as in this model, got {part.dtype}")
    return parts


def check_source_state(state: State, kind: type[_S], batch: int) -> _S:
    """The state, refused if it is not from encode(source) (TypeError), or not of one source a text (ValueError)."""
    if not isinstance(state, kind):
        raise TypeError(f"state must come from encode(source): no source has been read, got {type(state).__name__}")
    parts = [part for value in vars(state).values() for part in (value if isinstance(value, tuple) else (value,))]
    rows = {len(part) for part in parts if isinstance(part, Tensor)}
    if rows != {batch}:
        raise ValueError(f"state must have one source per text, got {min(rows - {batch})} for {batch} texts")
    return state


def map_leaves(
    function: Callable[[Any], Any], state: State, is_leaf: Callable[[Any], bool] = lambda part: False
) -> State:
    """The same structure, with `function` applied to every leaf: tensors, whatever has no parts, `is_leaf`."""
    if is_leaf(state):
        return function(state)
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        names = [field.name for field in dataclasses.fields(state) if field.init]
        parts = {name: map_leaves(function, getattr(state, name), is_leaf) for name in names}
        return dataclasses.replace(state, **parts)
    if isinstance(state, tuple | list):
        mapped = [map_leaves(function, part, is_leaf) for part in state]
        return type(state)(*mapped) if hasattr(state, "_fields") else type(state)(mapped)  # a named tuple has _fields
    if isinstance(state, dict):
        return {key: map_leaves(function, part, is_leaf) for key, part in state.items()}
    return function(state)


def leaves(state: State) -> list[Any]:
    """All leaves in a fixed order."""
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        found.append(leaf)
        return leaf

    map_leaves(note, state)
    return found


@contextmanager
def evaluation_mode(model: object, training: bool = False) -> Iterator[None]:
    """Dropout off (or on) meanwhile; afterwards every submodule is in its old mode. Only modules have modes."""
    before = [(module, module.training) for module in model.modules()] if isinstance(model, nn.Module) else []
    if isinstance(model, nn.Module):
        model.train(training)
    try:
        yield
    finally:
        if isinstance(model, nn.Module):
            model.train(before[0][1])  # first as a whole: an adapter's model is none of its modules
        for module, mode in before:
            module.training = mode


def context_length(model: object) -> int | None:
    """The most tokens that a model can read, the `max_length` of its own, or its decoder's, `positions`; None: any."""
    length = getattr(getattr(getattr(model, "decoder", model), "positions", None), "max_length", None)
    return length if isinstance(length, int) else None


def check_id(token: SupportsIndex | None, vocab_size: int, name: str) -> int | None:
    """An id of the vocabulary as an int, from an integer of any library (a tensor with one id); None stays None."""
    if token is None:
        return None
    try:
        found = index(None if isinstance(token, bool) else token)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a token id or None, got {described(token)}") from None
    if not 0 <= found < vocab_size:
        raise ValueError(f"{name} must be an id in [0, {vocab_size}), the vocabulary, or None, got {found}")
    return found


def call_model(model: LanguageModel, tokens: Tensor, state: State, advice: str = "") -> tuple[Tensor, State]:
    """model(tokens, state), refused if that is not logits for every token and a state; `advice` ends the refusal."""
    answer = model(tokens, state)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise TypeError(f"model must answer (logits, state) to model(tokens, state), got {described(answer)}{advice}")
    check_logits(answer[0], tokens, model.vocab_size)
    return answer[0], answer[1]


def check_logits(logits: object, tokens: Tensor, vocab_size: int) -> None:
    """Only their shape: one logit for every token of the vocabulary after every token read."""
    allowed = (*tokens.shape, vocab_size)
    if not isinstance(logits, Tensor) or logits.shape != allowed:
        shape = f"(batch, time, vocab_size) = {allowed}"
        raise ValueError(f"model must give logits of shape {shape}, got {described(logits)}")
