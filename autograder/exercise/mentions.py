"""Which closed functions of PyTorch's does an answer name? PyTorch cannot be left out of a question on tensors, so the
instructor is told whose text names them, and a student in the check. It is best effort: nobody loses a point for it,
and whoever wants to hide a name can.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from autograder.exercise.closed import is_absent


def of_pytorch(closed: Sequence[str]) -> list[str]:
    return [name for name in closed if not is_absent(name)]


def mentioned_by(function: Callable[..., Any], closed: Sequence[str]) -> tuple[str, ...]:
    """Those of the closed names that the text of a function names; none if it has no text, or cannot be read."""
    try:
        return mentioned(textwrap.dedent(inspect.getsource(function)), of_pytorch(closed))
    except Exception:  # a text that is none, whatever there is instead
        return ()


def mentioned(source: str, closed: Sequence[str]) -> tuple[str, ...]:
    """Those of PyTorch's names that a text names: as a function of a library, by any path and under any name, or as the
    method of a tensor. Raises SyntaxError."""
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    aliases = dict(_aliases(tree))
    paths = [(path, *_full(path, aliases)) for path in _paths(tree)]
    found = []
    for name in closed:
        last = name.rpartition(".")[2]
        method = hasattr(torch.Tensor, last) and last not in own
        for path, full, imported in paths:
            within = f"{full}.".startswith(f"{name}.")
            by_name = full.rpartition(".")[2] == last and (imported or full.startswith(("torch.", "F.", "nn.")))
            if within or by_name or (method and "." in path and path.rpartition(".")[2] == last):
                found.append(name)
                break
    return tuple(found)


def _paths(tree: ast.AST) -> Iterator[str]:
    """Names and attributes with their dots: `F.softmax`; `.softmax` of what is no name."""
    for node in ast.walk(tree):
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            yield ".".join([node.id, *reversed(parts)])
        elif parts:
            yield ".".join(["", *reversed(parts)])


def _aliases(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.asname, name.name) for name in node.names if name.asname)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((name.asname or name.name, f"{node.module}.{name.name}") for name in node.names)


def _full(path: str, aliases: dict[str, str]) -> tuple[str, bool]:
    """The path with what its first part was imported as, and whether that is PyTorch's."""
    first, dot, rest = path.partition(".")
    full = aliases.get(first, first) + dot + rest
    return full, first in aliases and full.startswith("torch")
