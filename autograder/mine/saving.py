"""What passes its check is put into the library, with all that it needs of its notebook."""

import contextlib
import inspect
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.mine.shelf import NAME, alone, file_of, folder, load, ran, shell
from autograder.question.closed import scope_of
from autograder.question.interview import cases_of, questions
from autograder.question.specification import Exercise
from autograder.question.statements import Statement, statements_of

HISTORY, VERSIONS = ".history", 20
_HEAD = "# {name} passed {cases} cases of its check on {day}."
_CASES = re.compile(r"# \S+ passed (\d+) cases")


def keep(exercise: Exercise, function: object, passes: Callable[[Callable[..., Any]], bool]) -> str:
    """Put a function of this notebook that has passed its check into the library. Returns what to tell the student, ""
    for nothing. passes: whether another function passes the same check."""
    notebook, place = shell(), folder()
    if notebook is None or place is None or exercise.chosen or not NAME.fullmatch(exercise.name):
        return ""
    name: str = exercise.function
    scope: dict[str, Any] = notebook.user_ns
    if scope.get(name) is not function or _scope_of(function) is not scope:
        return ""  # it is called differently here, or comes from elsewhere, as from the library itself
    try:
        return _keep(source_of(ran(notebook), name), exercise, passes, place)
    except OSError as error:
        return f"Not put into your library: {error}"


def _keep(text: str, exercise: Exercise, passes: Callable[[Callable[..., Any]], bool], place: Path) -> str:
    name, path = exercise.function, file_of(place, exercise.name)
    shown, earlier = path.relative_to(place.parent).as_posix(), ""
    cases, before = len(cases_of(questions(exercise))), path.read_text("utf-8", "replace") if path.is_file() else ""
    if before.partition("\n\n")[2] == text:
        return ""
    if not text.strip():
        return f"Not put into your library: no cell that ran has the text of {name} (a cell with %% hides it)."
    if before and _passed(before) > cases:
        return (
            f"Your library keeps the {name} that passed {_passed(before)} cases; this one passed {cases}. To keep this"
            f" one, delete {shown} and run the check again."
        )
    try:
        with alone(), contextlib.redirect_stdout(io.StringIO()):  # what its cells print, they have printed
            if not passes(load(text, str(path), exercise.name)):
                return f"Not put into your library: by itself, {name} does not pass the check."
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return f"Not put into your library: by itself, {name} stops with {type(error).__name__}: {error}"
    if before:
        earlier = f" (the version before it: {_remember(place, exercise.name, before).as_posix()})"
    head = _HEAD.format(name=exercise.name, cases=cases, day=date.today().isoformat())
    write_whole(path, f"{head}\n\n{text}")
    return f"Put into your library: {shown}{earlier}"


def still(exercise: Exercise) -> list[str]:
    """What to say of a function that has failed, if the library has one that passed."""
    place = folder() if shell() is not None else None
    if place is None or not file_of(place, exercise.name).is_file():
        return []
    return [f"Your library keeps a {exercise.function} that passed. {in_an_empty_cell(exercise.name)}"]


def in_an_empty_cell(name: str) -> str:
    return f'In an empty cell, `bring("{name}")`, from `autograder.mine`, puts it into your notebook.'


def _scope_of(function: object) -> dict[str, Any]:
    """The names that it sees; of a decorated function, those of the function itself."""
    with contextlib.suppress(ValueError):
        function = inspect.unwrap(function)  # type: ignore[arg-type]
    return scope_of(function)


def _passed(text: str) -> int:
    found = _CASES.match(text)
    return int(found[1]) if found else 0


def _remember(place: Path, name: str, text: str) -> Path:
    """Put a version into the history, which has the latest few. Returns its path, as a student sees it."""
    history = place / HISTORY
    there = (re.fullmatch(rf"{re.escape(name)}\.(\d+)\.py", path.name) for path in history.glob("*"))
    numbers = sorted(int(found[1]) for found in there if found)
    path = history / f"{name}.{max(numbers, default=0) + 1}.py"
    write_whole(path, text)
    for number in numbers[: -VERSIONS + 1]:
        (history / f"{name}.{number}.py").unlink(missing_ok=True)
    return path.relative_to(place.parent)


def source_of(cells: Iterable[object], name: str) -> str:
    """The statements that a function of a notebook needs, in the order in which they ran. cells: the texts of all cells
    that ran, some of them several times; the latest definition of a name counts."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    found = list(statements_in(texts))
    kept: set[int] = set()
    waiting = [(name, len(found))]
    while waiting:
        wanted, end = waiting.pop()
        last = next((i for i in reversed(range(end)) if wanted in found[i].binds), -1)
        changed = () if last >= 0 and found[last].imports else range(last + 1, end)
        for number in (last, *(i for i in changed if wanted in found[i].changes)):
            if number >= 0 and number not in kept:
                kept.add(number)
                uses = found[number].uses - found[number].binds
                waiting += [(used, len(found)) for used in uses]
                if not found[number].defines:  # x = x + 1 needs the x before it
                    waiting += [(used, number) for used in found[number].uses & found[number].binds]
    lines = (texts[found[i].cell].split("\n")[found[i].lines.start : found[i].lines.stop] for i in sorted(kept))
    parts = list(dict.fromkeys("\n".join(part) for part in lines))
    text = "".join(f"\n\n{part}\n\n\n" if "\n" in part else f"{part}\n" for part in parts)
    return re.sub(r"\n{4,}", "\n\n\n", text).strip() + "\n"


def statements_in(cells: Sequence[str]) -> Iterator[Statement]:
    for number, cell in enumerate(cells):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            yield from statements_of(number, cell)
