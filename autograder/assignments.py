"""An assignment is one folder, `solutions/NAME/`, and this says what lies where in it. Standard library only.

    NAME.py        the source notebook as text, with its solutions (an imported assignment may have several)
    checks/        how its questions are checked: a package, or a module `checks.py`, that has `EXERCISES`
    laws.py        judges of its own, where it has any; students get them with its public examples
    answers.txt    answers that must be right, or wrong, for the tests
    notes.md       for the instructor: common mistakes, what to ask in the oral
    files.txt      further files for students, where there are any: a path or pattern a line, from this folder on

Students get the notebooks without their solutions, and what `files.txt` names. Whatever else lies here stays.
"""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

from autograder.files import plain_files

CHECKOUT = Path(__file__).resolve().parents[1]
SOURCE = "solutions"
CODE = ("checks/**/*.py", "checks.py", "laws.py")
OWN = ("checks/**/*", "checks.py", "laws.py", "answers.txt", "notes.md", "files.txt")
"""Parts that no student gets as they are, whatever `files.txt` says; nor a text with cells, nor what is built of it."""


def module(assignment: str, part: str = "checks") -> ModuleType | None:
    """`solutions.<assignment>.checks`, or another part of the course's own; None if there is none."""
    folder = CHECKOUT / SOURCE / assignment
    if not assignment.isidentifier() or not any((folder / f"{part}{end}").is_file() for end in (".py", "/__init__.py")):
        return None
    if str(CHECKOUT) not in sys.path:  # a notebook's kernel finds what is installed, and `solutions` is not
        sys.path.append(str(CHECKOUT))
    return importlib.import_module(f"{SOURCE}.{assignment}.{part}")


def code(assignment: str = "*") -> list[Path]:
    """The files in which the questions of one of the course's assignments, or of all, are declared."""
    return plain_files(CHECKOUT / SOURCE, *(f"{assignment}/{part}" for part in CODE))


def names() -> list[str]:
    """The course's assignments that have checks."""
    return sorted({path.relative_to(CHECKOUT / SOURCE).parts[0] for path in code()})


def texts(folder: Path) -> list[Path]:
    """An assignment's source notebooks."""
    return [path for path in plain_files(folder, "*.py") if _CELL.search(path.read_text(encoding="utf-8"))]


def handed_out(folder: Path) -> list[Path]:
    """The files beside its notebooks that students get of an assignment."""
    return sorted({path for paths in _listed(folder).values() for path in paths})


def faults(folder: Path) -> list[str]:
    """What its `files.txt` leaves open, in sentences."""
    known = {*_own(folder), *handed_out(folder)}
    open_ = [path.relative_to(folder).as_posix() for path in plain_files(folder, "**/*") if path not in known]
    nothing = [line for line, paths in _listed(folder).items() if not paths]
    return [
        *(f"files.txt names {line!r}, and there is no such file that students may get" for line in nothing),
        *(f"{name}: name it in files.txt if students get it, else move it into checks/" for name in open_),
    ]


def _listed(folder: Path) -> dict[str, list[Path]]:
    """Line of `files.txt` -> the files that it hands out."""
    listed, own = folder / "files.txt", _own(folder)
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
    found: dict[str, list[Path]] = {}
    for line in filter(None, map(str.strip, lines)):
        outside = Path(line).is_absolute() or ".." in Path(line).parts
        found[line] = [] if outside else [path for path in plain_files(folder, line) if path not in own]
    return found


def _own(folder: Path) -> set[Path]:
    return {*plain_files(folder, *OWN, "*.ipynb"), *texts(folder)}


_CELL = re.compile(r"^# %%", re.MULTILINE)
