"""What every decoding algorithm asks of its arguments. Each error names the argument, the value and what is allowed."""

import dataclasses
import math
from numbers import Real
from operator import index
from typing import SupportsIndex

from torch import Tensor

from nlmcore.language_model import LanguageModel, State, check_model, check_tokens


def check_request(
    model: LanguageModel,
    prompt: Tensor,
    max_new_tokens: int,
    eos: SupportsIndex | None,
    state: State,
    name: str = "model",
) -> tuple[Tensor, int | None]:
    """Check what all algorithms share and return the prompt as int64, and eos as an int or None.

    A batch of prompts is one rectangle: every model reads (batch, time), and no mask says where a shorter
    prompt would end. Prompts of different lengths are decoded one call per length.
    """
    check_model(model, name)
    vocab_size = model.vocab_size
    if isinstance(prompt, list | tuple):
        raise TypeError(
            f"prompt must be a LongTensor (batch, time), got a {type(prompt).__name__};"
            " prompts of different lengths are decoded in one call per length"
        )
    check_tokens(prompt, vocab_size, "prompt")
    check_count("max_new_tokens", max_new_tokens, minimum=0)
    end = check_eos(eos)
    if end is not None and not 0 <= end < vocab_size:
        raise ValueError(f"eos must be an id in [0, {vocab_size}), the vocabulary, or None, got {end}")
    rows = _state_rows(state)
    if rows is not None and rows != len(prompt):
        raise ValueError(f"state remembers {rows} texts but prompt has {len(prompt)}; both need the same batch")
    return prompt.long(), end


def check_eos(eos: SupportsIndex | None) -> int | None:
    """An integer of any library (NumPy's, a tensor with one id) as an int; None stays None."""
    if eos is None:
        return None
    try:
        if not isinstance(eos, bool):
            return index(eos)
    except TypeError:
        pass
    raise TypeError(f"eos must be a token id or None, got {eos!r:.60}")


def check_count(name: str, value: int, *, minimum: int = 1) -> None:
    """An integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")


def check_number(name: str, value: float | int, *, minimum: float | int = -math.inf) -> None:
    """A finite number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value < minimum:
        allowed = "finite" if minimum == -math.inf else f"finite and at least {minimum:g}"
        raise ValueError(f"{name} must be {allowed}, got {value}")


def check_probability(name: str, value: float | int) -> None:
    """A number in [0, 1]."""
    check_number(name, value)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")


def check_length_penalty(length_penalty: float | int, max_new_tokens: int) -> None:
    """Finite, and small enough that length ** length_penalty is a floating-point number."""
    check_number("length_penalty", length_penalty)
    if abs(length_penalty) * math.log(max(max_new_tokens, 2)) > 700:
        raise ValueError(
            f"length_penalty must keep {max_new_tokens} ** length_penalty a finite number, got {length_penalty}"
        )


def _state_rows(state: State) -> int | None:
    """The batch of the first tensor in a state; None if it holds none that we can see."""
    if isinstance(state, Tensor):
        return len(state) if state.ndim else None
    if dataclasses.is_dataclass(state):
        parts = [getattr(state, field.name) for field in dataclasses.fields(state)]
    elif isinstance(state, dict):
        parts = list(state.values())
    elif isinstance(state, tuple | list):
        parts = list(state)
    else:
        return None
    return next((rows for rows in map(_state_rows, parts) if rows is not None), None)
