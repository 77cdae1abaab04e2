"""A configuration as JSON can hold it: sizes as they are, parts by the names under which they are imported."""

import importlib
import json
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import partial
from typing import Any

from torch import nn

from nlmcore.checks import called

ROOTS = ("nlmcore", "torch")  # what a configuration in a file may name


def to_json(config: Any) -> str:
    """Those fields of a dataclass that differ from their defaults."""
    own = {field: getattr(config, field.name) for field in fields(config)}
    changed = {field.name: value for field, value in own.items() if field.default is MISSING or value != field.default}
    return json.dumps({name: as_names(value) for name, value in changed.items()}, indent=1)


def from_json(text: str) -> dict[str, Any]:
    """The same fields again."""
    return {name: from_names(value) for name, value in json.loads(text).items()}


def as_names(value: Any) -> Any:
    """Sizes as they are, what can be imported by its full name, a partial as what it consists of."""
    if isinstance(value, partial):
        keywords = {name: as_names(given) for name, given in value.keywords.items()}
        return {"of": as_names(value.func), "args": [*map(as_names, value.args)], "keywords": keywords}
    if isinstance(value, list | tuple):
        return [*map(as_names, value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, nn.Module) and repr(value) == f"{type(value).__name__}()":  # an activation without options
        return {"made by": as_names(type(value))}
    own = getattr(value, "__name__", "")  # of a function written in C, its module does not lead to it
    full = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    for name in (full, f"torch.{own}", f"torch.nn.functional.{own}"):
        if find(name) is value:
            return {"name": name}
    raise ValueError(f"only what has a name in {' or '.join(ROOTS)} can be written down, got {called(value)}")


def find(name: str) -> Any:
    """What has this full name; None if there is no such thing, or it is outside ROOTS."""
    root, *rest = name.split(".")
    if root not in ROOTS:
        return None
    found: Any = importlib.import_module(root)
    for i, word in enumerate(rest):
        if not hasattr(found, word):
            with suppress(ImportError):  # a module that nobody has imported yet
                importlib.import_module(".".join((root, *rest[: i + 1])))
        found = getattr(found, word, None)
    return found


def from_names(value: Any) -> Any:
    """The other way."""
    if isinstance(value, list):
        return tuple(map(from_names, value))
    if not isinstance(value, dict):
        return value
    if "of" in value:
        keywords = {name: from_names(given) for name, given in value["keywords"].items()}
        return partial(from_names(value["of"]), *map(from_names, value["args"]), **keywords)
    if "made by" in value:
        return from_names(value["made by"])()
    if (found := find(value["name"])) is None:
        raise ValueError(f"a part must have a name in {' or '.join(ROOTS)}, got {value['name']!r}")
    return found
