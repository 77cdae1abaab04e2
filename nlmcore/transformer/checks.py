"""What no annotation can say about a Transformer's parts and state, said once for this folder."""

from collections.abc import Iterable, Sequence
from functools import partial
from inspect import signature
from typing import Any

from torch import Tensor, nn

from nlmcore.checks import called


def self_attention(c: Any, causal: bool) -> Any:
    """The configuration's. Raises ValueError for one that takes no state where it must not see the future."""
    attention = c.attention(c, causal)
    if causal and "state" not in signature(attention.forward).parameters:
        raise ValueError(
            f"attention={called(c.attention)} {sees_future(attention)}: {type(attention).__name__} is not called with"
            " (x, state), so it belongs in a TransformerEncoder, not in a language model or a decoder"
        )
    return attention


def sees_future(part: Any) -> str:
    """Why it cannot be causal: its own `never_causal`, or that of a part that a partial passes to it."""
    inside = part.args if isinstance(part, partial) else ()
    reasons = [reason for one in (part, *inside) if (reason := getattr(one, "never_causal", None))]
    return reasons[0] if reasons else "sees the whole text, the future too, or needs an encoder"


def encoder_only(build: Any) -> Any:
    """Mark the builder of a part that sees the whole text: a decoder gets the usual one, a language model refuses."""
    build.encoder_only = True
    return build


def check_causal(c: Any, parts: Iterable[str]) -> None:
    """Refuse, with ValueError, a configuration that has a part for encoders only."""
    for name in parts:
        build = getattr(c, name)
        while isinstance(build, partial) and not hasattr(build, "encoder_only"):
            build = build.func
        if getattr(build, "encoder_only", False):
            raise ValueError(
                f"{name}={called(getattr(c, name))} is for encoders only: it {sees_future(getattr(c, name))}. Build a"
                " TransformerEncoder or an EncoderDecoder with it, not a language model"
            )


def check_part(name: str, part: Any, arguments: str) -> None:
    """A part is something that builds a module, and takes what it is called with."""
    if not callable(part) or isinstance(part, nn.Module):  # a module is callable, but builds none
        got = f"a finished {type(part).__name__}" if isinstance(part, nn.Module) else repr(part)
        raise TypeError(f"{name} must be a callable that builds a module, like a class or a partial, got {got}")
    try:
        signature(part).bind(*arguments.split(", "))
    except ValueError:  # some functions written in C have no signature
        return
    except TypeError:
        takes = ", ".join(signature(part).parameters)
        raise TypeError(f"{name} must take ({arguments}), got {called(part)}, which takes ({takes})") from None


def check_tied(embedding: Any, weight: Tensor) -> None:
    """An output that is tied to the embedding needs its matrix, in the shape of its own."""
    theirs, shape = getattr(embedding, "weight", None), tuple(weight.shape)
    if not isinstance(theirs, nn.Parameter) or theirs.shape != shape:
        got = type(embedding).__name__ if theirs is None else str(tuple(theirs.shape))
        raise ValueError(f"tie_embeddings needs an embedding with a matrix `weight` of shape {shape}, got {got}")


def check_layers(n_layers: int, *states: Sequence[Any] | None) -> None:
    """What the layers keep is one thing per layer."""
    for given in states:
        if given is not None and len(given) != n_layers:
            raise ValueError(f"state must come from a model of {n_layers} layers, got one of {len(given)}")


def check_state(state: Any, kind: Any, batch: int) -> None:
    """Refuse what is not a Transformer's state (TypeError), or is one of another batch (ValueError)."""
    if state is None:
        return
    if not isinstance(state, kind):
        raise TypeError(f"state must be None or what an earlier call gave back, got {type(state).__name__}")
    keys = getattr(state.layers[0], "keys", None) if state.layers else None
    if isinstance(keys, Tensor) and len(keys) != batch:
        raise ValueError(f"state must have one row per text, got {len(keys)} rows for {batch} texts")
