"""Which values of a notebook are missing where a question without PyTorch is asked, although its check at home finds
them? There a statement that uses what is absent fails, so the names that it binds are not bound: after

    TABLE = torch.eye(4).numpy()

a function that reads TABLE passes at home and finds nothing in the grader. A value does not tell where it comes from;
the notebook's cells do. It is best effort, and costs nobody a point.
"""

import ast
import dis
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autograder.question.closed import scope_of

_OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)  # what is in their bodies does not run yet


def missing(
    function: Callable[..., Any], cells: Iterable[str], absent: Callable[[object], object], themselves: bool = False
) -> list[str]:
    """The names of those values that the function, or one of the notebook's that it calls, reads. cells: the texts of
    all that have run, in order. absent: whether the grader lacks a value of the notebook. themselves: with the names of
    such values."""
    scope = scope_of(function)
    without = {name for name, value in scope.items() if absent(value)}
    lost: set[str] = set()
    for statement in _statements(cells):
        binds, uses = _names(statement)
        lost = lost | binds if uses & (without | lost) else lost - binds
    return sorted((lost | without if themselves else lost - without) & _read(function, scope))


def _statements(cells: Iterable[str]) -> Iterator[ast.stmt]:
    for cell in cells:
        try:
            yield from ast.parse(cell).body
        except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
            continue


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """(the global names that a statement binds, those that it uses while it runs)."""
    binds, uses, waiting = set[str](), set[str](), list[ast.AST]([statement])
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            (uses if isinstance(node.ctx, ast.Load) else binds).add(node.id)
        elif isinstance(node, ast.alias):
            binds.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, _OWN):
            binds.add(getattr(node, "name", ""))
            waiting += getattr(node, "decorator_list", [])
            if not isinstance(node, ast.ClassDef):
                waiting += [default for default in (*node.args.defaults, *node.args.kw_defaults) if default]
        else:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                uses.add(node.target.id)
            waiting += ast.iter_child_nodes(node)
    return binds, uses


def _read(function: object, scope: dict[str, Any]) -> set[str]:
    """The global names that a function and the functions of the notebook that it calls can read."""
    found: set[str] = set()
    waiting: list[object] = [getattr(function, "__code__", None)]
    while waiting:
        code = waiting.pop()
        if isinstance(code, types.CodeType):
            read = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
            new = read - found
            found |= new
            waiting += [*code.co_consts, *(getattr(scope.get(name), "__code__", None) for name in new)]
    return found
