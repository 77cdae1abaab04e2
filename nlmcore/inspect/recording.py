"""What a model computes while it runs: attention weights, the residual pathway, activations at any place.

    with capture(model) as tape:
        model(tokens)
    tape["layers.3.attention"]      # weights (batch, head, query, key)

Outside the `with`, attention runs through PyTorch's fused kernel and keeps no weights; inside, each attention
computes them. The output is the same to float tolerance. Any module with an attribute `recorder` takes part: while
`recorder` is not None, the module calls it with its weights.

    with pathway(model) as branches:
        model(tokens)
    branches[3].x, branches[3].y    # the residual pathway before a sublayer, and what that sublayer gave

Here every residual rule takes part in its calls with x and y: a module whose name in its layer begins with `residual_`.

    with outputs(model, "layers.3") as seen:
        model(tokens)
    seen[-1]                        # what that layer gave, (batch, time, d_model), with its gradient

A place is the name of a module, or a `Place`, like one head (`nlmcore.inspect.places`).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from torch import Tensor, nn

from nlmcore.inspect.places import Place, listening, visited


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
