"""What the commands share: how a command line becomes a call, the options of a course, and readable errors."""

import argparse
import errno
import functools
import inspect
import json
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.launcher.environment import Environment as Environment
from autograder.launcher.lab import FROM
from autograder.launcher.say import count as count

if TYPE_CHECKING:
    from autograder.grading.course import Course as Course
else:
    Course = Any  # it is imported when a command runs, and not for --help

Given = argparse.Namespace
"""The command line as the parser has read it, an attribute for each option."""
STOPPED = 130  # the exit code after Ctrl-C, as shells have it


class Misuse(Exception):  # noqa: N818 - said to the user
    """Exit code 2."""


def here(path: str) -> Path:
    """A path as the user meant it: from the folder in which the command was given. The `type` of `path`."""
    return Path(os.environ.get(FROM) or Path.cwd()) / path


def out_file(path: str) -> Path:
    """A file with marks that the user wants somewhere else; git is made to ignore it there."""
    from autograder.commands.private import keep

    keep(here(path))
    return here(path)


Option = Callable[[argparse.ArgumentParser], object]
"""Adds an option, or a group of them, to a parser."""


def option(*names: str, **about: Any) -> Option:
    return lambda made: made.add_argument(*names, **about)


path = functools.partial(option, type=here)
several = functools.partial(option, action="append", default=[])


def flag(name: str, words: str) -> Option:
    return option(name, action="store_true", help=words)


NAMED = {"metavar": "ASSIGNMENT", "help": "its name, as in solutions/ASSIGNMENT"}
ASSIGNMENT, ONE_OR_ALL = option("assignment", **NAMED), option("assignment", nargs="?", **NAMED)
OF_A_COURSE = (
    path("--course", metavar="FOLDER", help="the course's folder (where nbgrader_config.py lies)"),
    option("--db", metavar="URL", help="the gradebook, if it is not the course's own: postgresql://…"),
)
ONLY = "only this one; may be given several times"
STUDENTS = several("--student", metavar="NAME", default=None, dest="students", help=ONLY)
STALE = flag("--stale", "also pass on marks that were given before the assignment changed")


def number(kind: Callable[[str], Any], fits: Callable[[Any], bool], words: str) -> Callable[[str], Any]:
    """The `type` of an option that is a number; words: which it may be."""

    def read(text: str) -> Any:
        if not fits(found := kind(text)):
            raise argparse.ArgumentTypeError(f"must be {words}")
        return found

    read.__name__ = kind.__name__  # as argparse calls what is no number
    return read


def refuse(wrong: object, words: str) -> None:
    if wrong:
        raise Misuse(words)


def refuse_stale(words: str, wanted: bool) -> None:
    """words: which marks that leave the course are of an older version of the assignment."""
    refuse(words and not wanted, f"{words}, or pass these marks on as they are: --stale")


@dataclass(frozen=True)
class Command:
    """A command: its name and help, its examples (words) and options, and the function that does it.

    The launcher calls it with (place, words); the function gets what its parameters name. `place` is the checkout,
    `course` the named course, or the one of this checkout (errors are then reported as messages), `assignment` the
    first word, and `given` all that the parser has read.
    """

    verb: str
    does: str
    about: Sequence[str | Option]
    main: Callable[..., int]
    writes: bool  # into the course

    @property
    def wants(self) -> Collection[str]:
        return inspect.signature(self.main).parameters

    def parser(self) -> argparse.ArgumentParser:
        lines = "\n".join(_example(one) for one in self.about if isinstance(one, str))
        made = argparse.ArgumentParser(
            prog=f"python3 -m autograder {self.verb}",
            description=textwrap.fill(self.does, WIDTH),
            epilog=f"examples\n{lines}\n\nexit code: 0 done, 1 failed or something is missing, 2 misuse",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        implied = [ASSIGNMENT] if "assignment" in self.wants else []
        implied += OF_A_COURSE if "course" in self.wants else ()
        for add in (*implied, *filter(callable, self.about)):
            add(made)
        return made

    def __call__(self, place: Environment, words: Sequence[str]) -> int:
        given = self.parser().parse_args(words)
        rest = [given.assignment, given] if "assignment" in self.wants else [given]
        if "course" not in self.wants:
            return self.main(place, *rest)
        return run(lambda: self.main(course(place, given.course, given.db, self.writes), *rest))


WIDTH = 79  # of a terminal in which no line of --help is broken


def _example(words: str) -> str:
    """A line that can be pasted; its comment, after two blanks, goes below it if the line is too long."""
    line = f"  python3 -m autograder {words}"
    what, _, about = line.strip().partition("  ")
    if len(line) <= WIDTH:
        return line
    if len(what) + 2 > WIDTH:
        place = what.rindex(" -", 0, WIDTH - 4)
        what = f"{what[:place]} \\\n      {what[place + 1 :]}"
    return f"  {what}\n      {about.strip()}".rstrip()


def command(verb: str, does: str, *about: str | Option, writes: bool = True) -> Callable[[Callable[..., int]], Command]:
    """Make a function the `main` of a command."""
    return lambda main: Command(verb, does, about, main, writes)


def course(place: Environment, folder: Path | None, db: str | None, writes: bool) -> Course:
    from autograder.commands.private import keep_course, make_folders
    from autograder.grading.course import Course

    found = Course.load(folder or place.root, db)
    keep_course(found)
    if writes:
        make_folders(found)
    return found


def run(work: Callable[[], int]) -> int:
    """The exit code of `work`. Errors that a user can fix are printed without a traceback."""
    from nbgrader.api import MissingEntry
    from sqlalchemy.exc import SAWarning

    from autograder.grading.course import NotACourse
    from autograder.grading.database import GradebookFault
    from autograder.grading.pool import PoolLost
    from autograder.grading.run import AlreadyRunning, Broken
    from autograder.sandbox import BoxFault, IsolationMissing

    warnings.filterwarnings("ignore", category=SAWarning)  # of nbgrader's own models, and nothing to do about
    try:
        return work()
    except (Misuse, NotACourse, MissingEntry, ValueError) as error:
        return failed(_in_words(error), 2)
    except (AlreadyRunning, GradebookFault, PoolLost, Broken, IsolationMissing, BoxFault, OSError) as error:
        return failed(_in_words(error))


def _in_words(error: Exception) -> str:
    words = str(error)
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
        if error.errno == errno.ENOSPC:
            words = f"{words}. Make room on that disk, then run the same command again; what is done stays done"
    first = words.split(maxsplit=1)[0] if words.strip() else ""
    if first.rstrip(",:").isalpha():  # not a file's name
        words = words[:1].upper() + words[1:]
    return words if words.endswith((".", "?")) else f"{words}."


def sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def lines(words: str, found: Sequence[object], most: int | None = None) -> None:
    """Print a line for each, with it in the place of {}, and how many more there are."""
    for one in found[:most]:
        print(words.replace("{}", str(one)))
    if most is not None and len(found) > most:
        print(f"  And {len(found) - most} more.")


def names(words: str, found: Iterable[str], most: int = 12) -> None:
    """Print a line with the names in the place of {}, if there are any."""
    from autograder.preflight.finding import listed

    if there := list(found):
        print(words.replace("{}", listed(there, most)))


def own_process() -> bool:
    """Whether this process runs one command and nothing else, so that it may be ended in the middle of it."""
    return getattr(sys.modules["__main__"].__spec__, "name", "") == "autograder.__main__"


def as_json(value: Any, code: int = 0) -> int:
    print(json.dumps(value, ensure_ascii=False, indent=1))
    return code


def failed(words: object, code: int = 1) -> int:
    print(words, file=sys.stderr)
    return code
