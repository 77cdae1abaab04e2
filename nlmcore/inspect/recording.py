"""What a model computes while it runs: attention weights, the residual pathway, activations at any place.

    with capture(model) as tape:
        model(tokens)
    tape["layers.3.attention"]      # weights (batch, head, query, key)

Outside, attention runs through PyTorch's fused kernel and keeps no weights. Any module with an attribute `recorder`
takes part: while `recorder` is not None, the module calls it with its weights.

    with pathway(model) as branches:
        model(tokens)
    branches[3].x, branches[3].y    # the residual pathway before a sublayer, and what that sublayer gave

Here every residual rule takes part in its calls with x and y: a module whose name in its layer begins with `residual_`.

    with outputs(model, "layers.3") as seen:
        model(tokens)
    seen[-1]                        # what that layer gave, (batch, time, d_model), with its gradient

A place is the output or the input of a named module, all features or some of them:

    "layers.3"                                 the residual pathway after layer 3 (counted from 0)
    "layers.3.attention"                       what the attention of layer 3 adds to it
    head(model, "layers.3.attention", 2)       one head's output before W^O, (batch, time, d_head)
    neurons("layers.3.feed_forward", [5, 70])  hidden units after the activation (and the gate), (batch, time, 2)

A head is a part of the input of W^O, neurons are a part of that of W2.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import cycle
from typing import Any, Literal

from torch import Tensor, nn


@dataclass(frozen=True)
class Place:
    """The first tensor that a module returns from a call, or that it is given; `features` None means all of them."""

    module: str
    side: Literal["output", "input"] = "output"
    features: Sequence[int] | None = None  # of the last dimension

    def of(self, x: Tensor) -> Tensor:
        return x if self.features is None else x[..., list(self.features)]


def head(model: nn.Module, attention: str, number: int) -> Place:
    """Head `number` of the attention with that name. Raises ValueError if there is no such module or head."""
    module: Any = submodule(model, attention)
    if not all(hasattr(module, name) for name in ("n_heads", "d_head", "output")):
        raise ValueError(f"attention must name a multi-head attention, got {attention!r}, a {type(module).__name__}")
    if not 0 <= number < module.n_heads:
        raise ValueError(f"number must be a head in [0, {module.n_heads}), got {number!r}")
    return Place(f"{attention}.output", "input", range(number * module.d_head, (number + 1) * module.d_head))


def neurons(network: str, units: Sequence[int]) -> Place:
    """Hidden units of the feed-forward network with that name."""
    return Place(f"{network}.outer", "input", tuple(units))


def submodule(model: nn.Module, name: str) -> nn.Module:
    """Raises ValueError for an unknown name, TypeError if `model` is not a module."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {type(model).__name__}")
    named = dict(model.named_modules(remove_duplicate=False))
    if name not in named:
        near = get_close_matches(name, named, 3)
        raise ValueError(f"{type(model).__name__} has no module {name!r}; close: {', '.join(near) or 'nothing'}")
    return named[name]


@contextmanager
def listening(modules: dict[Any, list[str]], method: str, listener: Callable[..., Any]) -> Iterator[None]:
    """Meanwhile each module has `listener(method, its names in turn)` as its `method`."""
    before = {module: vars(module)[method] for module in modules if method in vars(module)}
    for module, names in modules.items():
        setattr(module, method, listener(getattr(module, method), cycle(names)))
    try:
        yield
    finally:
        for module in modules:
            if module in before:
                setattr(module, method, before[module])
            else:
                delattr(module, method)


@contextmanager
def visited(model: nn.Module, place: Place, visit: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Meanwhile the tensor at this place goes through `visit` in each call of its module.

    Of a module with several names only the calls in the turn of `place.module` count.
    """
    # A module with several names (shared layers) is called once for each, in the order of the model.
    wanted = submodule(model, place.module)
    turns = cycle([name for name, module in model.named_modules(remove_duplicate=False) if module is wanted])

    def before(module: nn.Module, args: Any) -> Any:
        return (visit(args[0]), *args[1:]) if next(turns) == place.module else None

    def after(module: nn.Module, args: Any, result: Any) -> Any:
        if next(turns) != place.module:
            return None
        return (visit(result[0]), *result[1:]) if isinstance(result, tuple) else visit(result)  # (x, state): x is meant

    if place.side == "input":  # of nested ones the inner one acts first on an input, last on an output
        handle = wanted.register_forward_pre_hook(before, prepend=True)
    else:
        handle = wanted.register_forward_hook(after)
    with handle:
        yield


class Tape(Mapping[str, Tensor]):
    """What was seen, by the module's name. `tape[name]` is the latest call's; `tape.history(name)` all of them."""

    def __init__(self, watched: list[str]) -> None:
        self.watched = watched
        self._seen: dict[str, list[Tensor]] = {}

    def record(self, name: str, weights: Tensor) -> None:
        self._seen.setdefault(name, []).append(weights.detach())

    def history(self, name: str) -> list[Tensor]:
        """Every call's weights in order: in step-by-step decoding, one entry per step."""
        if name not in self._seen:
            state = "was not run while capturing" if name in self.watched else "is no attention of this model"
            raise KeyError(f"{name!r} {state}; the tape holds {list(self._seen)}, the model has {self.watched}")
        return self._seen[name]

    def __getitem__(self, name: str) -> Tensor:
        return self.history(name)[-1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)


def _modules(model: nn.Module, takes_part: Callable[[str, nn.Module], bool], what: str) -> dict[Any, list[str]]:
    """The modules that take part, each with all its names: a module used in several places has several."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {type(model).__name__}")
    found: dict[Any, list[str]] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        if takes_part(name.rpartition(".")[2], module):
            found.setdefault(module, []).append(name)
    if not found:
        raise ValueError(f"{type(model).__name__} has no {what}")
    return found


@contextmanager
def capture(model: nn.Module) -> Iterator[Tape]:
    """Record the attention weights of every layer that runs inside the `with`. Captures may be nested.

    An attention that several layers share is taped under each of its names in turn, in the model's order, which is the
    order of its calls in a stack. Raises TypeError if `model` is not a module, ValueError if it has no attention.
    """
    watched = _modules(model, lambda name, module: hasattr(module, "recorder"), "attention that can be captured")
    tape = Tape([name for names in watched.values() for name in names])

    def listener(outer: Any, turns: Iterator[str]) -> Callable[[Tensor], None]:
        def record(weights: Tensor) -> None:
            # A shared module is called once under each of its names, in the order of the model.
            tape.record(next(turns), weights)
            if callable(outer):
                outer(weights)  # a capture around this one sees them too

        return record

    with listening(watched, "recorder", listener):
        yield tape


@contextmanager
def outputs(model: nn.Module, place: str | Place) -> Iterator[list[Tensor]]:
    """Keep the activation at a place at each call, with its gradient; a name is that module's output.

    Of a module with several names only the calls in the turn of this one count. Raises ValueError for an unknown name.
    """
    seen: list[Tensor] = []
    where = Place(place) if isinstance(place, str) else place

    def keep(x: Tensor) -> Tensor:
        seen.append(where.of(x))
        return x

    with visited(model, where, keep):
        yield seen


@dataclass(frozen=True, eq=False)
class Branch:
    """One sublayer's turn: its input from the residual pathway, its own output, and the sum passed on."""

    name: str  # the rule's in the model, like layers.3.residual_attention
    x: Tensor
    y: Tensor
    result: Tensor  # x + y for pre-norm, norm(x + y) for post-norm, (batch, time, d_model) like the other two


@contextmanager
def pathway(model: nn.Module) -> Iterator[list[Branch]]:
    """Record, in the order of the calls, what every sublayer adds to the residual pathway. May be nested.

    A rule that several layers share is named by each of its names in turn. Raises as `capture` does.
    """
    rules = _modules(model, lambda name, _: name.startswith("residual_"), "residual pathway that can be looked at")
    seen: list[Branch] = []

    def listener(turns: Iterator[str]) -> Callable[..., None]:
        def listen(rule: nn.Module, args: tuple[Tensor, ...], result: Tensor) -> None:
            if len(args) == 2:  # with x alone it is asked what the sublayer reads
                x, y = args
                seen.append(Branch(next(turns), x.detach(), y.detach(), result.detach()))

        return listen

    with ExitStack() as stack:
        for rule, names in rules.items():
            stack.enter_context(rule.register_forward_hook(listener(cycle(names))))
        yield seen
