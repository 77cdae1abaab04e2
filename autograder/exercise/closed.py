"""Which closed names does a function use? Read from its bytecode, without running it.

For the student's eyes: it says early that a shortcut does not count. It follows plain names, attributes of
modules and classes, imports inside the function, and the student's own helpers. It is not a lock.
"""

import dis
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_MISSING = object()


def closed_names_used(function: Callable[..., Any], closed: Sequence[str]) -> list[str]:
    """Those of `closed` (full names of functions, methods or modules) that `function` or its helpers use."""
    found: set[str] = set()
    for code, scope in _codes(function):
        for path, value in _mentions(code, scope):
            found.update(name for name in closed if _is(name, path, value))
    return [name for name in closed if name in found]


def _codes(function: Callable[..., Any]) -> Iterator[tuple[types.CodeType, dict[str, Any]]]:
    """The code of the function, of the functions defined inside it, and of the helpers that it names."""
    waiting: list[Any] = [function]
    seen: set[int] = set()
    home: dict[str, Any] | None = None
    while waiting:
        item = waiting.pop()
        while isinstance(item, functools.partial):
            item = item.func
        item = getattr(item, "__wrapped__", item)
        if not isinstance(item, (types.FunctionType, types.MethodType)):
            item = getattr(type(item), "__call__", None)  # noqa: B004  (an object that is called like a function)
        code = getattr(item, "__code__", None)
        if code is None or id(code) in seen:
            continue
        home = item.__globals__ if home is None else home
        if item.__globals__ is not home:
            continue  # a library's function: what it uses inside is its own affair
        scope = dict(item.__globals__)
        for name, cell in zip(code.co_freevars, item.__closure__ or (), strict=False):
            try:
                scope[name] = cell.cell_contents
            except ValueError:
                continue
        inner = [code]
        while inner:
            one = inner.pop()
            seen.add(id(one))
            yield one, scope
            inner.extend(constant for constant in one.co_consts if isinstance(constant, types.CodeType))
            waiting.extend(scope[name] for name in (*one.co_names, *one.co_freevars) if callable(scope.get(name)))


def _mentions(code: types.CodeType, scope: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(dotted path or ".attribute", the object or _MISSING) for every name in the code."""
    value: Any = _MISSING
    path = ""
    local: dict[str, tuple[Any, str]] = {}  # what an import inside the function has bound
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "IMPORT_FROM"):
            if instruction.opname == "IMPORT_FROM":
                value, path = _follow(value, name), f"{path}.{name}"
            else:
                value, path = scope.get(name, _MISSING), name
            yield path, value
        elif instruction.opname == "IMPORT_NAME":
            path, value = name, sys.modules.get(name, _MISSING)
            yield path, value
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            value = _follow(value, name)
            path = f".{name}"
            yield path, value
        elif instruction.opname in ("STORE_FAST", "STORE_NAME"):
            local[name] = value, path
            value = _MISSING
        elif instruction.opname.startswith("LOAD_FAST"):
            value, path = local.get(name, (_MISSING, "")) if isinstance(name, str) else (_MISSING, "")
        elif instruction.opname not in ("PUSH_NULL", "NOP", "CACHE"):
            value = _MISSING


def _follow(value: Any, name: str) -> Any:
    """An attribute of a module or a class; of nothing else, for a property could run code."""
    return getattr(value, name, _MISSING) if isinstance(value, (types.ModuleType, type)) else _MISSING


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:
        return _MISSING


@functools.cache
def _resolve(name: str) -> Any:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        value = _module(".".join(parts[:cut]))
        if value is not _MISSING:
            for part in parts[cut:]:
                value = getattr(value, part)
            return value
    raise ValueError(f"closed name {name!r} is nothing that can be imported")


def _is(closed: str, path: str, value: Any) -> bool:
    target = _resolve(closed)
    if path == closed or path.startswith(closed + "."):
        return True
    if value is _MISSING:  # an attribute of something that only exists while the function runs, as in x.softmax(-1)
        return closed.startswith("torch.Tensor.") and path == "." + closed.rpartition(".")[2]
    if isinstance(target, types.ModuleType):
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        return isinstance(home, str) and (home == closed or home.startswith(closed + "."))
    return value is target
