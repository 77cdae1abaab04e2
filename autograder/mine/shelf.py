"""Where a student's library is, and how its files are read."""

import os
import re
import types
from pathlib import Path
from typing import Any

from autograder.assignments import CHECKOUT, SOURCE

FOLDER, WORK = "mine", "work"
NAME = re.compile(r"[a-z]\w*\.[A-Za-z]\w*", re.ASCII)


def shell() -> Any:
    """The notebook's, if a kernel runs it; else None."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    found = get_ipython()  # type: ignore[no-untyped-call]
    return found if hasattr(found, "kernel") else None


def folder() -> Path | None:
    """Where the library of a notebook in this folder is: in the course's folder it is `work/mine`, elsewhere it is next
    to the notebook's folder. None for the source notebooks, and while nbgrader runs a notebook."""
    here = Path.cwd()
    if os.environ.get("NBGRADER_EXECUTION"):
        return None
    if here.is_relative_to(CHECKOUT):
        return None if here.is_relative_to(CHECKOUT / SOURCE) else CHECKOUT / WORK / FOLDER
    above = here.parent
    return (above if above != Path(above.anchor) and os.access(above, os.W_OK) else here) / FOLDER


def file_of(place: Path, name: str) -> Path:
    """Where a library keeps the function "assignment.function"."""
    return place.joinpath(*name.split(".")).with_suffix(".py")


def kept(name: str) -> Path | None:
    """The file of a function that the library has."""
    if not NAME.fullmatch(name):
        raise ValueError(f"functions of the library are called 'assignment.function', got {name!r}")
    place = folder() if shell() is not None else None
    return path if place is not None and (path := file_of(place, name)).is_file() else None


def load(text: str, path: str, name: str) -> Any:
    """The function that a file of the library defines. It runs as a module that no import finds."""
    module = types.ModuleType(f"{FOLDER}.{name}")
    module.__file__ = path
    exec(compile(text, path, "exec", dont_inherit=True), vars(module))
    return vars(module)[name.rpartition(".")[2]]
