"""Where a student's library is, and how its files are read."""

import contextlib
import os
import re
import stat
import types
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from autograder.assignments import CHECKOUT
from autograder.files import KEPT, WORK

FOLDER = "mine"
NAME = re.compile(r"[a-z]\w*\.[A-Za-z]\w*", re.ASCII)


def shell() -> Any:
    """The notebook's, if a kernel runs it; else None."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    found = get_ipython()  # type: ignore[no-untyped-call]
    return found if hasattr(found, "kernel") else None


def ran(notebook: Any) -> list[str]:
    """The texts of a notebook's cells that have run, in order."""
    cells = notebook.user_ns.get("In")  # which a student may use for something else
    return [cell for cell in cells if isinstance(cell, str)] if isinstance(cells, list) else []


def folder() -> Path | None:
    """Where the library of a notebook in this folder is: in the course's folder it is `work/mine`, elsewhere it is next
    to the notebook's folder. None for the source notebooks and students' submissions, and while nbgrader runs a
    notebook."""
    here = Path.cwd()
    if os.environ.get("NBGRADER_EXECUTION"):
        return None
    if here.is_relative_to(CHECKOUT):
        top = here.relative_to(CHECKOUT).parts[:1]
        return None if {*top} & {*KEPT} else CHECKOUT / WORK / FOLDER
    above = here.parent
    own = above != Path(above.anchor) and os.access(above, os.W_OK) and not above.stat().st_mode & stat.S_ISVTX
    return (above if own else here) / FOLDER  # in a folder like /tmp, another account could put a library


def file_of(place: Path, name: str) -> Path:
    """Where a library keeps the function "assignment.function"."""
    return place.joinpath(*name.split(".")).with_suffix(".py")


def kept(name: str) -> Path | None:
    """The file of a function that the library has."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(
            f"functions of the library are called 'assignment.function', and mine() shows them; got {name!r}"
        )
    place = folder() if shell() is not None and not _alone.get() else None
    return path if place is not None and (path := file_of(place, name)).is_file() else None


_alone = ContextVar("_alone", default=False)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """A block in which there is no library, as in the grader. Without it, a function could be kept that needs the
    library: even itself."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def load(text: str, path: str, name: str) -> Any:
    """The function that a file of the library defines. It runs as a module that no import finds."""
    module = types.ModuleType(f"{FOLDER}.{name}")
    module.__file__ = path
    with alone():
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))
    return vars(module)[name.rpartition(".")[2]]


def name_of(value: object) -> str:
    """What a function of the library is called there; "" for any other value."""
    first, _, name = str(getattr(value, "__module__", "")).partition(".")
    return name if first == FOLDER else ""
