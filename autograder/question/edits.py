"""The source notebook of an assignment provides its answers: the solutions in it, and edits of them.

The reference of a question is the solution that `solutions/<assignment>/<assignment>.py` contains between
`### BEGIN SOLUTION` and `### END SOLUTION`; a misconception is an edit of that text. Both are compiled with the imports
and definitions of the source notebook that they need, and nothing else of it; no other cell runs.
"""

import ast
import functools
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from autograder.question.listing import BEGIN, EditError


@dataclass(frozen=True)
class Edit:
    """One change of a solution's text, in lines."""

    mark: str
    """`-`: `find` occurs exactly once; `*`: at least once. `^`: `new` goes before the first line. `+`: it is the new
    solution."""
    find: list[str]
    new: list[str]


def edited(solution: str, edits: Sequence[Edit]) -> str:
    """The text of a solution after all edits, in order. Raises EditError for one that does not apply."""
    for edit in edits:
        find, new = "\n".join(edit.find), "\n".join(edit.new)
        if edit.mark == "+":
            solution = new
        elif edit.mark == "^":
            solution = f"{new}\n{solution}"
        else:
            count = solution.count(find)
            if count == 0 or (edit.mark == "-" and count > 1):
                wanted = "exactly once" if edit.mark == "-" else "at least once"
                raise EditError(f"the text {find!r} should occur {wanted} in the solution and occurs {count} times")
            solution = solution.replace(find, new)
    return solution


Names = tuple[tuple[str, ...], set[str]]
"""(the names that are read or bound, in their order; those that are bound)."""


class Master:
    """The functions of a source notebook, each with its solution."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = path.read_text(encoding="utf-8").split("\n")
        self._bound: dict[str, ast.stmt] = {}
        self._names: dict[str, Names] = {}
        for statement in ast.parse("\n".join(self._lines), str(path)).body:
            for name in _binds(statement):
                self._bound.setdefault(name, statement)

    @property
    def functions(self) -> list[str]:
        """The names of all functions, in the order of the notebook."""
        return [name for name, statement in self._bound.items() if isinstance(statement, ast.FunctionDef)]

    def arguments(self, function: str) -> tuple[str, ...]:
        return tuple(argument.arg for argument in self._definition(function).args.args)

    def signature(self, function: str) -> str:
        """As the student sees it: `attend(scores, values, mask=None)`."""
        return f"{function}({ast.unparse(self._definition(function).args)})"

    def title(self, function: str) -> str:
        """The heading above it, without its number and its [[marker]]."""
        above = self._lines[: self._definition(function).lineno]
        headings = (re.match(r"# ##+ \d+\w*\. ([^[]+)", line) for line in reversed(above))
        return next((heading[1].strip() for heading in headings if heading), function)

    def estimate(self, function: str) -> tuple[int, str, bool]:
        """(minutes, difficulty, core) as the heading says, `[[assignment.function, 15 minutes, easy, more]]`."""
        form = rf"\[\[\w+\.{function}, (\d+) minutes, (easy|medium|hard)(?:, (core|more))?\]\]$"
        found = re.search(form, "\n".join(self._lines), re.M)
        if found is None:
            raise EditError(
                f"{self.path.name}: the heading of {function} should end in “, 15 minutes, easy, core]]”, medium or"
                " hard, core or more"
            )
        return int(found[1]), found[2], found[3] != "more"

    def above(self, function: str) -> str:
        """The text from the question's heading to its cell."""
        lines = self._lines[: self._definition(function).lineno - 1]
        start = max((n for n, line in enumerate(lines) if f".{function}, " in line and "[[" in line), default=0)
        return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[start:])

    def solution(self, function: str) -> str:
        """The text between the two markers, without its indentation."""
        start, stop = self._region(function)
        return textwrap.dedent("\n".join(self._lines[start:stop]))

    def make(self, function: str, solution: str | None = None) -> Callable[..., Any]:
        """The function as the source notebook defines it, or with a different solution; its text is its `source`."""
        definition = self._definition(function)
        start, stop = self._region(function)
        inside = self._lines[start:stop] if solution is None else textwrap.indent(solution, "    ").split("\n")
        source = "\n".join([*self._lines[definition.lineno - 1 : start], *inside])
        tree = ast.parse(source, str(self.path))
        namespace: dict[str, Any] = {"torch": torch, "math": math}
        needed = dict.fromkeys(self._needs(_names(tree), {function}))
        exec(compile(ast.Module([*needed, *tree.body], []), str(self.path), "exec"), namespace)
        made: Callable[..., Any] = namespace[function]
        made.__dict__["source"] = source
        return made

    def _needs(self, names: Names, done: set[str]) -> Iterator[ast.stmt]:
        """The statements of the source notebook that bind the names that are read but not bound."""
        read, own = names
        for name in read:
            statement = self._bound.get(name)
            if name not in own | done and statement is not None:
                done.add(name)
                if name not in self._names:  # most functions need the same few statements
                    self._names[name] = _names(statement)
                yield from self._needs(self._names[name], done)
                yield statement

    def _definition(self, function: str) -> ast.FunctionDef:
        statement = self._bound.get(function)
        if not isinstance(statement, ast.FunctionDef):
            raise EditError(f"{self.path.name} defines no function {function!r}; there are {', '.join(self.functions)}")
        return statement

    def _region(self, function: str) -> tuple[int, int]:
        """The numbers of the solution's first line, and of the line after its last."""
        definition = self._definition(function)
        lines = range(definition.lineno, len(self._lines))
        starts = (i for i in lines if self._lines[i].lstrip(" ").startswith(BEGIN))
        start = next(starts, None)
        if start is None or start > (definition.end_lineno or 0) + 1:
            raise EditError(f"{self.path.name}: the function {function} has no region {BEGIN}")
        stop = next(i for i in range(start, len(self._lines)) if re.match(r" +### END SOLUTION", self._lines[i]))
        return start + 1, stop


@functools.cache
def master_of(path: Path) -> Master:
    return Master(path)


def _names(tree: ast.AST) -> Names:
    nodes = [*ast.walk(tree)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return tuple(dict.fromkeys(name.id for name in names)), own


def _binds(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in statement.names]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []
