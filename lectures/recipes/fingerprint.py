"""What a value is, in a few letters that the next process finds again: the key under which a training is kept.

Numbers, texts and tensors count with their contents, objects with their fields (a dataclass with those by which it is
compared), models with their weights and the plain fields of their parts. Of what is written in `lectures`, the code
counts as well, with the constants, functions and classes that it names; of anything else, the name alone.
"""

import contextlib
import functools
import inspect
import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from nlmcore.training.checkpoint import fingerprint as of_batch
from torch import Tensor, nn

PLAIN = (int, float, str, bytes, bool, type(None))
HOLD = (tuple, list, dict, set, frozenset, re.Pattern)


def fingerprint(*values: Any) -> str:
    """Ten hexadecimal digits."""
    whole, seen = hashlib.sha256(), dict[int, Any]()
    waiting = list(reversed(values))
    while waiting:
        value = waiting.pop()
        if isinstance(value, Step):
            whole.update(value.encode() + b"\0")
        elif isinstance(value, PLAIN):
            whole.update(f"{type(value).__name__} {value!r}\0".encode())
        elif id(value) in seen:
            whole.update(b"again\0")
        else:
            seen[id(value)] = value  # kept, so that no other value gets its number
            waiting += reversed(list(_parts(value)))
    return whole.hexdigest()[:10]


class Step(str):
    """A part that is hashed as it is."""


def _parts(value: Any) -> Iterator[Any]:
    """What a value is made of: its kind, then values."""
    if isinstance(value, functools.partial):
        yield from (Step("partial"), value.func, value.args, value.keywords)
    elif isinstance(value, MethodType):
        yield from (Step("method"), value.__func__, value.__self__)
    elif isinstance(value, FunctionType):
        yield from _function(value)
    elif isinstance(value, CodeType):  # without its comments and the numbers of its lines
        yield from (Step(value.co_code.hex()), value.co_names, *value.co_consts)
    elif isinstance(value, type):
        yield Step(f"{value.__module__}.{value.__qualname__}")
        if _is_ours(value):
            yield from value.__bases__
            for name, part in vars(value).items():
                plain = part.__func__ if isinstance(part, staticmethod | classmethod) else part
                plain = plain.fget if isinstance(plain, property) else plain
                if isinstance(plain, FunctionType) or (isinstance(plain, (*PLAIN, *HOLD)) and name[:2] != "__"):
                    yield from (name, plain)
    elif hasattr(value, "__wrapped__"):  # a cache
        yield value.__wrapped__
    elif is_dataclass(value):
        yield type(value)
        yield {part.name: getattr(value, part.name) for part in fields(value) if part.compare}
    elif hasattr(value, "to_json"):  # a tokenizer, which may remember what it has encoded
        yield from (type(value), value.to_json())
    elif isinstance(value, Tensor):
        yield Step(f"{value.dtype} {of_batch(value)}")
    elif isinstance(value, np.ndarray):
        yield from (Step(f"{value.dtype} {value.shape}"), value.tobytes())
    elif isinstance(value, random.Random):
        yield value.getstate()
    elif isinstance(value, BuiltinFunctionType):
        yield Step(f"{value.__module__}.{value.__qualname__}")
    elif isinstance(value, torch.Generator):
        yield value.get_state()
    elif isinstance(value, list | tuple):
        try:
            yield Step(json.dumps(value))  # long lists of numbers, in a moment
        except (TypeError, ValueError):
            yield from (Step(f"{len(value)} in a row"), *value)
    elif isinstance(value, Mapping):
        yield Step(f"{len(value)} by name")
        for key, of in value.items():
            yield from (key, of)
    elif isinstance(value, set | frozenset):
        yield from (Step("set"), *sorted(map(fingerprint, value)))
    elif isinstance(value, nn.Module):
        yield from (Step(repr(value)), dict(value.state_dict()))
        for name, part in value.named_modules():
            own = {key: of for key, of in vars(part).items() if isinstance(of, (*PLAIN, tuple)) or is_dataclass(of)}
            yield from (name, {key: of for key, of in own.items() if key != "training"})
    else:
        held = getattr(value, "__dict__", None)
        if held is None and " at 0x" in repr(value):
            raise TypeError(f"{value!r:.80} has no content that the next process finds again")
        yield from (type(value), Step(repr(value)) if held is None else held)


def _function(function: FunctionType) -> Iterator[Any]:
    function = inspect.unwrap(function)  # what checks its arguments is not what it does
    yield Step(f"{function.__module__}.{function.__qualname__}")
    if not _is_ours(function):
        return
    yield from (function.__code__, function.__defaults__, function.__kwdefaults__)
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty one
            yield cell.cell_contents
    names = dict.fromkeys(_names(function.__code__))
    for name in names:
        named = function.__globals__.get(name)
        if isinstance(named, (*PLAIN, *HOLD)) or (callable(named) and _is_ours(named)):
            yield from (name, named)
        elif isinstance(named, ModuleType) and named.__name__.startswith("lectures."):
            yield from (of for of in map(vars(named).get, names) if callable(of) and _is_ours(of))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):  # a function inside
            yield from _names(part)


def _is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == "lectures"
