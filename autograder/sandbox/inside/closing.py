"""Closed modules are not in the box: the modules and packages left out of the sandbox, and the grader's own code.

The kernel hides a closed module's files before any of the student's code runs (`Supervisor`). A name from it can still
be imported, and refuses when it is used, so a line that is never reached costs nothing.
"""

import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import NoReturn

from autograder.question.closed import ALONE, LIBRARIES, ClosedName, Finder, check_closed, refusal

touched: list[str] = []  # absent names that were used, each once, since the list was last emptied
_OURS = ("autograder.sandbox", "autograder.question")


def leave_alone(names: Sequence[str]) -> None:
    """From now on a notebook is alone with Python and NumPy: these packages, which were never there, refuse when they
    are used, and the grader's code is absent."""
    for name in names:
        sys.modules.pop(name, None)  # the mark that keeps a library from importing it

    def refuse(name: str) -> NoReturn:
        raise ClosedName(ALONE)

    _forget(_OURS)
    tops = frozenset(names)
    sys.meta_path.insert(0, Finder(lambda name: name.partition(".")[0] in tops, refuse))


def leave_out(names: Sequence[str]) -> None:
    """From now on these are absent, and so is the grader's code. Raises ValueError for a name that cannot be left
    out."""
    for name in names:
        check_closed(name)
    names = [name for name in names if name not in LIBRARIES or importlib.util.find_spec(name) is not None]

    def refuse(name: str) -> NoReturn:
        closed = next(closed for closed in names if _within(name, (closed,)))
        if closed not in touched:
            touched.append(closed)
        raise refusal(closed)

    _forget((*names, *_OURS))
    if names:
        sys.meta_path.insert(0, Finder(lambda name: _within(name, names), refuse))


def _forget(names: Sequence[str]) -> None:
    gone = tuple(f"{name}." for name in names)
    for name in [n for n in sys.modules if f"{n}.".startswith(gone)]:
        parent, _, last = name.rpartition(".")
        vars(sys.modules.get(parent, types.ModuleType(""))).pop(last, None)
        del sys.modules[name]


def files_of(module: str) -> list[str]:
    """The files and folders that contain a module's source and its compiled form."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return []
    if spec.submodule_search_locations:
        return list(spec.submodule_search_locations)
    return [path for path in (spec.origin, spec.cached) if path is not None]


def _within(name: str, modules: Sequence[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)
