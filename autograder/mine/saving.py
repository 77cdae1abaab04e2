"""What passes its check is put into the library, with all that it needs of its notebook."""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.mine.shelf import NAME, file_of, folder, load, shell
from autograder.question.interview import cases_of, questions
from autograder.question.specification import Exercise
from autograder.question.statements import Statement, statements_of

HISTORY = ".history"
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
    if scope.get(name) is not function or getattr(function, "__globals__", None) is not scope:
        return ""  # it is called differently here, or comes from elsewhere, as from the library itself
    text, path = source_of(scope.get("In", ()), name), file_of(place, exercise.name)
    cases, before = len(cases_of(questions(exercise))), path.read_text("utf-8") if path.is_file() else ""
    if before.partition("\n\n")[2] == text:
        return ""
    if before and _passed(before) > cases:
        return f"Your library keeps the {name} that passed {_passed(before)} cases; this one passed {cases}."
    try:
        if not passes(load(text, str(path), exercise.name)):
            return f"Not put into your library: by itself, {name} does not pass the check."
    except (Exception, SystemExit) as error:
        return f"Not put into your library: by itself, {name} stops with {type(error).__name__}: {error}"
    try:
        if before:
            write_whole(_unused(place / HISTORY / exercise.name), before)
        head = _HEAD.format(name=exercise.name, cases=cases, day=date.today().isoformat())
        write_whole(path, f"{head}\n\n{text}")
    except OSError as error:
        return f"Not put into your library: {error}"
    return f"Put into your library: {path.relative_to(place.parent).as_posix()}"


def _passed(text: str) -> int:
    found = _CASES.match(text)
    return int(found[1]) if found else 0


def _unused(stem: Path) -> Path:
    paths = (stem.with_name(f"{stem.name}.{number}.py") for number in itertools.count(1))
    return next(path for path in paths if not path.exists())


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
