"""What `python -m autograder VERB` does: a table of verbs, and one way to run them. Standard library only.

A new verb is one row of `VERBS`. `setup` says what must be installed for it, `inside` whether its function needs
those packages (then it is called in a second process, run by the environment's own Python).
"""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from autograder.course import environment, exercises, glossary, install, lab, notebooks, say, torch_build
from autograder.course.environment import Environment

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Verb:
    """One row of the table."""

    does: str
    run: str
    """`module:function`; it takes the environment and the rest of the command line, and returns the exit code."""
    extras: tuple[str, ...] | None = ()
    """Extras of pyproject.toml that must be installed first; None: nothing has to be."""
    inside: bool = False
    """Whether the function imports what is installed, and so must run under the environment's Python."""
    more: tuple[tuple[str, str], ...] = ()
    """(option, extra): what must be installed besides if that option is given (`--jobs 1` is as good as none)."""


VERBS = {
    "lab": Verb("set up what is missing, build the notebooks, open JupyterLab", "autograder.course.verbs:open_lab"),
    "present": Verb("show a lecture slide by slide, with live widgets: present 11", "autograder.course.verbs:present"),
    "test": Verb(
        "the same set-up, then the tests", "autograder.course.verbs:run_tests", ("cluster", "likeness", "tests")
    ),
    "setup": Verb("only the set-up", "autograder.course.verbs:set_up"),
    "build": Verb("make the notebooks from their text sources", "autograder.course.verbs:build", inside=True),
    "sync": Verb(
        "take changed notebooks back to their texts; renew the glossary", "autograder.course.verbs:sync", inside=True
    ),
    "lint": Verb("ruff, mypy and the size of files", "autograder.course.upkeep:lint", ("tests",)),
    "format": Verb("let ruff put the code in order", "autograder.course.upkeep:tidy", ("tests",)),
    "doctor": Verb("say what the environment has and what it lacks", "autograder.course.upkeep:doctor", None),
    "clean": Verb("remove built notebooks and caches (never your work)", "autograder.course.upkeep:clean", None),
    "check": Verb("say what a notebook's checks say", "autograder.commands.check:main", inside=True),
    "preflight": Verb("look at what was handed in; runs none of it", "autograder.commands.preflight:main", inside=True),
    "grade": Verb(
        "grade what was handed in, each notebook in a sandbox",
        "autograder.commands.grade:program",
        inside=True,
        more=(("--jobs", "cluster"), ("--scheduler", "cluster"), ("--db", "cluster")),
    ),
    "worker": Verb("lend this machine to a run of grade", "autograder.commands.worker:main", ("cluster",), inside=True),
    "feedback": Verb(
        "a page for every student", "autograder.commands.feedback:main", inside=True, more=(("--db", "cluster"),)
    ),
    "report": Verb(
        "marks as a table, and what to teach again",
        "autograder.commands.report:main",
        inside=True,
        more=(("--db", "cluster"),),
    ),
    "release": Verb(
        "a zip for students: exercises and course, no answers", "autograder.release.archive.command:main", inside=True
    ),
    "new": Verb("begin an assignment: text, checks and tests to fill in", "autograder.scaffold.new:main", None),
}
FROM = "NLM_FROM"
"""The variable that tells the second process in which folder the command was given."""
FOR_STUDENTS = ("lab", "present", "setup", "build", "check", "doctor", "clean")
"""What a student's copy of the course offers: it has no solutions, and nothing to grade or to test."""


def offered(root: Path = ROOT) -> dict[str, Verb]:
    """The rows for this copy of the course: all of them, or a student's (an archive has no maker of archives)."""
    everything = (root / "autograder" / "release").is_dir()
    return {name: verb for name, verb in VERBS.items() if everything or name in FOR_STUDENTS}


@dataclass(frozen=True)
class Options:
    """What the launcher itself understands; everything else goes on to the verb."""

    torch: str | None = None
    here: bool = False
    ready: bool = False
    """Given by the launcher to itself: the environment has just been looked at."""
    help: bool = False


def parse(arguments: Sequence[str]) -> tuple[Options, list[str]]:
    """Take out the launcher's options; after `--` nothing is the launcher's any more."""
    torch: str | None = None
    here = ready = wants_help = False
    rest: list[str] = []
    queue = list(arguments)
    while queue:
        word = queue.pop(0)
        if word == "--":
            rest += queue
            break
        if word == "--torch" or word.startswith("--torch="):
            torch = word.partition("=")[2] or (queue.pop(0) if "=" not in word and queue else "")
            if torch not in torch_build.BUILDS:
                raise ValueError(f"--torch: {torch!r} is not one of {', '.join(torch_build.BUILDS)}")
        elif word == "--here":
            here = True
        elif word == "--ready":
            ready = True
        elif word in ("-h", "--help"):
            wants_help = True
        else:
            rest.append(word)
    return Options(torch, here, ready, wants_help), rest


def usage() -> str:
    rows = "\n".join(f"  {name:11}{verb.does}" for name, verb in offered().items())
    return (
        "usage: python -m autograder VERB [--torch cpu|cuda|default] [--here] [-- options of the verb's program]\n\n"
        f"{rows}\n\n"
        "  --torch  which build of PyTorch to install (a CPU build unless you ask otherwise)\n"
        "  --here   use this very Python instead of .venv (the default inside an activated conda environment)\n\n"
        "examples\n"
        "  python -m autograder lab\n"
        "  python -m autograder lab -- --no-browser --port 9999\n"
        + ("  python -m autograder test -- -k attention\n" if "test" in offered() else "")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 misuse."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        say.line(usage())
        return 0
    name, rest = words[0], words[1:]
    if name not in offered():
        print(f"There is no {name!r}.\n\n{usage()}", file=sys.stderr)
        return 2
    try:
        options, rest = parse(rest)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.help:
        say.line(help_of(name))
        return 0
    try:
        return run(VERBS[name], name, options, rest)
    except say.SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Nothing is lost: the same command goes on where this one ended.", file=sys.stderr)
        return 130


def help_of(name: str) -> str:
    """The verb's own help where it has a `parser`, else its line of the table."""
    parser = getattr(importlib.import_module(VERBS[name].run.partition(":")[0]), "parser", None)
    return parser().format_help() if parser is not None else f"{name}: {VERBS[name].does}\n\n{usage()}"


def extras(verb: Verb, rest: Sequence[str]) -> tuple[str, ...]:
    """What must be installed for a verb with these words behind it."""
    said = [word for text in rest for word in text.split("=", 1)]
    asked = {word for word, value in pairwise([*said, ""]) if (word, value) != ("--jobs", "1")}
    more = {extra for option, extra in verb.more if option in asked}
    return tuple(sorted({*(verb.extras or ()), *more}))


def run(verb: Verb, name: str, options: Options, rest: list[str]) -> int:
    if verb.extras is None or options.ready:
        place = environment.locate(ROOT, options.here)
    else:
        place = install.ensure(ROOT, extras(verb, rest), options.torch, options.here)
    if verb.inside and not place.active:
        variables = {**lab.variables(place, os.environ), FROM: os.getcwd()}
        return lab.become(line_inside(place, name, rest), variables, place.root)
    module, _, function = verb.run.partition(":")
    handler: Callable[[Environment, list[str]], int] = getattr(importlib.import_module(module), function)
    return handler(place, rest)


def inside(place: Environment, name: str, rest: Sequence[str] = ()) -> int:
    """Run a verb in a process of its own, under the environment's Python, and come back."""
    line = line_inside(place, name, rest)
    return subprocess.run(line, cwd=place.root, env=lab.variables(place, os.environ), check=False).returncode


def line_inside(place: Environment, name: str, rest: Sequence[str]) -> list[str]:
    here = ["--here"] if place.here else []
    return [str(place.python), "-m", "autograder", name, "--ready", *here, "--", *rest]


def _build_if_stale(place: Environment, take_in: bool) -> int:
    """Build what is out of date, in the environment's Python; a fraction of a second where nothing is."""
    if all(notebooks.untouched(pair) for pair in notebooks.pairs(place.root)) and exercises.current(place.root):
        return 0
    say.line("Building notebooks and exercises (some seconds) ...")
    return inside(place, "build", ["--take-in"] if take_in else [])


def set_up(place: Environment, rest: list[str]) -> int:
    say.line(f"Ready: {place.python}")
    return 0


def open_lab(place: Environment, rest: list[str]) -> int:
    code = _build_if_stale(place, take_in=True)
    if code:
        return code
    lecture = lab.first_lecture(place.root)
    on = f" on {lecture.relative_to(place.root).as_posix()}" if lecture else ""
    say.line(f"Opening JupyterLab{on}. To stop it: Ctrl-C, twice.")
    return _become_lab(place, lab.command(place, rest, os.environ))


def present(place: Environment, rest: list[str]) -> int:
    """Open a lecture in the presenter view: the first word is its number or a part of its name."""
    name, options = (rest[0], rest[1:]) if rest and not rest[0].startswith("-") else ("", rest)
    lecture = lab.lecture_called(place.root, name) if name else lab.first_lecture(place.root)
    if lecture is None:
        there = ", ".join(path.stem for path in sorted((place.root / "lectures").glob("[0-9]*_*.py")))
        print(f"No lecture is called {name!r}. There are: {there}", file=sys.stderr)
        return 2
    code = _build_if_stale(place, take_in=True)
    if code:
        return code
    say.line(f"Presenting {lecture.stem}. Page Down goes on, n opens your notes, Escape shows the notebook.")
    return _become_lab(place, lab.command(place, options, os.environ, present=lecture))


def _become_lab(place: Environment, line: list[str]) -> int:
    if "--allow-root" in line:
        say.line("(You are root, so JupyterLab gets --allow-root.)")
    return lab.become(line, lab.variables(place, os.environ), place.root)


def run_tests(place: Environment, rest: list[str]) -> int:
    code = _build_if_stale(place, take_in=False)
    if code:
        return code
    line = [str(place.python), "-m", "pytest", *_shared(rest), *rest]
    return lab.become(line, lab.variables(place, os.environ), place.root)


def _shared(rest: Sequence[str]) -> list[str]:
    """Options that share the tests among the cores, unless the caller shares them or wants to see and stop."""
    workers = min(4, os.cpu_count() or 1)
    if workers == 1 or any(option in ("-s", "--pdb") or option.startswith(("-n", "--dist")) for option in rest):
        return []
    return ["-n", str(workers), "--dist", "loadgroup", "--no-loadscope-reorder"]


def build(place: Environment, rest: list[str]) -> int:
    written, notes = notebooks.build(place.root, take_in="--take-in" in rest)
    try:
        released, more = exercises.build(place.root)
    except (ValueError, RuntimeError) as error:  # what `autograder.release` says of masters that are not fit
        print(error, file=sys.stderr)
        if "--take-in" not in rest:
            return 1
        released, more = 0, ["The exercises were not built; the lectures open all the same."]
    if written or released:
        say.line(f"Built from text: {say.count(written, 'notebook')}, {say.count(released, 'exercise')}.")
    elif not rest:
        say.line("Every notebook is up to date.")
    for note in [*notes, *more]:
        say.line(f"  ! {note}")
    return 0


def sync(place: Environment, rest: list[str]) -> int:
    written, conflicts = notebooks.sync(place.root)
    try:
        conflicts += glossary.gather(place.root)[1]
        written += [glossary.WHERE] if glossary.renew(place.root) else []
    except ValueError as error:  # a list of words that cannot be read
        conflicts.append(str(error))
    for name in written:
        say.line(f"  wrote {name}")
    for conflict in conflicts:
        say.line(f"  ! {conflict}")
    if not written and not conflicts:
        say.line("Every text is up to date.")
    return 1 if conflicts else 0
