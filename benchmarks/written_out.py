"""Answers to exercises as the text of a cell: named misconceptions, and the second solutions of the tests.

A function of a module becomes a piece of code of its own: with the imports and the helpers that it stands on, without
types and docstrings.
"""

import ast
import functools
import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from autograder.exercise.find import exercises_of, find
from autograder.exercise.specification import Exercise, Misconception

ROOT = Path(__file__).resolve().parents[1]


def second_solutions(assignment: str) -> dict[str, str]:
    """Each function of the tests' second solution, with the imports and helpers that it stands on."""
    text = (ROOT / "tests" / "autograder" / f"solutions_{assignment}.py").read_text(encoding="utf-8")
    body = ast.parse(text).body
    asked = [exercise.function for exercise in exercises_of(assignment).values()]
    imports = [ast.unparse(node) for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    known: dict[str, ast.stmt] = {name: node for name, node in functions.items() if name not in asked}
    made = {}
    for name in asked:
        helpers: dict[str, ast.stmt] = {}
        _gather(functions[name], known, helpers)
        parts = [ast.unparse(node) for node in (*reversed(helpers.values()), functions[name])]
        made[name] = "\n\n".join(["\n".join(imports), *parts])
    return made


@functools.cache
def mistaken(name: str) -> list[str]:
    """Each misconception of an exercise as the text of a cell; not those that stand on the reference itself."""
    exercise = find(name)
    written = [written_out(exercise, mistake) for mistake in exercise.misconceptions]
    return [source for source in written if source and "reference" not in source]


def written_out(exercise: Exercise, mistake: Misconception) -> str:
    """The declaration's code and what it stands on, under names of its own, behind the student's signature; nothing
    of a mistake that is not declared by a call of `Misconception` with its id."""
    function: Callable[..., Any] = mistake.implementation
    while isinstance(function, partial):
        function = function.func
    known = _definitions(function.__module__)
    declared = [call for call in known.mistakes(exercise.name) if _keyword(call, "id") == repr(mistake.id)]
    if not declared:
        return ""
    wanted = declared[0]
    expression = next(keyword.value for keyword in wanted.keywords if keyword.arg == "implementation")
    needed: dict[str, ast.stmt] = {}
    _gather(expression, known.statements, needed)
    own = {old: f"{exercise.function}_{old.strip('_')}" for old in needed}
    parts = [ast.unparse(_Plain(own).visit(_copy(node))) for node in reversed(needed.values())]
    called = ast.unparse(_Plain(own).visit(_copy(expression)))
    head = "\n".join(line for line in known.imports if " as reference" not in line)
    body = f"def {exercise.signature}:\n    return ({called})({', '.join(exercise.arguments)})"
    return "\n\n".join([head, *parts, body])


class _Definitions:
    """The top-level statements of a module by the names that they define, those of its neighbours included."""

    def __init__(self, module: str) -> None:
        path = str(importlib.import_module(module).__file__)
        self.tree = tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        self.statements: dict[str, ast.stmt] = {}
        self.imports: dict[str, None] = {}
        """What they import from elsewhere, in order."""
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.statements[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.statements[node.targets[0].id] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                self.statements[node.target.id] = node
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("autograder.checks"):
                others = _definitions(str(node.module))
                self.statements = others.statements | self.statements
                self.imports |= others.imports
            elif isinstance(node, (ast.Import, ast.ImportFrom)) and "autograder" not in ast.unparse(node):
                self.imports[ast.unparse(node)] = None

    def mistakes(self, exercise: str) -> list[ast.Call]:
        """The misconceptions that are declared here for an exercise, or for whichever it is declared beside."""
        declared = [call for call in _calls(self.tree, "Exercise") if _keyword(call, "name") == repr(exercise)]
        return [found for place in (*declared, self.tree) for found in _calls(place, "Misconception")]


_definitions = functools.cache(_Definitions)


def _calls(tree: ast.AST, name: str) -> list[ast.Call]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name]


def _keyword(call: ast.Call, name: str) -> str:
    return next((ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == name), "").replace('"', "'")


def _gather(node: ast.AST, known: dict[str, ast.stmt], needed: dict[str, ast.stmt]) -> None:
    """What a piece of code stands on, its users first."""
    node = _Plain({}).visit(_copy(node))
    for name in dict.fromkeys(part.id for part in ast.walk(node) if isinstance(part, ast.Name)):
        if name in known:
            needed.pop(name, None)
            needed[name] = known[name]
            _gather(known[name], {k: v for k, v in known.items() if k != name}, needed)


def _copy(node: Any) -> Any:
    return ast.parse(ast.unparse(node)).body[0]


class _Plain(ast.NodeTransformer):
    """Without types and docstrings, and with other names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        if ast.get_docstring(node):
            node.body = node.body[1:]
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_arg(self, node: ast.arg) -> Any:
        return ast.arg(self.names.get(node.arg, node.arg))

    def visit_keyword(self, node: ast.keyword) -> Any:
        node.arg = self.names.get(node.arg, node.arg) if node.arg else None
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self.names.get(node.id, node.id)
        return node
