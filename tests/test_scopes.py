"""No comprehension's variable hides a name that its function takes from outside and reads in another inner scope.

CPython 3.12 and 3.13 compile comprehensions into their function. Where one binds a name that the function itself takes
from outside, and a lambda, a function or another comprehension in it reads that name, this read finds no value. Python
3.11 does not mind, and ruff has no rule for it.
"""

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.every_python
ROOT = Path(__file__).resolve().parents[1]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scope:
    """A function, a class, a comprehension or a file: the names that it binds and reads, and the scopes in it."""

    def __init__(self, node: ast.AST) -> None:
        self.node, self.bound, self.read, self.inner = node, set[str](), set[str](), list[Scope]()
        self._add(node)

    def _add(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name):
                (self.read if isinstance(child.ctx, ast.Load) else self.bound).add(child.id)
            elif isinstance(child, (*FUNCTIONS, *COMPREHENSIONS, ast.GeneratorExp, ast.ClassDef)):
                self.inner.append(Scope(child))
            elif isinstance(child, ast.arg):
                self.bound.add(child.arg)
            elif not isinstance(child, ast.expr_context | ast.operator | ast.Constant):
                self._add(child)

    def taken(self) -> set[str]:
        """The names that it, or a scope in it, reads from outside."""
        return self.read.union(*(scope.taken() for scope in self.inner)) - self.bound

    def hidden(self) -> list[tuple[int, str]]:
        """(line, name) of each comprehension anywhere in it that hides a name so."""
        found = [one for scope in self.inner for one in scope.hidden()]
        if isinstance(self.node, FUNCTIONS):
            for scope in (scope for scope in self.inner if isinstance(scope.node, COMPREHENSIONS)):
                others = (other.taken() for other in self.inner if other is not scope)
                names = (scope.bound - self.bound).intersection(set[str]().union(*others))
                found += [(scope.node.lineno, name) for name in sorted(names)]
        return found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("a = [name for name in ids]; return [name(i) for i in ids]", [(2, "name")]),
        ("a = {name: 1 for name in ids}; return lambda: name(1)", [(2, "name")]),
        ("a = [one for one in ids]; return [name(i) for i in ids]", []),
        ("a = [name for name in ids]; return name(1)", []),
        ("name = len; a = [name for name in ids]; return [name(i) for i in ids]", []),
        ("return [name for name in ids], {name for name in ids}", []),
    ],
)
def test_what_is_found(body: str, found: list[str]) -> None:
    assert Scope(ast.parse(f"def outer(name):\n  def draw(ids): {body}\n  return draw")).hidden() == found


@pytest.mark.parametrize("folder", ["nlmcore", "lectures", "autograder", "solutions"])
def test_no_comprehension_hides_what_its_function_reads(folder: str) -> None:
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        hidden = Scope(ast.parse(path.read_text(encoding="utf-8"))).hidden()
        found += [f"{path.relative_to(ROOT)}:{line} {name}" for line, name in hidden]
    assert not found
