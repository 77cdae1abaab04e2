"""The statements of a notebook's cells: which names each binds, changes and uses. On the student's side of the sandbox
too, so it imports nothing of ours.
"""

import ast
import builtins
import dis
import types
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Statement:
    cell: int
    lines: range  # of the cell, from 0
    binds: frozenset[str]
    changes: frozenset[str]  # whose values it changes in place
    uses: frozenset[str]
    imports: bool
    defines: bool  # a function or a class


def statements_of(cell: int, source: str) -> Iterator[Statement]:
    for node in ast.parse(source).body:
        tree = ast.Module([node], [])
        code = compile(tree, "<cell>", "exec", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        binds, uses = _names(code)
        imports = isinstance(node, (ast.Import, ast.ImportFrom))
        defines = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if not imports and not defines:
            binds -= vars(builtins).keys()  # sum = 0 is a slip, def sum(…) a function
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            binds.add("*")
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        yield Statement(
            cell=cell,
            lines=range(first - 1, node.end_lineno or node.lineno),
            binds=frozenset(binds),
            changes=frozenset(_changed(node)),
            uses=frozenset(uses),
            imports=imports,
            defines=defines,
        )


def _names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """(global names that a statement binds, those that it uses), with the functions and classes defined in it."""
    binds, uses = set(), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_GLOBAL", "STORE_NAME", "DELETE_NAME"):
            binds.add(instruction.argval)
        elif instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            uses.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            uses |= _names(constant)[1]
    return binds, uses


def _changed(node: ast.stmt) -> Iterator[str]:
    """Names whose values a statement changes in place: x[0] = 1, x.a = 1, x.append(1)."""
    for inner in ast.walk(node):
        target: ast.expr | None = None
        if isinstance(inner, (ast.Attribute, ast.Subscript)) and not isinstance(inner.ctx, ast.Load):
            target = inner.value
        elif isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
            call = inner.value.func
            target = call.value if isinstance(call, ast.Attribute) else None
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id
