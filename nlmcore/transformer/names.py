"""A configuration as JSON can hold it: sizes as they are, parts by the names under which they are imported.

A file may come from a stranger, so a name leads only to what a model is made of (`is_part`). To read one runs no other
function: torch alone has `os.system` within reach, as torch.os.system, and `torch.load`.
"""

import importlib
import json
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.checks import called

ROOTS = ("nlmcore", "torch")  # where the parts are that a configuration in a file may name
LAYERS = ("nlmcore.", "torch.nn.modules.")
ROOMS = ("attention", "convolutional", "feedforward", "norms", "positions", "recurrent", "transformer", "variants")
FUNCTIONS = ("torch.nn.functional", *(f"nlmcore.{room}" for room in ROOMS))  # none of theirs opens a file


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
    """The part that has this full name; None if there is no such thing, or it is no part."""
    root, *rest = name.split(".")
    if root not in ROOTS:
        return None
    found: Any = importlib.import_module(root)
    for i, word in enumerate(rest):
        if root == "nlmcore" and not hasattr(found, word):
            with suppress(ImportError):  # a module that nobody has imported yet
                importlib.import_module(".".join((root, *rest[: i + 1])))
        found = getattr(found, word, None)
    return found if is_part(name, found) else None


def is_part(name: str, found: Any) -> bool:
    """Whether it is a layer, a function of one of the rooms where parts are built, or a tensor's function in C.

    That it is where it was defined keeps out what a module has merely imported, and a class inherited.
    """
    word = name.rpartition(".")[2]
    if isinstance(found, BuiltinFunctionType):
        ours = found in (getattr(torch, word, None), getattr(F, word, None))
        return ours and word[0] != "_" and (hasattr(Tensor, word) or hasattr(F, word))  # not torch.from_file
    place = str(getattr(found, "__module__", None))
    if isinstance(found, type):
        return issubclass(found, nn.Module) and place.startswith(LAYERS)
    rooms = any(f"{place}.".startswith(f"{room}.") for room in FUNCTIONS)
    return isinstance(found, FunctionType) and rooms and name == f"{place}.{found.__qualname__}"


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
        kind = from_names(value["made by"])
        if not isinstance(kind, type):  # else to read a file would call a function
            raise ValueError(f"what makes a part must be a layer's class, got {called(kind)}")
        return kind()
    if (found := find(value["name"])) is None:
        raise ValueError(f"a part must be a layer or a function of {' or '.join(ROOTS)}, got {value['name']!r}")
    return found
