"""Closed modules are not in the box: the modules and packages left out of the sandbox, and the grader's own code.

The kernel hides a closed module's files before any of the student's code runs (`Supervisor`). A name from it can still
be imported, and refuses when it is used, so a line that is never reached costs nothing. PyTorch's own functions cannot
be absent; `autograder.exercise.closed` listens for that.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from autograder.exercise.closed import LIBRARIES, is_absent, refusal

touched: list[str] = []  # absent names that were used, each once, since the list was last emptied
_OURS = ("autograder.box", "autograder.exercise")


def leave_out(names: Sequence[str]) -> None:
    """From now on these are absent, and so is the grader's code. Raises ValueError for a name that cannot be left
    out."""
    for name in names:
        if not is_absent(name):
            raise ValueError(
                f"{name!r} cannot be left out of the sandbox: closed names of PyTorch belong to a question"
            )
    names = [name for name in names if name not in LIBRARIES or importlib.util.find_spec(name) is not None]
    gone = tuple(f"{name}." for name in (*names, *_OURS))
    for name in [n for n in sys.modules if f"{n}.".startswith(gone)]:
        parent, _, last = name.rpartition(".")
        vars(sys.modules.get(parent, types.ModuleType(""))).pop(last, None)
        del sys.modules[name]
    if names:
        sys.meta_path.insert(0, _Absent(names))


def files_of(module: str) -> list[str]:
    """The files and folders that contain a module's source and its compiled form."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return []
    if spec.submodule_search_locations:
        return list(spec.submodule_search_locations)
    return [path for path in (spec.origin, spec.cached) if path is not None]


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not _within(name, self._names):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Room(spec.name, next(name for name in self._names if _within(spec.name, (name,))))

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class _Room(types.ModuleType):
    """A closed module: it has every name, but none of them can be used."""

    def __init__(self, name: str, closed: str) -> None:
        super().__init__(name)
        self.__closed = closed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Part(self.__closed)


class _Part:
    def __init__(self, closed: str) -> None:
        self.__closed = closed

    def __refuse(self, *arguments: Any, **options: Any) -> NoReturn:
        if self.__closed not in touched:
            touched.append(self.__closed)
        raise refusal(self.__closed)

    __call__ = __iter__ = __getitem__ = __mro_entries__ = __refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__refuse()


def _within(name: str, modules: Sequence[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)
