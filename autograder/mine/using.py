"""Later notebooks use the library."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from autograder.mine.shelf import folder, kept, load, shell
from autograder.mine.told import shown, where

Function = TypeVar("Function", bound=Callable[..., Any])


def mine(name: str = "") -> Any:
    """Without a name: show the library. With one: the function "assignment.function" of the library; None if it is
    missing, and where no kernel runs."""
    if not name:
        print(shown(folder()))
        return None
    path = kept(name)
    if path is None and shell() is not None:
        print(f"Your library, {where()}, has no {name} yet.")
    return _loaded(name, path)


def _loaded(name: str, path: Path | None) -> Any:
    try:
        return None if path is None else load(path.read_text("utf-8"), str(path), name)
    except (Exception, SystemExit) as error:
        print(f"{path} stops with {type(error).__name__}: {error}")
        return None


def own(name: str) -> Callable[[Function], Function]:
    """A decorator for a function that the notebook gives: it takes the student's own instead if the library has it."""

    path = kept(name)

    def chosen(given: Function) -> Function:
        notebook = shell()
        if notebook is None or given.__globals__ is not notebook.user_ns:
            return given  # such as a reference, which is made of the same text
        found = _loaded(name, path)
        why = f"your library, {where()}, has no {name} yet" if path is None else "yours does not run"
        told = f"the course's own, because {why}" if found is None else f"yours, {name}"
        print(f"{given.__name__}: {told}")
        return given if found is None else found  # type: ignore[no-any-return]

    return chosen


def bring(*names: str) -> None:
    """Replace the cell by functions of the student's library, so that they are part of this notebook. Without a name:
    show the library."""
    if not names:
        mine()
    paths = {name: kept(name) for name in names}
    for name in [name for name, path in paths.items() if path is None]:
        print(f"Your library, {where()}, has no {name} yet.")
    if found := [path.read_text("utf-8", "replace").strip() for path in paths.values() if path]:
        shell().set_next_input("\n\n\n".join(found), replace=True)
        print("Here it is. Run the cell once more.")
