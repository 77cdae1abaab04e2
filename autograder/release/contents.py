"""The contents of the student's archive, with their paths: package, lectures, launcher, examples, exercises.

Of `autograder` it contains only the modules that a student's commands import when they start, found by following the
imports from `START`. The exercises' declarations cannot be among them, because `autograder.check` imports those by
name, and works without them.
"""

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.assignments import SOURCE, texts
from autograder.files import plain_files
from autograder.launcher.verbs import FOR_STUDENTS, VERBS
from autograder.nbgrader_config import RELEASE, released
from autograder.question.find import exercises_of
from autograder.question.public import write
from autograder.question.questions import KIND, WRITTEN, planned
from autograder.texts import notebooks
from autograder.texts.exercises import HANDED_OUT

HANDED = Path(__file__).resolve().parent / "handout"
WHOLE: tuple[str, ...] = (
    "LICENSE",
    "pyproject.toml",
    "environment.yml",
    "constraints.txt",
    "lectures/**/*",
    "nlmcore/**/*",
    "autograder/present/**/*",
    "autograder/question/laws/*.py",
    "autograder/pages/verdict.html",
    "autograder/race/measured.json",
)
START = (
    "autograder.__main__",
    "autograder.check",
    "autograder.question.public",
    "autograder.question.judges",
    "autograder.race.home",
    "autograder.race.split",
    "autograder.commands.checking",
)
HANDOUT = {
    "README.md": "STUDENTS.md",
    "exercises/README.md": "EXERCISES.md",
    "autograder/present/labconfig/page_config.json": "page_config.json",
}
"""Files that differ for students, and the files next to this one from which they are made: pages, and the list of
panels that their JupyterLab leaves out (nbgrader's, for instructors)."""
LIST = "[[assignments]]"
"""In such a page: the rows of `exercises/README.md` about the assignments of the archive."""


def contents(root: Path, assignments: Sequence[str] = ()) -> dict[str, bytes]:
    """Every file of the archive, by its path in it. `assignments`: by default all. Raises
    ValueError for an assignment that does not exist, and for one that is not fit to be released."""
    chosen = _chosen(root, assignments)
    whole = (path.relative_to(root).as_posix() for path in plain_files(root, *WHOLE))
    files = {name: (root / name).read_bytes() for name in [*whole, *_imported(root)]}
    files["Makefile"] = students_makefile((root / "Makefile").read_text(encoding="utf-8")).encode()
    for place, name in HANDOUT.items():
        files[place] = (HANDED / name).read_text(encoding="utf-8").replace(LIST, _listed(root, chosen)).encode()
    files |= _exercises(root, chosen)
    for name in dict.fromkeys(asked.partition(".")[0] for sheet in chosen for asked in exercises_of(sheet)):
        text, tensors = write(exercises_of(name))  # whole, for one sheet is unpacked over another
        files[f"autograder/question/public/{name}.json"] = text
        files[f"autograder/question/public/{name}.safetensors"] = tensors
        laws = root / SOURCE / name / "laws.py"
        if laws.is_file():
            files[f"autograder/question/public/laws/{name}.py"] = laws.read_bytes()
    return files


def _chosen(root: Path, assignments: Sequence[str]) -> list[str]:
    there = sorted({pair.text.parent.name for pair in notebooks.pairs(root) if pair.text.parts[-3] == SOURCE})
    for name in assignments:
        if name not in there:
            raise ValueError(f"there is no assignment {name!r}; there are: {', '.join(there) or 'none'}")
    return sorted(set(assignments)) if assignments else there


def _listed(root: Path, chosen: Sequence[str]) -> str:
    """In the order of the course; an assignment that its table lacks comes last."""
    index = root / RELEASE / "README.md"
    table = index.read_text(encoding="utf-8") if index.is_file() else ""
    rows = {row[1]: row[0] for row in re.finditer(r"^\| `(\w+)` \|.*$", table, re.M)}
    last = [_row(root, name) for name in chosen if name not in rows]
    return "\n".join([*(rows[name] for name in rows if name in chosen), *last])


def _row(root: Path, name: str) -> str:
    """A row for an assignment from what it says of itself: its title, and the minutes of its questions."""
    masters = [path.read_text(encoding="utf-8") for path in texts(root / SOURCE / name)]
    title = next((found[1] for text in masters if (found := re.search(r"^# # (.+)", text, re.M))), name)
    questions = [(exercise.minutes, exercise.core) for exercise in exercises_of(name).values()]
    questions += [(int(found[1]), found[3] != KIND[False]) for text in masters for found in WRITTEN.finditer(text)]
    minutes = sum(each for each, _ in questions)
    time = planned(minutes, sum(each for each, core in questions if core)) if minutes else ""
    return f"| `{name}` | | {title.replace('|', chr(92) + '|')} | {time} |"


def _imported(root: Path) -> list[str]:
    rows = (VERBS[name].module for name in FOR_STUDENTS)
    waiting, found = [*START, *rows], set()
    while waiting:
        path = _file(root, waiting.pop())
        if path is None or path in found:
            continue
        found.add(path)
        package = ".".join(path.relative_to(root).parts[:-1])
        waiting += [package, *_imports(path)]
    return sorted(path.relative_to(root).as_posix() for path in found)


def _file(root: Path, module: str) -> Path | None:
    base = root.joinpath(*module.split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _imports(path: Path) -> Iterable[str]:
    """Names under `autograder` that a file imports at its top: modules, and names that may be modules. (Imports inside
    functions are for other commands than a student's; a test runs those.)"""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("autograder"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograder"):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def students_makefile(text: str) -> str:
    """The Makefile with a student's targets only."""
    text = re.sub(r"^VERBS := .*$", f"VERBS := {' '.join(FOR_STUDENTS)}", text, flags=re.M)
    return "".join(line for line in text.splitlines(keepends=True) if not re.match(r"#\s+make (test|site)\b", line))


def _exercises(root: Path, assignments: Sequence[str]) -> dict[str, bytes]:
    """The released notebooks, and the files that go with them."""
    there = {name: [p for p in released(root, name) if p.is_file()] for name in assignments}
    if left := [name for name, paths in there.items() if not paths]:
        raise ValueError(f"not built yet: {', '.join(left)}. Build first: python3 -m autograder build")
    every = (path for paths in there.values() for path in sorted(paths))
    return {f"{HANDED_OUT}/{path.relative_to(root / RELEASE).as_posix()}": path.read_bytes() for path in every}
