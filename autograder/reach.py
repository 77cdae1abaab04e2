"""Which files of the checkout some files depend on by their imports. Standard library only."""

import ast
import functools
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def closure(start: Iterable[T], beside: Callable[[T], Iterable[T]]) -> set[T]:
    """`start`, what lies beside each of it, what lies beside that, and so on."""
    waiting, found = [*start], set[T]()
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += beside(one)
    return found


def reached(start: Iterable[Path], packages: Collection[str], checkout: Path) -> set[Path]:
    """`start`, and the files of the modules that these import, directly or not, in functions too, where they belong to
    one of the `packages`. A package comes with the data that lie in its folder."""

    def beside(path: Path) -> list[Path]:
        code = [checkout / name for name in imported(path, packages)] if path.suffix == ".py" else []
        data = [one for one in path.parent.iterdir() if one.suffix != ".py"] if path.name == "__init__.py" else []
        return [one for one in (*code, *data) if _counts(one)]

    return closure(filter(_counts, start), beside)


def _counts(path: Path) -> bool:
    return path.suffix != ".pyc" and path.is_file()


def imported(path: Path, packages: Collection[str]) -> list[str]:
    """Where the files lie, from the checkout on, that a file's own imports run, if there are such."""
    stat = path.stat()
    names = (name for name in _imports(path, stat.st_mtime_ns, stat.st_size) if name.partition(".")[0] in packages)
    ways = (name.split(".") for name in names)
    found = ("/".join(parts[:depth]) for parts in ways for depth in range(1, len(parts) + 1))
    return [f"{place}{end}" for place in dict.fromkeys(found) for end in ("/__init__.py", ".py")]


@functools.cache
def _imports(path: Path, changed: int, size: int) -> tuple[str, ...]:
    """Names of modules, some of which may be names in modules."""
    named: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return tuple(sorted(named))
