"""Checked arguments: a decorator that reads a public function's annotations, and says in words what does not fit.

    @checked
    def dot_score(query: Float[Tensor, "*batch query d"], keys: Float[Tensor, "*batch key d"]) -> Tensor: ...

    dot_score(torch.ones(1, 2, 3), torch.ones(1, 4, 5))
    ValueError: keys must have shape (*batch, key, d) with d = 3 as in query, got (1, 4, 5)

The signature says once what is allowed; inside the function nothing is checked again. What it understands:

    Float[Tensor, "batch time d_model"]   a tensor, its dtype and its axes; an axis that is named twice has one size,
    Int[…], Bool[…]                       "{self.d_model}" is that attribute; nothing is broadcast
    Size, Count                           an integer of at least 1, of at least 0
    Rate, Probability, Amount, Positive   a number in [0, 1), in [0, 1], of at least 0, above 0; each is finite
    Annotated[kind, "what to do"]         that kind; a refusal ends in what to do instead
    bool, int, float, str, Literal[…]     just that: no number passes for a bool, no bool for a number
    Callable, a class                     something to call, an instance
    A | None, a tensor | a class          the same, or None; a tensor that fits, or an instance

Anything else it lets pass. A type or dtype that does not fit is a TypeError; a shape or a value, a ValueError. Each
names the argument, what was given and what is allowed.
"""

import functools
import inspect
import math
import types
from collections.abc import Callable
from dataclasses import fields
from itertools import chain
from numbers import Real
from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, overload

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])


class Range(NamedTuple):
    """The numbers that are allowed: from `low` (above it, if `above`) to below `high` (or up to it, if `closed`)."""

    low: float | int
    high: float | int = math.inf
    above: bool = False
    closed: bool = False

    def holds(self, number: Any) -> bool:
        high_enough = number > self.low if self.above else number >= self.low
        return high_enough and (number <= self.high if self.closed else number < self.high)

    def __str__(self) -> str:
        return f"lie {self!r}" if self.high < math.inf else f"be {'above' if self.above else 'at least'} {self.low:g}"

    def __repr__(self) -> str:
        """As `help` shows it in a signature: Annotated[int, ≥ 1]."""
        if self.high < math.inf:
            return f"in {'(' if self.above else '['}{self.low:g}, {self.high:g}{']' if self.closed else ')'}"
        return f"{'>' if self.above else '≥'} {self.low:g}"


Size = Annotated[int, Range(1)]
Count = Annotated[int, Range(0)]
Rate = Annotated[float | int, Range(0, 1)]
Probability = Annotated[float | int, Range(0, 1, closed=True)]
Amount = Annotated[float | int, Range(0)]
Positive = Annotated[float | int, Range(0, above=True)]

Check = Callable[[str, Any, dict[str, tuple[Any, str]], Any], None]
"""(name of the argument, its value, the axes so far with their sizes and the argument that gave them, self): raises if
the value does not fit."""

INSTANCES = {bool: "True or False", str: "a string", Tensor: "a tensor", torch.Generator: "a torch.Generator"}
KINDS: dict[str, tuple[str, Callable[[Tensor], bool]]] = {
    "Float": ("floating-point numbers", Tensor.is_floating_point),
    "Int": ("integers", lambda x: not (x.is_floating_point() or x.is_complex() or x.dtype is torch.bool)),
    "Bool": ("booleans (True = may attend)", lambda x: x.dtype is torch.bool),
}


class ContextLengthError(ValueError):
    """`first` tokens were read and `time` more are given, together more than the `max_length` positions of a model."""

    def __init__(self, first: int, time: int, max_length: int) -> None:
        self.first, self.max_length = first, max_length
        before = f" ({first} before and {time} now)" if first else ""
        super().__init__(
            f"the text has {first + time} tokens{before}, this model knows {max_length} positions: cut the text,"
            " or build the model with a larger max_length"
        )


def described(value: object) -> str:
    """A value in a few words, for a message."""
    if isinstance(value, Tensor):
        return f"a {value.dtype} tensor of shape {tuple(value.shape)}"
    words = repr(value)
    return f"{type(value).__name__} {words if len(words) <= 60 else words[:59] + '…'}"


def called(value: object) -> str:
    """A part by its name, and what `partial` has fixed of it, as it would be written; a size as it is."""
    if isinstance(value, functools.partial):
        fixed = [*map(called, value.args), *(f"{name}={called(given)}" for name, given in value.keywords.items())]
        return f"partial({', '.join([called(value.func), *fixed])})"
    return str(getattr(value, "__name__", None) or repr(value))


@overload
def checked(function: F) -> F: ...
@overload
def checked(*, like: str) -> Callable[[F], F]: ...
def checked(function: Any = None, *, like: str | None = None) -> Any:
    """Check a function's arguments against its annotations before it runs.

    Floating-point tensors must share one dtype, under autocast any. like: for a method, the attribute of `self` whose
    dtype that is ("projection.weight").
    """
    if function is None:
        return functools.partial(checked, like=like)
    parameters = inspect.signature(function).parameters
    checks = {name: check for name, p in parameters.items() if (check := check_for(p.annotation)) is not None}
    positional = [name for name, p in parameters.items() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    method, weight = "self" in positional, attrgetter(like) if like else None

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        me = given[0] if method and given else None
        axes: dict[str, tuple[Any, str]] = {}
        dtype = (weight(me).dtype, "the weights") if weight else None
        for name, value in chain(zip(positional, given, strict=False), named.items()):
            if name in checks:
                checks[name](name, value, axes, me)
                if isinstance(value, Tensor) and value.is_floating_point():
                    dtype = dtype or (value.dtype, name)
                    if value.dtype != dtype[0] and not torch.is_autocast_enabled(value.device.type):
                        raise TypeError(f"{name} must have the dtype of {dtype[1]}, {dtype[0]}, got {value.dtype}")
        return function(*given, **named)

    return call


def check_fields(config: Any) -> None:
    """The same for the fields of a dataclass, at the end of its making: call it in `__post_init__`."""
    for field in fields(config):
        value, check = getattr(config, field.name), check_for(field.type)  # type: ignore[arg-type]
        if check is not None and value is not field.default:
            check(field.name, value, {}, config)


def check_sizes(**sizes: object) -> None:
    """By hand, where no annotation says it: each must be an integer of at least 1."""
    for name, size in sizes.items():
        _number(int, Range(1))(name, size, {}, None)


def check_tokens(tokens: object, vocab_size: int, name: str = "tokens") -> None:
    """Refuse what no model can read: anything but a non-empty (batch, time) tensor of ids in the vocabulary."""
    if not isinstance(tokens, Tensor) or tokens.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be a LongTensor (batch, time), got {described(tokens)}")
    if tokens.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (batch, time), got shape {tuple(tokens.shape)}")
    if tokens.numel() == 0:
        raise ValueError(f"{name} must hold at least one token, got shape {tuple(tokens.shape)}")
    low, high = int(tokens.min()), int(tokens.max())
    if low < 0 or high >= vocab_size:
        raise ValueError(f"{name} must be ids in [0, {vocab_size}), the vocabulary, got ids from {low} to {high}")


@functools.cache
def check_for(annotation: Any) -> Check | None:
    """The check that an annotation asks for; None if it asks for nothing that is known here."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _either(arguments)
    if origin is Annotated and isinstance(arguments[1], str):
        return _advised(check_for(arguments[0]), arguments[1])
    if origin is Annotated:
        return _number(arguments[0], arguments[1]) if isinstance(arguments[1], Range) else None
    if origin is Literal:
        return _must(arguments.__contains__, " or ".join(map(repr, arguments)), ValueError, repr)
    if hasattr(annotation, "dim_str"):
        return _tensor(annotation.dtype.__name__, annotation.dim_str)
    if annotation in (int, float):
        return _number(annotation, None)
    if Callable in (annotation, origin):
        return _must(callable, "something to call, like a function")
    unknown = annotation in (Any, object, inspect.Parameter.empty) or getattr(annotation, "_is_protocol", False)
    if unknown or not isinstance(annotation, type):
        return None
    name = annotation.__name__
    words = INSTANCES.get(annotation, f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
    return _must(lambda value: isinstance(value, annotation), words)


def _must(holds: Callable[[Any], bool], words: str, error: Any = TypeError, shown: Any = described) -> Check:
    def check(name: str, value: Any, axes: Any, me: Any) -> None:
        if not holds(value):
            raise error(f"{name} must be {words}, got {shown(value)}")

    return check


def _either(choices: tuple[Any, ...]) -> Check | None:
    """A | None; a tensor or an instance; the union of int and float is a number. Of other unions nothing is known."""
    rest = [choice for choice in choices if choice is not type(None)]
    tensors = [c for c in rest if hasattr(get_args(c)[0] if get_origin(c) is Annotated else c, "dim_str")]
    others = tuple(c for c in rest if c not in tensors)
    if len(tensors) == 1 and others:
        inner = check_for(tensors[0])
        return lambda name, value, axes, me: (
            None if value is None or isinstance(value, others) else inner(name, value, axes, me)  # type: ignore[misc]
        )
    inner = _number(float, None) if set(rest) == {int, float} else check_for(rest[0]) if len(rest) == 1 else None

    def check(name: str, value: Any, axes: Any, me: Any) -> None:
        if value is not None:
            inner(name, value, axes, me)  # type: ignore[misc]

    return inner and (inner if len(rest) == len(choices) else check)


def _advised(inner: Check | None, advice: str) -> Check | None:
    def check(name: str, value: Any, axes: Any, me: Any) -> None:
        try:
            inner(name, value, axes, me)  # type: ignore[misc]
        except (TypeError, ValueError) as error:
            raise type(error)(f"{error}; {advice}") from None

    return inner and check


def _number(kind: Any, allowed: Range | None) -> Check:
    numbers = int if kind is int else Real

    def check(name: str, value: Any, axes: Any, me: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, numbers):
            raise TypeError(f"{name} must be {'an integer' if kind is int else 'a number'}, got {described(value)}")
        if allowed is not None and not allowed.holds(value):
            finite = "" if math.isfinite(value) or allowed.high < math.inf else " and finite"
            raise ValueError(f"{name} must {allowed}{finite}, got {value}")

    return check


def _tensor(kind: str, dimensions: str) -> Check:
    """A tensor of one kind, with axes as jaxtyping writes them: "batch time", "*batch d", "...", "3", "{self.d}"."""
    wanted = dimensions.split()
    rest = next((i for i, axis in enumerate(wanted) if axis.startswith("*") or axis == "..."), None)
    after = 0 if rest is None else len(wanted) - rest - 1
    labels = [axis.strip("{}").removeprefix("self.") for axis in wanted]
    shape = f"({', '.join(labels)}{',' * (len(labels) == 1)})"
    numbers, fits = KINDS[kind]
    is_tensor = check_for(Tensor)

    def fixed(axis: str, me: Any) -> tuple[Any, str] | None:
        """The size that an axis has whatever is given: a number, or an attribute of `self`; None for a free one."""
        if axis.startswith("{"):
            return attrgetter(axis[1:-1].removeprefix("self."))(me), "this model"
        return (int(axis), "") if axis.isdecimal() else None

    def refused(name: str, sizes: tuple[Any, ...], known: list[str], source: str) -> ValueError:
        words = f" with {' and '.join(known)} as in {source}" if known and source else ""
        return ValueError(f"{name} must have shape {shape}{words}, got {sizes}")

    def check(name: str, value: Any, axes: dict[str, tuple[Any, str]], me: Any) -> None:
        is_tensor(name, value, axes, me)  # type: ignore[misc]
        if not fits(value):
            raise TypeError(f"{name} must hold {numbers}, got {value.dtype}")
        sizes: tuple[Any, ...] = tuple(value.shape)
        if len(sizes) != len(wanted) if rest is None else len(sizes) < len(wanted) - 1:
            sides = [(label, fixed(axis, me)) for axis, label in zip(wanted, labels, strict=True) if "{" in axis]
            raise refused(name, sizes, [f"{label} = {size[0]}" for label, size in sides if size], "this model")
        end = len(sizes) - after
        found = sizes if rest is None else (*sizes[:rest], sizes[rest:end], *sizes[end:])
        for axis, size, label in zip(wanted, found, labels, strict=True):
            if axis not in axes:
                axes[axis] = fixed(axis, me) or (size, name)
            allowed, source = axes[axis]
            if allowed != size and axis != "...":
                raise refused(name, sizes, [f"{label} = {allowed}"], source)

    return check
