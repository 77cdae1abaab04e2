"""One call of a student's function, and all that is kept of it: tensors, what was changed, what went wrong.

This is the student's side. It knows no reference, no expected value and no mistake by name, and imports
nothing of ours, so it can run in a process of its own: arguments go in, an `Outcome` comes out.
"""

import copy
import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a call gave nothing to compare."""

    kind: str  # the exception's class, or "wrong return" when the function came back with something else
    words: str  # what to tell the student
    line: str = ""  # where in the student's own code, with the line itself
    function: str = ""  # the function that raised: the student's, or one that it calls


@dataclass(frozen=True, kw_only=True)
class Outcome:
    outputs: tuple[Tensor, ...] = ()  # the results as tensors, cut off from any graph; empty if there is a fault
    fault: Fault | None = None
    changed: tuple[str, ...] = ()  # names of the arguments that are no longer what they were


def call(
    function: Callable[..., Any], arguments: Sequence[Any], names: Sequence[str], returns: Sequence[str]
) -> Outcome:
    """Call `function` with copies of `arguments`, in order. `names` and `returns` are what the words use. Any exception
    of the function becomes a `Fault`; only an interrupt gets through."""
    given = [_copy(argument) for argument in arguments]
    try:
        result = function(*given)
    except (Exception, SystemExit) as error:
        return Outcome(fault=_fault(error))
    changed = tuple(
        name for name, before, after in zip(names, arguments, given, strict=False) if not _equal(before, after)
    )
    try:
        return Outcome(outputs=_outputs(result, returns), changed=changed)
    except TypeError as error:
        return Outcome(fault=Fault(kind="wrong return", words=str(error)), changed=changed)


def _copy(value: Any) -> Any:
    """A copy that keeps strides, so that a non-contiguous argument stays one."""
    if isinstance(value, Tensor):
        made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        return made.copy_(value)
    return copy.deepcopy(value)


def _equal(before: Any, after: Any) -> bool:
    if isinstance(before, Tensor):
        if not isinstance(after, Tensor) or before.shape != after.shape or before.dtype != after.dtype:
            return False
        after = after.detach()  # NaN equals nothing, so what is not equal at once is looked at again without
        return torch.equal(before, after) or torch.equal(before.nan_to_num(), after.nan_to_num())
    if isinstance(before, (list, tuple)):
        same = type(before) is type(after) and len(before) == len(after)
        return same and all(_equal(b, a) for b, a in zip(before, after, strict=True))
    if isinstance(before, dict):
        same = isinstance(after, dict) and list(before) == list(after)
        return same and all(_equal(value, after[key]) for key, value in before.items())
    return bool(before == after)


def _outputs(result: Any, returns: Sequence[str]) -> tuple[Tensor, ...]:
    """The result as one tensor per name. NumPy arrays, numbers, lists and tuples of numbers are as good as tensors.
    Raises TypeError, in words for the student, if it is something else."""
    wanted = returns[0] if len(returns) == 1 else f"({', '.join(returns)})"
    if result is None:
        raise TypeError(f"it returned None, and {wanted} was asked for. Is a `return` missing?")
    if len(returns) == 1:
        if isinstance(result, tuple) and len(result) == 1 and not isinstance(result[0], tuple):
            result = result[0]
        if isinstance(result, tuple) and not all(isinstance(item, (Real, tuple)) for item in result):
            raise TypeError(f"it returned {len(result)} things, and one was asked for: {wanted}")
        return (_tensor(result, returns[0]),)
    if not isinstance(result, (tuple, list)) or len(result) != len(returns):
        what = f"{len(result)} things" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise TypeError(f"it returned {what}, and {len(returns)} were asked for: {wanted}")
    return tuple(_tensor(value, name) for value, name in zip(result, returns, strict=True))


def _tensor(value: Any, name: str) -> Tensor:
    if not isinstance(value, (Tensor, np.ndarray, np.generic, Real, list, tuple)):
        raise TypeError(f"{name} must be a tensor, and it is a {type(value).__name__}")
    try:
        value = _plain(value)
        if isinstance(value, list) and any(isinstance(item, Tensor) for item in value):
            value = torch.stack([torch.as_tensor(item) for item in value])
        tensor = torch.as_tensor(value).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        why = "its parts differ in length or are no numbers" if isinstance(value, list) else str(error)
        raise TypeError(f"{name} must be a tensor, and it is a {type(value).__name__} ({why})") from None
    if tensor.is_complex() or tensor.layout != torch.strided:
        raise TypeError(f"{name} must be an ordinary tensor of real numbers, and its dtype is {tensor.dtype}")
    return tensor.clone()


def _plain(value: Any) -> Any:
    """Lists for tuples, and a float for a number of a kind that PyTorch does not know, such as a Fraction."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    odd = isinstance(value, Real) and not isinstance(value, (bool, int, float, np.generic))
    return float(value) if odd else value


def _fault(error: BaseException) -> Fault:
    """The student's own exception, with the last line of theirs that it passed through."""
    trace, last = error.__traceback__, None
    trace = trace.tb_next if trace is not None else None  # the first frame is `call`
    while trace is not None:
        if _is_students(trace.tb_frame.f_code.co_filename):
            last = trace
        trace = trace.tb_next
    line = function = ""
    if last is not None:
        code = last.tb_frame.f_code
        function = code.co_name
        source = linecache.getline(code.co_filename, last.tb_lineno, last.tb_frame.f_globals).strip()
        line = f"line {last.tb_lineno} of your cell: {source}" if source else f"line {last.tb_lineno} of your cell"
    message = str(error).strip().split("\n")[0]  # PyTorch's long messages say in the first line what matters
    words = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return Fault(kind=type(error).__name__, words=words, line=line, function=function)


def _is_students(filename: str) -> bool:
    return "site-packages" not in filename and "/lib/python" not in filename and filename != __file__
