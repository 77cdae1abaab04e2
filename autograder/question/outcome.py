"""One call of a student's function, and everything that is kept of it: tensors, changed arguments, faults.

This is the student's side. It contains no reference, no expected value and no named mistake, and imports nothing of
ours, so it can run in a separate process: arguments go in, an `Outcome` comes out. A question without PyTorch gets and
returns NumPy arrays, and is asked where PyTorch cannot be imported.
"""

import contextlib
import copy
import linecache
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np

try:
    import torch
    from torch import Tensor
except ImportError:  # where a question without PyTorch is asked
    torch = None  # type: ignore[assignment]

    class Tensor:  # type: ignore[no-redef]
        """Nothing is one here."""


DEPTH = 3000  # of calls in calls, at least
CALL_SECONDS, EXPERIMENT_SECONDS, QUESTION_SECONDS = 5, 15, 30
"""Processor time that the grader gives one call, one of an experiment, which runs several seeds, and all calls of a
question together."""
TOO_LONG = (
    f"it took more processor time than the grader gives a call ({CALL_SECONDS} s, in an experiment"
    f" {EXPERIMENT_SECONDS} s) or all calls of a question together ({QUESTION_SECONDS} s)"
)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a call returned nothing to compare."""

    kind: str  # the exception's class; "wrong return" when the function came back with something else; or `UNREAD`
    words: str  # what to tell the student
    line: str = ""  # where in the student's own code, with the line itself
    function: str = ""  # the function that raised: the student's, or one that it calls
    below: bool = False  # whether code of that function ran before the line


UNREAD = "not read"
"""The kind of a fault that is the grader's until shown otherwise: its own code failed on the value that the function
returned, or because the notebook had changed Python."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    outputs: tuple[Tensor, ...] = ()
    """The results as tensors, cut off from any graph, or as arrays where there is no PyTorch; empty if there is a
    fault."""
    fault: Fault | None = None
    changed: tuple[str, ...] = ()  # names of the arguments that are no longer what they were, and `GENERATOR`
    seconds: float = field(default=0.0, compare=False, repr=False)  # of processor time, as measured at home


GENERATOR = "the global generator"
"""In `Outcome.changed` if the call has seeded PyTorch's, or sampled from it, which only some questions forbid; in a
question without PyTorch it is NumPy's."""


COUNTED = "multiplications"
"""As the last result of a question, it is not returned by the function but counted while it runs: the multiplications
and additions of its matrix products, in PyTorch."""


def call(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    names: Sequence[str],
    returns: Sequence[str],
    numpy: bool = False,
) -> Outcome:
    """Call `function` with copies of `arguments`, in order. `names` and `returns` are used in messages; `numpy`: the
    function gets arrays, and returns them. Any exception of the function becomes a `Fault`; only an interrupt gets
    through."""
    if numpy:
        arguments = [_number(arrays(argument)) for argument in arguments]
    given = [_copy(argument) for argument in arguments]
    state = _chance(numpy)
    count: Any = None
    if counted := returns[-1] == COUNTED:
        count, returns = _counter(), returns[:-1]
    try:
        with count or contextlib.nullcontext():
            result = function(*given)
    except (Exception, SystemExit) as error:
        return Outcome(fault=_fault(error))
    changed = tuple(
        name for name, before, after in zip(names, arguments, given, strict=False) if not _equal(before, after)
    )
    if state != _chance(numpy):
        changed += (GENERATOR,)
    try:
        outputs = _outputs(result, returns, _array if numpy else _tensor)
        if counted:
            outputs += (torch.tensor(float(count.get_total_flops()), dtype=torch.float64),)
        return Outcome(outputs=outputs, changed=changed)
    except TypeError as error:
        return Outcome(fault=Fault(kind="wrong return", words=str(error)), changed=changed)


def _counter() -> Any:
    """Counts the multiplications and additions of a block's matrix products: also those of attention in one step on a
    CPU and of products with a vector, which PyTorch's counter leaves out."""
    from torch.utils.flop_counter import FlopCounterMode  # takes a while, and few questions need it

    def attention(q: Sequence[int], k: Sequence[int], v: Sequence[int], *_: Any, **__: Any) -> int:
        return 2 * math.prod(q[:-1]) * k[-2] * (q[-1] + v[-1])

    def with_a_vector(a: Sequence[int], *_: Any, **__: Any) -> int:
        return 2 * math.prod(a)

    aten = torch.ops.aten
    more = {aten._scaled_dot_product_flash_attention_for_cpu: attention, aten._native_multi_head_attention: attention}
    return FlopCounterMode(display=False, custom_mapping={**more, aten.mv: with_a_vector, aten.dot: with_a_vector})


def _chance(numpy: bool) -> bytes:
    """The state of the global generator."""
    if not numpy:
        return bytes(torch.get_rng_state().numpy())
    state: Any = np.random.get_state()
    return bytes(state[1]) + int(state[2]).to_bytes(4)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """A block in which the settings of Python, NumPy and PyTorch have their initial values, whatever a notebook has
    changed: warnings that raise, gradients, the default dtype and device, the recursion limit. No function is wrong
    because of another cell's settings."""
    depth = sys.getrecursionlimit()
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        if any(action == "error" for action, *_ in warnings.filters):
            warnings.simplefilter("ignore")
        stack.enter_context(np.errstate(all="ignore"))
        if torch is not None:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
            if torch.get_default_device().type != "cpu":
                stack.enter_context(torch.device("cpu"))
            stack.callback(torch.set_default_dtype, torch.get_default_dtype())
            torch.set_default_dtype(torch.float32)
        sys.setrecursionlimit(max(depth, DEPTH))
        try:
            yield
        finally:
            sys.setrecursionlimit(depth)


def arrays(value: Any) -> Any:
    """The value with NumPy arrays for tensors, which share their memory; with a number for one without axes."""
    return with_tensors(value, lambda tensor: _number(tensor.detach().numpy()))


def _number(value: Any) -> Any:
    """A number for an array without axes, which `total = b; total += x` would change for the caller."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def with_tensors(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """The value with every tensor changed, also in lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(with_tensors(item, change) for item in value)
    return {key: with_tensors(item, change) for key, item in value.items()} if isinstance(value, dict) else value


def tensors_in(value: Any) -> list[Tensor]:
    found: list[Tensor] = []
    with_tensors(value, found.append)
    return found


def _copy(value: Any) -> Any:
    """A copy that keeps strides, so that a non-contiguous argument stays one."""
    if isinstance(value, Tensor):
        if value.is_contiguous():
            return value.clone()
        made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        return made.copy_(value)
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        reach = sum((n - 1) * stride for n, stride in zip(value.shape, value.strides, strict=True)) // value.itemsize
        larger = np.zeros(max(reach + 1, 0), value.dtype)
        view = np.lib.stride_tricks.as_strided(larger, value.shape, value.strides)
        view[...] = value
        return view
    return copy.deepcopy(value)


def _equal(before: Any, after: Any) -> bool:
    if isinstance(before, Tensor):
        if not isinstance(after, Tensor) or before.shape != after.shape or before.dtype != after.dtype:
            return False
        # NaN equals nothing, so what is not equal at once is looked at again without
        return torch.equal(before, after) or torch.equal(before.nan_to_num(), after.nan_to_num())
    if isinstance(before, np.ndarray):
        same = isinstance(after, np.ndarray) and before.shape == after.shape and before.dtype == after.dtype
        return same and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    if isinstance(before, (list, tuple)):
        same = type(before) is type(after) and len(before) == len(after)
        return same and all(_equal(b, a) for b, a in zip(before, after, strict=True))
    if isinstance(before, dict):
        same = isinstance(after, dict) and list(before) == list(after)
        return same and all(_equal(value, after[key]) for key, value in before.items())
    return bool(before == after)


def _outputs(result: Any, returns: Sequence[str], made: Callable[[Any, str], Tensor]) -> tuple[Tensor, ...]:
    """The result as one tensor per name (by `made`), of a tuple or list in their order, or of a dictionary with these
    keys. NumPy arrays, numbers, lists and tuples of numbers are accepted like tensors, and a dictionary among the
    results becomes one row. Raises TypeError, with a message for the student, for anything else."""
    if isinstance(result, dict):
        result = _in_order(result, returns)
    wanted = returns[0] if len(returns) == 1 else f"({', '.join(returns)})"
    if result is None:
        raise TypeError(f"it returned None, but {wanted} was asked for. Is a `return` missing?")
    if len(returns) == 1:
        if isinstance(result, tuple) and len(result) == 1 and not isinstance(result[0], tuple):
            result = [result[0]] if _is_number(result[0]) else result[0]
        alike = (kind for kind in ((Real, tuple), list) if all(isinstance(item, kind) for item in result))
        if isinstance(result, tuple) and not any(alike):
            raise TypeError(f"it returned {len(result)} values, but one was asked for: {wanted}")
        return (made(result, returns[0]),)
    if isinstance(result, (Tensor, np.ndarray)) and result.shape == (len(returns),):  # several numbers in one row
        result = tuple(result)
    if not isinstance(result, (tuple, list)) or len(result) != len(returns):
        what = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise TypeError(f"it returned {what}, but {len(returns)} were asked for: {wanted}")
    return tuple(made(value, name) for value, name in zip(result, returns, strict=True))


def _in_order(result: dict[Any, Any], names: Sequence[str]) -> tuple[Any, ...]:
    if missing := [name for name in names if name not in result]:
        raise TypeError(f"it returned a dictionary without {', '.join(missing)}")
    if extra := [str(key) for key in result if key not in names]:
        raise TypeError(f"it returned a dictionary with {', '.join(extra)}, which was not asked for")
    return tuple(result[name] for name in names)


def _tensor(value: Any, name: str) -> Tensor:
    if type(value) is Tensor and value.is_cpu and value.layout is torch.strided and not value.is_complex():
        return value.detach().clone()
    if isinstance(value, dict):  # one row of all its entries, with the keys in alphabetical order
        parts = [_tensor(value[key], f"{name}[{key!r}]").double().flatten() for key in sorted(value, key=str)]
        return torch.cat([torch.zeros(0).double(), *parts])
    if not isinstance(value, (Tensor, np.ndarray, np.generic, Real, list, tuple)):
        raise TypeError(f"{name} must be a tensor or a list of numbers, but it is a {type(value).__name__}")
    try:
        value = _plain(value)
        if isinstance(value, list) and any(isinstance(item, Tensor) for item in value):
            value = torch.stack([torch.as_tensor(item) for item in value])
        tensor = torch.as_tensor(value).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        if isinstance(value, (list, tuple)):
            raise TypeError(f"{name} is a list whose parts differ in length, or are not numbers") from None
        kind = type(value).__name__
        raise TypeError(f"{name} must be a tensor or a list of numbers, but it is a {kind} ({error})") from None
    if tensor.is_complex() or tensor.layout != torch.strided:
        raise TypeError(f"{name} must be an ordinary tensor of real numbers, but its dtype is {tensor.dtype}")
    return tensor.clone()


def _array(value: Any, name: str) -> Any:
    """`_tensor` for a question without PyTorch: an array, which becomes a tensor where there is PyTorch."""
    if isinstance(value, dict):
        parts = [np.ravel(np.asarray(_array(value[key], f"{name}[{key!r}]"), float)) for key in sorted(value, key=str)]
        made = np.concatenate([np.zeros(0), *parts])
    elif not isinstance(value, (np.ndarray, np.generic, Real, list, tuple)):
        raise TypeError(f"{name} must be an array or a list of numbers, but it is a {type(value).__name__}")
    else:
        try:
            made = np.array(_plain(value))
        except (TypeError, ValueError, OverflowError):
            made = np.array(None)
    if made.dtype.kind not in "biuf":
        if isinstance(value, (list, tuple)):
            raise TypeError(f"{name} is a list whose parts differ in length, or are not numbers")
        raise TypeError(f"{name} must be an array of real numbers, but its dtype is {made.dtype}")
    size = made.dtype.itemsize
    if (made.dtype.kind, size > 1) == ("u", True) or size > 8:  # kinds of numbers that do not travel
        made = made.astype(np.int64 if made.dtype.kind == "u" else np.float64)
    return made if torch is None else torch.from_numpy(made)


def _is_number(value: Any) -> bool:
    """A number. A tuple of one number may be a list of one, or a number with a comma after it."""
    return isinstance(value, (Real, np.generic))


def _plain(value: Any) -> Any:
    """Lists instead of tuples, arrays in a form that PyTorch accepts, and floats for kinds of numbers that it does not
    know, such as a Fraction."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        wide = {"f": np.float64, "u": np.int64}.get(value.dtype.kind) if value.dtype.itemsize not in (1, 2, 4) else None
        return np.array(value, dtype=wide or value.dtype.newbyteorder("="), order="C")
    odd = isinstance(value, Real) and not isinstance(value, (bool, int, float, np.generic))
    return float(value) if odd else value


def _fault(error: BaseException) -> Fault:
    """The student's own exception, with the last line of theirs that it passed through."""
    function, below = "", False
    for frame, line in _last(error):
        function = frame.f_code.co_name
        numbers = [number for *_, number in frame.f_code.co_lines() if number is not None]
        below = any(numbers[0] < number < line for number in numbers)
    message = ""
    with contextlib.suppress(Exception):  # whatever the error's own code does
        message = str(error).strip().split("\n")[0]  # PyTorch's long messages say in the first line what matters
    words = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return Fault(kind=type(error).__name__, words=words, line=students_line(error), function=function, below=below)


def students_line(error: BaseException) -> str:
    """The last line of the student's own code that an exception passed through; "" if there is none."""
    for frame, line in _last(error):
        source = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
        return f"line {line} of your cell: {source}" if source else f"line {line} of your cell"
    return ""


def _last(error: BaseException) -> list[tuple[FrameType, int]]:
    """The last frame of the student's own code that an exception passed through, with its line; or nothing."""
    steps = traceback.walk_tb(error.__traceback__)
    return [(frame, line) for frame, line in steps if _is_students(frame.f_code.co_filename)][-1:]


_OURS = __file__.removesuffix("outcome.py")


def _is_students(filename: str) -> bool:
    return "site-packages" not in filename and "/lib/python" not in filename and not filename.startswith(_OURS)
