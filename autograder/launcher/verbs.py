"""What `python3 -m autograder VERB` does: a table of verbs, and one way to run them. Standard library only.

A new verb is one row of `BY_WHOM`. `extras` says what must be installed for it, `inside` whether its function needs
those packages (if so, it is called in a second process, run by the environment's own Python).
"""

import argparse
import functools
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from autograder.files import WORK
from autograder.launcher import environment, install, lab, say
from autograder.launcher.environment import Environment
from autograder.texts import exercises, glossary, notebooks

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Verb:
    does: str
    run: str
    """`module:function`, under `autograder`; it takes the environment and the rest of the command line, and returns the
    exit code."""
    extras: tuple[str, ...] | None = ()  # of pyproject.toml, installed first; None: nothing has to be installed
    inside: bool = True  # whether it imports what is installed, and so must run under the environment's Python
    more: tuple[tuple[str, str], ...] = ()
    """(option, extra): what else must be installed if that option is given (`--jobs 1` counts as absent)."""

    @property
    def module(self) -> str:
        return f"autograder.{self.run.partition(':')[0]}"

    @property
    def function(self) -> Callable[[Environment, list[str]], int]:
        found: Callable[[Environment, list[str]], int]
        found = getattr(importlib.import_module(self.module), self.run.partition(":")[2])
        return found


DATABASE = (("--db", "cluster"),)
RUNS = (("--jobs", "cluster"), ("--scheduler", "cluster"), *DATABASE)
FOR_TESTS = ("cluster", "hub", "likeness", "site", "tests")
outside = functools.partial(Verb, inside=False)
BY_WHOM = {
    "everybody": {
        "lab": outside("set up what is missing, build the notebooks, open JupyterLab", "launcher.verbs:open_lab"),
        "present": outside("show a lecture slide by slide, with live widgets: present 11", "launcher.verbs:present"),
        "setup": outside("only the set-up", "launcher.verbs:set_up", more=tuple(("--for-tests", e) for e in FOR_TESTS)),
        "doctor": outside("say what the environment has and what it lacks", "launcher.upkeep:doctor", None),
        "clean": outside("remove built notebooks and caches (never your work)", "launcher.upkeep:clean", None),
    },
    "students": {
        "check": Verb("say what a notebook's checks say", "commands.checking:check"),
        "ask": outside("ask the course's desk for a hidden check", "commands.ask:ask"),
        "hand-in": outside("hand in at the course's desk, and get a receipt", "commands.ask:hand_in"),
        "mine": Verb("show your library: functions that passed their checks", "commands.library:mine"),
    },
    "instructors, in the order of a semester": {
        "roster": Verb("put a class list into the gradebook", "commands.students:roster", more=DATABASE),
        "due": Verb("set due dates, and say who has longer", "commands.dates:due", more=DATABASE),
        "extend": Verb("give a student longer, before or after hand-in", "commands.dates:extend", more=DATABASE),
        "groups": Verb("let students hand in together", "commands.together:groups", more=DATABASE),
        "markers": Verb("who marks what, and second marks", "commands.together:markers", more=DATABASE),
        "compose": Verb("an assignment of chosen questions", "commands.around:compose"),
        "quiz": Verb("lectures' questions as a quiz for Moodle or Canvas", "commands.around:quiz"),
        "release": Verb("a zip for students: exercises and course, no answers", "commands.around:release"),
        "exchange": Verb("set up nbgrader's exchange folder", "commands.students:exchange"),
        "hub": Verb("set up a JupyterHub with the exchange", "commands.students:hub", ("hub",)),
        "collect": Verb("a download of your LMS into submitted/", "commands.students:collect", more=DATABASE),
        "preflight": Verb("look at what was handed in; runs none of it", "commands.around:preflight"),
        "grade": Verb("grade what was handed in, each notebook in a sandbox", "commands.grade:grade", more=RUNS),
        "race": Verb(
            "train the capstone's entries in the sandbox, and rank them", "commands.racing:race", more=DATABASE
        ),
        "regrade": Verb(
            "grade again after a check was mended; review the changes", "commands.regrade:regrade", more=RUNS
        ),
        "mark": Verb("mark written answers in the browser", "commands.mark:mark", more=DATABASE),
        "feedback": Verb("a page for every student", "commands.around:feedback", more=DATABASE),
        "report": Verb("marks as a table, and what to teach again", "commands.marks:report", more=DATABASE),
        "lti": Verb("final marks to your LMS, by LTI 1.3", "commands.lti:lti", more=DATABASE),
        "backup": Verb("a zip with everything about a semester", "commands.backups:backup", more=DATABASE),
        "restore": Verb("put a backup into a new checkout", "commands.backups:restore", more=DATABASE),
        "new-semester": Verb(
            "archive the semester, begin with an empty class", "commands.backups:new_semester", more=DATABASE
        ),
        "desk": Verb("hidden checks for students, a few a day", "commands.desk_of_checks:desk", more=DATABASE),
        "worker": Verb("lend this machine to a run of grade", "commands.around:worker", ("cluster",)),
        "gradescope": Verb("an autograder's zip for Gradescope", "commands.one:gradescope"),
        "grade-one": Verb("one submission, as Gradescope's results.json", "commands.one:grade_one"),
    },
    "authors": {
        "new": outside("start an assignment: text, checks and tests to fill in", "scaffold.new:main", None),
        "import": Verb("import an assignment of nbgrader or otter", "commands.move_in:bring"),
        "attacks": Verb("what known attacks earn on an assignment", "commands.move_in:attacks"),
        "build": Verb("make the notebooks from their text sources", "launcher.verbs:build"),
        "sync": Verb("take changed notebooks back to their texts; renew the glossary", "launcher.verbs:sync"),
        "test": outside("the same set-up, then the tests", "launcher.verbs:run_tests", FOR_TESTS),
        "lint": outside("ruff, mypy, plain English and the size of files", "scaffold.whole:lint", FOR_TESTS),
        "format": outside("let ruff put the code in order", "scaffold.whole:tidy", FOR_TESTS),
        "pythons": outside("a share of the tests with each Python that is here", "scaffold.whole:pythons", None),
        "pins": outside("write constraints.txt: an exact version of every package", "scaffold.whole:pins", None),
        "site": Verb("the course as static pages, for a browser and nothing else", "site.publish:publish"),
        "notebooks": Verb("the lectures with all outputs, to look at and not run", "site.looked_at:write"),
        "translate": Verb("renew a lecture's translation; say what it lacks", "site.translate:translate"),
        "renumber": outside(
            "make links to lectures follow the numbers of their files", "scaffold.numbering:program", None
        ),
    },
}
VERBS = {name: verb for rows in BY_WHOM.values() for name, verb in rows.items()}
FOR_STUDENTS = ("lab", "present", "setup", "build", "check", "ask", "hand-in", "mine", "doctor", "clean")
"""The verbs in a student's copy of the course, which has no solutions, and nothing to grade or to test."""


def offered(root: Path = ROOT) -> dict[str, Verb]:
    """The rows for this copy of the course: all of them, or a student's (an archive cannot make archives)."""
    everything = (root / "autograder" / "release").is_dir()
    return {name: verb for name, verb in VERBS.items() if everything or name in FOR_STUDENTS}


def parse(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The launcher's own options, and everything else, which is passed on to the verb; after `--` none are its own.
    Raises argparse.ArgumentError."""
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--torch", choices=install.BUILDS)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--ready", action="store_true")  # said to itself: the environment has just been looked at
    parser.add_argument("-h", "--help", action="store_true")
    own, rest = parser.parse_known_args(words[:cut])
    return own, [*rest, *words[cut + 1 :]]


def usage() -> str:
    there, groups = offered(), []
    for whom, verbs in BY_WHOM.items():
        if rows := [f"  {name:12}{verb.does}\n" for name, verb in verbs.items() if name in there]:
            groups.append(f"for {whom}\n{''.join(rows)}\n")
    return (
        "usage: python3 -m autograder VERB [--torch cpu|cuda|default] [--here] [-- options of the verb's program]\n\n"
        f"{''.join(groups)}"
        "  --torch  which build of PyTorch to install (a CPU build unless you ask otherwise)\n"
        "  --here   use this very Python instead of .venv (the default inside an activated conda environment)\n\n"
        "examples\n"
        "  python3 -m autograder lab\n"
        "  python3 -m autograder lab -- --no-browser --port 9999\n"
        + ("  python3 -m autograder test -- -k attention\n" if "test" in offered() else "")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 misuse."""
    try:
        return _main(list(sys.argv[1:] if arguments is None else arguments))
    except BrokenPipeError:  # `… | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python flushes at its end
        return 1


def _main(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        say.line(usage())
        return 0
    name, rest = words[0], words[1:]
    if name not in offered():
        print(f"There is no {name!r}.\n\n{usage()}", file=sys.stderr)
        return 2
    try:
        options, rest = parse(rest)
    except argparse.ArgumentError as error:
        print(f"{error}\n\n{usage()}", file=sys.stderr)
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
        print("\nStopped. Nothing is lost: the same command resumes where this one ended.", file=sys.stderr)
        return 130


def help_of(name: str) -> str:
    verb = VERBS[name]
    parser = getattr(verb.function, "parser", None)
    return parser().format_help() if parser is not None else f"{name}: {verb.does}\n\n{usage()}"


def extras(verb: Verb, rest: Sequence[str]) -> tuple[str, ...]:
    """What must be installed for a verb with these arguments."""
    said = [word for text in rest for word in text.split("=", 1)]
    asked = {word for word, value in pairwise([*said, ""]) if (word, value) != ("--jobs", "1")}
    more = {extra for option, extra in verb.more if option in asked}
    return tuple(sorted({*(verb.extras or ()), *more}))


def run(verb: Verb, name: str, options: argparse.Namespace, rest: list[str]) -> int:
    if verb.extras is None or options.ready:
        place = environment.locate(ROOT, options.here)
    else:
        place = install.ensure(ROOT, extras(verb, rest), options.torch, options.here)
    if verb.inside and not place.active:
        variables = {**lab.variables(place, os.environ), lab.FROM: os.getcwd()}
        return lab.become(line_inside(place, name, rest), variables, place.root)
    return verb.function(place, rest)


def inside(place: Environment, name: str, rest: Sequence[str] = ()) -> int:
    """Run a verb in a separate process, under the environment's Python, and return."""
    line = line_inside(place, name, rest)
    return subprocess.run(line, cwd=place.root, env=lab.variables(place, os.environ), check=False).returncode


def line_inside(place: Environment, name: str, rest: Sequence[str]) -> list[str]:
    here = ["--here"] if place.here else []
    return [str(place.python), "-m", "autograder", name, "--ready", *here, "--", *rest]


def build_if_stale(place: Environment, *options: str) -> int:
    """Build everything that is out of date, in the environment's Python; takes a fraction of a second if nothing is."""
    released = "--notebooks" in options or exercises.current(place.root, recorded="--recorded" in options)
    if released and all(notebooks.untouched(pair) for pair in notebooks.pairs(place.root)):
        return 0
    say.line(f"Building notebooks{'' if released else ' and exercises (half a minute)'} ...")
    return inside(place, "build", ["--unaudited", *options])


def _hand_out(place: Environment) -> int:
    new, notes = exercises.hand_out(place.root)
    if new:
        say.line(f"To work in, under {WORK}/: {say.count(new, 'exercise')}.")
    for note in notes:
        say.line(f"  ! {note}")
    return new


def set_up(place: Environment, rest: list[str]) -> int:
    say.line(f"Ready: {place.python}")
    return 0


def open_lab(place: Environment, rest: list[str]) -> int:
    lecture = lab.lecture_called(place.root)
    on = f" on {lecture.relative_to(place.root).as_posix()}" if lecture else ""
    said = f"Opening JupyterLab{on}. To stop it: Ctrl-C, twice."
    return _lab(place, [word for word in rest if word != lab.ALL], said, reading=lab.ALL not in rest)


def present(place: Environment, rest: list[str]) -> int:
    """Open a lecture in the presenter view: the first word is its number or a part of its name."""
    name, options = (rest[0], rest[1:]) if rest and not rest[0].startswith("-") else ("", rest)
    lecture = lab.lecture_called(place.root, name)
    if lecture is None:
        there = ", ".join(path.stem for path in glossary.lectures(place.root))
        print(f"No lecture is called {name!r}. There are: {there}", file=sys.stderr)
        return 2
    said = f"Presenting {lecture.stem}. Page Down goes on, n opens your notes, Escape shows the notebook."
    return _lab(place, options, said, lecture)


def _lab(place: Environment, options: list[str], said: str, lecture: Path | None = None, reading: bool = True) -> int:
    """JupyterLab, with notebooks that follow their texts, and a student's own copies in `work/`. Unless for `reading`,
    the gradebook has every exercise, for Formgrader."""
    if code := build_if_stale(place, "--take-in", *([] if reading else ["--recorded"])):
        return code
    _hand_out(place)
    say.line(said)
    line = lab.command(place, options, os.environ, lecture)
    return lab.become(line, lab.variables(place, os.environ, reading=reading), place.root)


def run_tests(place: Environment, rest: list[str]) -> int:
    code = build_if_stale(place, "--notebooks")  # that exercises/ follows solutions/ is among the tests
    if code:
        return code
    shared = _shared(rest)
    line = [str(place.python), "-m", "pytest", *shared, *rest]
    variables = lab.variables(place, os.environ)
    if shared:
        variables.setdefault("NLM_TIME_FACTOR", "2")  # side by side, each test takes longer
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # each of the many Pythons they start would compile the course anew
    return lab.become(line, variables, place.root)


def _shared(rest: Sequence[str]) -> list[str]:
    """Options that share the tests among the cores, unless the caller shares them or wants to see and stop.

    One worker more than there are cores, because tests often wait: for a browser, a sandbox, a server.
    """
    cores = os.cpu_count() or 1
    workers = min(4, cores + 1)
    if cores == 1 or any(option in ("-s", "--pdb") or option.startswith(("-n", "--dist")) for option in rest):
        return []
    return ["-n", str(workers), "--dist", "loadgroup", "--no-loadscope-reorder"]


def build(place: Environment, rest: list[str]) -> int:
    written, notes = notebooks.build(place.root, take_in="--take-in" in rest)
    released, more = 0, list[str]()
    try:
        if "--notebooks" not in rest:
            released, more = exercises.build(place.root, "--unaudited" not in rest, "--recorded" in rest)
    except (ValueError, RuntimeError) as error:  # what `autograder.release` says of masters that are not fit
        print(error, file=sys.stderr)
        if "--take-in" not in rest:
            return 1
        more = ["The exercises were not built; the lectures open all the same."]
    if written or released:
        say.line(f"Built from text: {say.count(written, 'notebook')}, {say.count(released, 'exercise')}.")
    for note in [*notes, *more]:
        say.line(f"  ! {note}")
    handed = 0 if "--notebooks" in rest else _hand_out(place)
    if not (written or released or handed or rest):
        say.line("Every notebook is up to date.")
    return 0


def sync(place: Environment, rest: list[str]) -> int:
    written, conflicts = notebooks.sync(place.root)
    try:
        conflicts += glossary.gather(place.root)[1]
        written += [glossary.WHERE] if glossary.renew(place.root) else []
    except ValueError as error:  # a list of words that cannot be read
        conflicts.append(str(error))
    return say.result(written, conflicts, "Every text is up to date.")
