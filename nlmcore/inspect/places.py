"""Places in a model: the output or the input of a named module, all features or some of them.

    "layers.3"                                 the residual pathway after layer 3 (counted from 0)
    "layers.3.attention"                       what the attention of layer 3 adds to it
    head(model, "layers.3.attention", 2)       one head's output before W^O, (batch, time, d_head)
    neurons("layers.3.feed_forward", [5, 70])  hidden units after the activation (and the gate), (batch, time, 2)

A head is a part of the input of W^O, with fewer key-value heads as well, and so the fused kernel may run. Neurons are a
part of the input of W2.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
