"""One interview: calls the student's function on the grader's arguments, and prepares its results for sending.

A result is checked before it is used: anything that is not an ordinary tensor of a reasonable size becomes a `Fault`
with a message, so that no output, however odd, ends the notebook. In a box without PyTorch, tensors are NumPy arrays.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic, process_time
from typing import Any

import numpy as np

from autograder.question.outcome import COUNTED, UNREAD, Fault, Outcome, Tensor, call, torch, undisturbed
from autograder.sandbox.inside import frames
from autograder.sandbox.inside.watch import TookTooLong, lift, limit

_LONGEST = 1000
_MOST_OUTPUTS = 64
_MOST_AXES = 16  # as `autograder.sandbox.replies` reads


class WrongReturn(TypeError):  # noqa: N818  (said to students)
    """The returned value cannot be compared; the message is for the student."""


class _Unread(BaseException):  # `call` takes an Exception for the student's
    """The returned value cannot be inspected."""


def interview(namespace: Mapping[str, Any], asked: dict[str, Any], body: bytes, largest: int) -> tuple[Any, bytes]:
    """The outcomes of one interview, as a JSON value and the bytes of its tensors (`largest` at most). A failure here,
    not in the student's function, is reported as ours."""
    try:
        with undisturbed():
            return _interview(namespace, asked, body, largest)
    except Exception as error:
        return [_coded(_unread(error), [])] * len(asked["calls"]), b""


def _interview(namespace: Mapping[str, Any], asked: dict[str, Any], body: bytes, largest: int) -> tuple[Any, bytes]:
    function, fault = _find(namespace, asked["function"])
    outcomes, pieces, used, sent = [], [], 0, bytearray(body)
    late: Fault | None = None
    with _seeded(asked["seed"]):
        began = monotonic(), process_time()
        for arguments in asked["calls"]:
            spent = monotonic() - began[0], process_time() - began[1]
            if late is None and any(used > most for used, most in zip(spent, asked["budget"], strict=True)):
                words = f"its calls together took longer than {asked['budget'][1]:g} seconds of processor time"
                late = Fault(kind=TookTooLong.__name__, words=f"{words}, and no further one was made")
            if fault is not None or late is not None:
                outcomes.append(_coded(Outcome(fault=fault or late), []))
                continue
            given = [frames.value(v, sent) for v in arguments]
            outcome = _one_call(function, given, asked, largest - used)
            if outcome.fault is not None and outcome.fault.kind == TookTooLong.__name__:
                late = Fault(kind=outcome.fault.kind, words=f"{outcome.fault.words}, and was not asked again")
            try:
                tensors = [frames.raw(tensor) for tensor in outcome.outputs]
            except Exception as error:
                outcome, tensors = _unread(error), []
            outcomes.append(_coded(outcome, [used + sum(map(len, tensors[:i])) for i in range(len(tensors))]))
            pieces += tensors
            used += sum(map(len, tensors))
    return outcomes, b"".join(pieces)


@contextlib.contextmanager
def _seeded(number: int) -> Iterator[None]:
    """A block in which the library's own generator begins with a seed."""
    if torch is None:
        state = np.random.get_state()
        np.random.seed(number % 2**32)
        try:
            yield
        finally:
            np.random.set_state(state)
        return
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(number)
        yield


def _one_call(function: Callable[..., Any], arguments: Sequence[Any], asked: dict[str, Any], room: int) -> Outcome:
    returns = asked["returns"]
    given_back = [name for name in returns if name != COUNTED]

    def looked_at(*given: Any) -> Any:
        result = function(*given)
        lift()
        try:
            return _plain(result, given_back, room)
        except WrongReturn:
            raise
        except Exception as error:
            raise _Unread from error

    try:
        with limit(asked["seconds"]):
            outcome = call(looked_at, arguments, asked["arguments"], returns, numpy=torch is None)
    except _Unread as error:
        return _unread(error.__cause__ or error)
    except TookTooLong as error:
        return Outcome(fault=Fault(kind="TookTooLong", words=str(error)))
    except BaseException as error:  # an argument left in a state that cannot be looked at
        return _unread(error)
    fault = outcome.fault
    odd = next((t for t in outcome.outputs if t.dtype not in frames.NAMES), None)
    axes = max((t.ndim for t in outcome.outputs), default=0)
    if fault is not None and fault.kind == WrongReturn.__name__:
        words = fault.words.removeprefix(f"{WrongReturn.__name__}: ")
    elif odd is not None:
        words = f"it returned a tensor of dtype {str(odd.dtype).removeprefix('torch.')}, which cannot be compared"
    elif axes > _MOST_AXES:
        words = f"it returned a tensor with {axes} axes: far more than was asked for"
    else:
        return outcome
    return Outcome(fault=Fault(kind="wrong return", words=words), changed=outcome.changed)


def _unread(error: BaseException) -> Outcome:
    words = f"what it returned, or left of its arguments, cannot be read here ({type(error).__name__})"
    return Outcome(fault=Fault(kind=UNREAD, words=words))


def _find(namespace: Mapping[str, Any], name: str) -> tuple[Any, Fault | None]:
    first, *rest = name.split(".")
    if first not in namespace:
        return None, Fault(
            kind="NameError", words=f"there is no {first!r}: the cell that defines it raised or is missing"
        )
    try:
        value = namespace[first]
        for part in rest:
            value = getattr(value, part)
        if callable(value):
            return value, None
    except Exception as error:
        return None, Fault(kind=type(error).__name__, words=f"{name} cannot be looked up ({type(error).__name__})")
    return None, Fault(kind="TypeError", words=f"{name} should be a function, and it is a {type(value).__name__}")


def _plain(result: Any, returns: Sequence[str], room: int) -> Any:
    """The result with subclasses of Tensor turned into ordinary tensors; too many or too large ones raise
    WrongReturn."""
    if isinstance(result, (tuple, list)) and len(returns) > 1:
        if len(result) > _MOST_OUTPUTS:
            raise WrongReturn(f"it returned {len(result)} values, but {len(returns)} were asked for")
        return tuple(_item(item, room) for item in result)
    if isinstance(result, tuple) and len(result) == 1:
        return (_item(result[0], room),)
    return _item(result, room)


def _item(value: Any, room: int) -> Any:
    if isinstance(value, Tensor):
        with torch._C.DisableTorchFunctionSubclass():
            try:
                _check_size(value.numel() * value.element_size(), tuple(value.shape), room)
                return value.detach() if type(value) is Tensor else value.detach().as_subclass(Tensor)
            except WrongReturn:
                raise
            except Exception as error:
                raise WrongReturn(f"it returned a {type(value).__name__} that cannot be read as a tensor") from error
    if isinstance(value, np.ndarray):
        _check_size(value.nbytes, value.shape, room)
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        _check_size(8 * len(value), (len(value),), room)
        _check_size(8 * _count(value, room // 8), (len(value),), room)
    return value


def _check_size(size: int, shape: tuple[int, ...], room: int) -> None:
    if size > room:
        many = f"{math.prod(shape):,}" if len(shape) < 9 else "very many"
        raise WrongReturn(f"it returned {many} numbers, shape {shape}: far more than was asked for")


def _count(value: Any, most: int, depth: int = 0) -> int:
    """How many numbers are in nested lists; it stops at more than `most`."""
    if not isinstance(value, (list, tuple)):
        return value.numel() if isinstance(value, Tensor) else 1
    if depth > 16:
        raise WrongReturn("it returned lists nested more than 16 deep")
    total = 0
    for item in value:
        total += _count(item, most, depth + 1)
        if total > most:
            break
    return total


def _coded(outcome: Outcome, places: Sequence[int]) -> dict[str, Any]:
    fault = outcome.fault
    return {
        "outputs": [
            {"dtype": frames.NAMES[t.dtype], "shape": list(t.shape), "start": start}
            for t, start in zip(outcome.outputs, places, strict=True)
        ],
        "fault": None
        if fault is None
        else [str(part)[:_LONGEST] for part in (fault.kind, fault.words, fault.line, fault.function)],
        "changed": list(outcome.changed),
    }
