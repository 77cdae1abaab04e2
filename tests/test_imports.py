"""Imports flow one way: the table of rooms, held over the syntax trees of the package.

A room is a module or folder directly under `nlmcore/`. One that the table does not name is a leaf.
"""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from autograder.assignments import code, names
from autograder.release.contents import _imported
from autograder.release.leaks import FORBIDDEN

ROOT = Path(__file__).resolve().parents[1]

ALONE = {"tokens", "corpora", "autodiff", "language_model"}
MODELS = {"ngram", "feedforward", "convolutional", "recurrent", "transformer", "seq2seq", "word2vec"}
FOR_ANY_MODEL = {"decoding", "training", "metrics", "diagnostics"}
TOOLS = ("tool", "__main__")  # on top of everything
NAMED = ALONE | MODELS | FOR_ANY_MODEL | {"variants", "inspect", "pretrained", "transfer", "vision", *TOOLS}
HEAVY = {"matplotlib", "ipywidgets", "IPython", "transformers", "pandas", "sklearn", "nltk", "gensim"}


def rooms() -> set[str]:
    found = {path.stem for path in (ROOT / "nlmcore").glob("*.py")} - {"__init__"}
    return found | {path.parent.name for path in (ROOT / "nlmcore").glob("*/__init__.py")}


def leaves() -> set[str]:
    return rooms() - NAMED


def allowed(room: str) -> set[str]:
    """The rooms that a file of `room` may import besides its own."""
    if room in ALONE:
        return set()
    if room in MODELS:
        return leaves() | {"language_model", "recurrent"}  # the recurrent cells are leaves
    if room in FOR_ANY_MODEL:
        return {"language_model", "pictures"}
    if room in TOOLS:
        return rooms()
    return {
        "variants": MODELS | leaves(),
        "vision": MODELS | leaves(),
        "inspect": MODELS | leaves() | {"tokens"},
        "pretrained": MODELS | leaves() | {"tokens"},
        "transfer": leaves() | {"language_model", "inspect"},
    }.get(room, leaves())


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a file imports, by full name, wherever in the file the import stands."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module or ""]))
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def rooms_imported(path: Path) -> set[str]:
    """Rooms of nlmcore that a file imports: `from nlmcore import tokens` and `import nlmcore.tokens.bpe` alike."""
    parts = [name.split(".") for name in imports(path)]
    return {name[1] for name in parts if name[0] == "nlmcore" and len(name) > 1} & rooms()


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT / "nlmcore").parts[0]
    return first.removesuffix(".py")


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def refused(paths: Iterable[Path], wrong: Callable[[Path], set[str]]) -> list[str]:
    """What each file imports that it may not, in sentences."""
    return [f"{label(path)} imports {sorted(found)}" for path in paths if (found := wrong(path))]


def test_a_file_imports_only_what_its_room_may() -> None:
    def wrong(path: Path) -> set[str]:
        room = room_of(path)
        return rooms_imported(path) - {room, "checks"} - allowed(room)  # every room may check its arguments

    assert refused((path for path in files("nlmcore") if path != ROOT / "nlmcore" / "__init__.py"), wrong) == []


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The names along the first circle that is found; none if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return [*found.args[1]]
    return []


def test_no_room_is_reached_from_itself() -> None:
    """Downward: among the leaves too, no circle."""
    graph: dict[str, set[str]] = {room: set() for room in rooms()}
    for path in files("nlmcore"):
        room = room_of(path)
        if room in graph:
            graph[room] |= rooms_imported(path) - {room}
    assert circle(graph) == []


def test_pictures_and_widgets_are_loaded_by_show_and_widgets_alone() -> None:
    plain = [*files("nlmcore"), *files("lectures/recipes"), *files("lectures/prompting")]
    assert refused(plain, lambda path: {name.split(".")[0] for name in imports(path)} & HEAVY) == []


LECTURES = {
    "show": {"lectures.show", "lectures.predictions"},
    "widgets": {"lectures.show", "lectures.widgets", "nlmcore"},
    "prompting": {"lectures.prompting", "nlmcore"},
    "recipes": {
        "lectures.recipes",
        "lectures.prompting",
        "lectures.trained",
        "lectures.FOLDER",
        "lectures.stored",
        "lectures.stored_runs",
        "nlmcore",
    },
}
"""What a room of `lectures` may import of ours."""


def test_a_room_of_the_lectures_imports_only_what_it_may() -> None:
    def wrong(path: Path) -> set[str]:
        ours = {name for name in imports(path) if name.split(".")[0] in ("nlmcore", "lectures", "autograder", "tests")}
        return outside(ours, LECTURES[path.relative_to(ROOT).parts[1]])

    assert refused((path for room in LECTURES for path in files(f"lectures/{room}")), wrong) == []


def outside(names: Iterable[str], rooms: Iterable[str]) -> set[str]:
    """The modules that lie in none of these rooms."""
    return {name for name in names if not any(f"{name}.".startswith(f"{room}.") for room in rooms)}


def test_import_nlmcore_loads_torch_and_nothing_heavier() -> None:
    ask = "import sys, nlmcore; print('\\n'.join(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in answer.stdout.split()}
    assert "torch" in loaded
    assert not loaded & (HEAVY | {"tokenizers", "safetensors", "jupytext", "nbgrader"})


def texts() -> list[Path]:
    return [*sorted(ROOT.glob("lectures/[0-9]*.py")), *(ROOT / f"solutions/{name}/{name}.py" for name in names())]


def test_notebooks_use_the_package_and_the_visible_check() -> None:
    lectures = ("formulas", "show", "widgets", "prompting", "recipes", "stored", "stored_runs", "trained")
    may = {"autograder.check", "autograder.mine", "autograder.race", *(f"lectures.{room}" for room in lectures)}

    def wrong(path: Path) -> set[str]:
        ours = ("autograder", "tests", "lectures", "solutions")
        names = {name for name in imports(path) if name.split(".")[0] in ours}
        return outside(names, may) | {name.split(".")[0] for name in imports(path)} & {"transformers", "nltk", "gensim"}

    assert refused(texts(), wrong) == []


def test_checks_and_laws_import_the_machine_that_reads_them_and_the_library_alone() -> None:
    """An assignment's checks its own laws too; what several use is the machine's. Laws go to students, so they know no
    check."""
    declaring = {"autograder.question", "lectures.recipes", "nlmcore"}

    def wrong(path: Path) -> set[str]:
        name, part = path.relative_to(ROOT / "solutions").parts[:2]
        own = set() if part == "laws.py" else {f"solutions.{name}.checks", f"solutions.{name}.laws"}
        ours = {
            each for each in imports(path) if each.split(".")[0] in ("autograder", "lectures", "solutions", "tests")
        }
        return outside(ours, declaring | own)

    assert refused(code(), wrong) == []


def test_the_package_knows_nothing_of_course_or_grading() -> None:
    for path in files("nlmcore"):
        assert not {name.split(".")[0] for name in imports(path)} & {"autograder", "lectures", "solutions", "tests"}


# --- autograder -------------------------------------------------------------------------------------------

GRADER = {
    "extras.__init__": set(),
    "pages": set(),
    "present": set(),
    "question": {"pages"},
    "check": {"mine", "question"},
    "parsons": {"check", "question"},
    "mine": {"question"},
    "sandbox": {"question.alone", "question.closed", "question.outcome", "question.statements"},
    "preflight": set(),
    "grading": {"sandbox", "check", "question", "preflight"},
    "intake": {"grading", "nbgrader_config", "preflight"},
    "feedback": {"grading", "question", "pages", "preflight"},
    "instructor": {"grading", "question", "feedback", "intake", "pages", "preflight"},
    "nbgrader_config": {"grading", "feedback", "instructor.marking_page", "preflight"},
    "release": {"question", "launcher", "nbgrader_config", "scaffold", "texts"},
    "extras.imported": {"sandbox", "grading", "question", "release", "scaffold", "texts"},
    "extras.desk": {"sandbox", "grading", "question", "pages", "preflight", "intake"},
    "race": {"sandbox", "grading", "question", "feedback", "instructor", "pages", "preflight"},
    "extras.hub": {"grading", "intake", "launcher", "release", "texts"},
    "site": {"feedback.mathematics", "launcher", "pages", "texts"},
    "launcher": {"texts"},
    "texts": {"release.build"},  # when exercises are built
    "commands": {
        "sandbox",
        "check",
        "grading",
        "question",
        "feedback",
        "extras.hub",
        "extras.imported",
        "instructor",
        "intake",
        "launcher",
        "mine",
        "nbgrader_config",
        "preflight",
        "race",
        "extras.desk",
        "release",
    },
    "scaffold": {"commands", "launcher", "texts"},
    "guide": {"launcher", "question", "texts"},
    "__main__": {"launcher"},
    "__init__": set(),
    "assignments": set(),
    "files": set(),
    "guard": set(),
    "reach": set(),
    "seal": set(),
    "temporary": set(),
}
FOR_ALL = {"assignments", "files", "guard", "reach", "seal", "temporary"}
"""What a room of `autograder` may import of the others, wherever the import stands; and what any may."""
INSIDE = {"autograder.sandbox.inside", *(f"autograder.question.{name}" for name in ("closed", "outcome", "statements"))}
"""All that the student's side of the box may import of ours: nothing in it knows an answer."""


@functools.cache
def grader_modules() -> dict[str, Path]:
    """By full name: every module of `autograder`."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files("autograder")}
    return {name.removesuffix(".__init__"): path for path, name in names.items() if "template" not in path.parts}


def by_path(path: Path) -> set[str]:
    """The modules that a file imports by a path that is written down: `importlib.import_module("a.b")`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).endswith("import_module"):
            asked = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            if isinstance(asked, ast.Constant):
                found.add(str(asked.value).rstrip("."))
    return found


@functools.cache
def grader_imports(path: Path) -> set[str]:
    """The modules of `autograder` that a file imports, in functions and by path too."""
    known = grader_modules()
    found = set()
    for name in imports(path) | by_path(path):
        while name.startswith("autograder.") and name not in known:
            name = name.rpartition(".")[0]
        if name.startswith("autograder.") and known[name] != path:
            found.add(name)
    return found


def test_a_room_of_the_grader_imports_only_what_it_may() -> None:
    def wrong(path: Path) -> set[str]:
        parts = path.relative_to(ROOT / "autograder").with_suffix("").parts
        room = ".".join(parts[: 2 if parts[0] == "extras" else 1])
        return outside(grader_imports(path), {f"autograder.{name}" for name in GRADER[room] | {room} | FOR_ALL})

    assert refused(files("autograder"), wrong) == []


def test_the_map_of_the_grader_names_every_room() -> None:
    named = set(
        re.findall(r"\w+", str(ast.get_docstring(ast.parse((ROOT / "autograder/__init__.py").read_text("utf-8")))))
    )
    rooms = {name.partition(".")[0] for name in GRADER} - {"__init__", "__main__"}
    assert not rooms - named


def test_the_students_side_of_the_box_imports_nothing_that_knows_an_answer() -> None:
    assert refused(files("autograder/sandbox/inside"), lambda path: outside(grader_imports(path), INSIDE)) == []


def test_no_module_of_the_grader_is_reached_from_itself() -> None:
    """A package's own `__init__`, which gives out the names of its modules, apart."""
    known = grader_modules()
    graph = {name: grader_imports(path) for name, path in known.items() if path.name != "__init__.py"}
    for name, path in known.items():
        if path.name == "__init__.py":
            graph[name] = {other for other in grader_imports(path) if not other.startswith(f"{name}.")}
    assert circle(graph) == []


def test_no_name_of_a_module_of_the_grader_stands_for_two() -> None:
    """Packages too; a module may be called like its own package. Laws are called like what they are about."""
    homes: dict[str, set[str]] = {}
    for name in grader_modules():
        parts = name.split(".")
        if parts[1:3] != ["question", "laws"]:
            homes.setdefault(parts[-1], set()).add(name)
    twice = {
        short: sorted(names)
        for short, names in homes.items()
        if len(names) > 1 and not any(f"{name}.{short}" in names for name in names)
    }
    assert not twice, twice


LAUNCHER = [ROOT / "autograder" / f"{name}.py" for name in ("__init__", "__main__", "files", "seal")]
LAUNCHER += files("autograder/launcher") + files("autograder/texts")


def test_the_launcher_imports_the_standard_library_alone() -> None:
    """At the top of the file: before anything is installed. Inside a function it may load what it needs."""

    def wrong(path: Path) -> set[str]:
        names: set[str] = set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
        ours = {name for name in names if name in ("autograder", "autograder.files", "autograder.seal")}
        others = outside(names - ours, ["autograder.launcher", "autograder.texts"])
        return {name for name in others if name.split(".")[0] not in sys.stdlib_module_names}

    assert refused(LAUNCHER, wrong) == []


def test_the_launcher_runs_without_any_package() -> None:
    """`-S`: no site-packages at all, as on a bare machine."""
    line = [sys.executable, "-S", "-m", "autograder", "--help"]
    answer = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert "python3 -m autograder lab" in answer.stdout


def test_a_students_copy_imports_nothing_that_stays_with_the_instructor() -> None:
    """Or else `release` refuses; only a whole run makes the archive itself."""
    assert not [name for name in _imported(ROOT) if FORBIDDEN.intersection(Path(name).parts)]


@pytest.mark.every_python
def test_every_module_can_be_imported() -> None:
    """All but the lectures, which would run; with every warning an error, since a Python warns of what it will drop."""
    ask = (
        "import importlib, pkgutil, re, warnings; warnings.simplefilter('error');"
        "names = [m.name for p in ('nlmcore', 'lectures', 'autograder')"
        " for m in pkgutil.walk_packages(importlib.import_module(p).__path__, p + '.')];"
        "from autograder import assignments;"
        "names += [f'solutions.{name}.checks' for name in assignments.names()];"
        "[importlib.import_module(name) for name in names if not re.search(r'\\.(__main__|\\d\\w+)$', name)];"
        "print(len(names))"
    )
    answer = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert int(answer.stdout) > 300
