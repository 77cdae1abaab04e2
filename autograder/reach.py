"""Which files of the checkout some files depend on by their imports. Standard library only."""

import ast
import functools
from collections.abc import Collection, Iterable
from pathlib import Path


def reached(start: Iterable[Path], packages: Collection[str], checkout: Path) -> set[Path]:
    """`start`, and the files of the modules that these import, directly or not, in functions too, where they belong to
    one of the `packages`. A package comes with the data that lie in its folder."""
    waiting = [*start]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in found or path.suffix == ".pyc" or not path.is_file():
            continue
        found.add(path)
        if path.suffix == ".py":
            waiting += (checkout / name for name in imported(path, packages))
        if path.name == "__init__.py":
            waiting += (beside for beside in path.parent.iterdir() if beside.suffix != ".py")
    return found


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
