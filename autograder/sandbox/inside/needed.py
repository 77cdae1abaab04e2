"""The parts of a notebook that its functions need: the statements that bind the names they use, and nothing else.

A right function must not fail because a plot takes too long, an experiment uses up the memory, or a cell raises before
the function is defined. So if one fails, the notebook is run again in this reduced form.
"""

import ast
import builtins
import contextlib
import dis
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class _Statement:
    cell: int
    lines: range  # of the cell, from 0
    binds: frozenset[str]
    changes: frozenset[str]  # whose values it changes in place
    uses: frozenset[str]
    imports: bool


def needed(
    sources: Sequence[str], tests: Sequence[str], functions: Iterable[str], plain: Callable[[str], str]
) -> dict[str, str]:
    """Each source -> its remaining statements, on their original lines; a cell that cannot be parsed is left unchanged.

    tests: the text of cells that are run whole. functions: further names that are needed, dots allowed. plain: turns a
    cell's text with magics into Python.
    """
    cells: list[str] = []
    statements: list[_Statement] = []
    whole = set()
    for number, source in enumerate(sources):
        cells.append(source)
        try:
            cells[number] = plain(source)  # which raises for some indents
            statements += _statements(number, cells[number])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            whole.add(number)
    functions = [*functions, *(name for s in _parsed(tests, plain) for name in s.uses)]
    modules = {name for s in statements if s.imports for name in s.binds}
    wanted, kept = {name.partition(".")[0] for name in functions} | {"*"}, set()
    while more := [s for s in statements if s not in kept and (s.binds | s.changes - modules) & wanted]:
        kept.update(more)
        wanted.update(*(s.uses for s in more))
    found = {}
    for number, (given, source) in enumerate(zip(sources, cells, strict=True)):
        lines = {line for s in kept if s.cell == number for line in s.lines}
        # "#", as IPython cuts blank lines off the top
        left = (text if line in lines else "#" for line, text in enumerate(source.split("\n")))
        found[given] = given if number in whole else "\n".join(left)
    return found


def _parsed(sources: Sequence[str], plain: Callable[[str], str]) -> Iterator[_Statement]:
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            yield from _statements(0, plain(source))


def _statements(cell: int, source: str) -> Iterator[_Statement]:
    for node in ast.parse(source).body:
        tree = ast.Module([node], [])
        code = compile(tree, "<cell>", "exec", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        binds, uses = _names(code)
        imports = isinstance(node, (ast.Import, ast.ImportFrom))
        if not imports and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            binds -= vars(builtins).keys()  # sum = 0 is a slip, def sum(…) a function
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            binds.add("*")
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        yield _Statement(
            cell=cell,
            lines=range(first - 1, node.end_lineno or node.lineno),
            binds=frozenset(binds),
            changes=frozenset(_changed(node)),
            uses=frozenset(uses),
            imports=imports,
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
