"""`grade ASSIGNMENT`: grade a class, one line per submission; stopped at any moment, the same command goes on."""

import argparse
import contextlib
import functools
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from autograder.commands import shared
from autograder.commands.shared import option
from autograder.launcher.say import count

if TYPE_CHECKING:
    from autograder.box.tiers import Isolation
    from autograder.engine.course import Course
    from autograder.engine.run import Line
    from autograder.intake.naming import Person

STATES = {"graded": "graded", "blocked": "NOT GRADED", "fault": "GRADER'S FAULT"}


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


JOBS = option("--jobs", type=_positive, default=1, metavar="N", help="submissions at a time (default: 1)")
SCHEDULER = option("--scheduler", metavar="URL", help="hand the work out to a Dask cluster")
ISOLATION = option(
    "--isolation",
    choices=("auto", "bubblewrap", "landlock", "none"),
    default="auto",
    metavar="TIER",
    help="how students' code is contained: bubblewrap, landlock, none (not at all), or auto, the best that this machine"
    " has (default)",
)


def _again(made: argparse.ArgumentParser) -> None:
    anew = made.add_mutually_exclusive_group()
    anew.add_argument("--again", action="store_true", help="grade what is graded, too (marks by hand are kept)")
    anew.add_argument(
        "--resume", action="store_false", dest="again", help="go on where a run was stopped: what it does anyway"
    )


@dataclass
class Told:
    """A run, as it is told: what was asked for, and the lines so far."""

    assignment: str
    again: bool
    json: bool
    lines: "list[Line]" = field(default_factory=list)

    def stopped(self) -> None:
        done = sum(line.record.state != "fault" for line in self.lines)
        told = f"{done} of {self.lines[-1].of} are done, and stay so" if self.lines else "nothing was done yet"
        again = " (without --again)" if self.again else ""
        print(f"\nStopped: {told}. The same command goes on{again}.", file=sys.stderr, flush=True)

    def leave(self) -> NoReturn:
        """End this process and its workers in the middle of what they do."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.stopped()
            from autograder import temporary
            from autograder.engine.execute import abandon_boxes
            from autograder.engine.pool import end_at_once

            end_at_once()
            abandon_boxes()
            temporary.leave()
        finally:
            os._exit(shared.STOPPED)


SURE, WORTH = 8, 30.0  # submissions after which their pace is known; seconds that are worth a word


class Pace:
    """How long a submission takes in this run, and whether one worker more, or fewer, would pay. A worker must load
    what this process has loaded, and start a sandbox: what that takes is known when the first submission is done."""

    def __init__(self, jobs: int, began: float) -> None:
        self.jobs, self.began = jobs, began
        self.ends: list[float] = []

    def after(self, left: int, now: float | None = None) -> str:
        """To be called after each submission; what to say then, most often nothing."""
        self.ends.append(time.monotonic() if now is None else now)
        if self.jobs != 1 or len(self.ends) != SURE or (os.cpu_count() or 1) < 2:
            return ""
        start, rest = self.ends[0] - self.began, left * (self.ends[-1] - self.ends[0]) / (SURE - 1)
        saved = rest / 2 - start
        if saved < max(WORTH, rest / 5):
            return ""
        return (
            f"About {rest:.0f} s are left. A second worker takes about {start:.0f} s to start and could save up to"
            f" {saved:.0f} s: stop this with Ctrl-C, and the same command with --jobs 2 goes on."
        )

    def in_the_end(self) -> str:
        if self.jobs < 2 or len(self.ends) < 2:
            return ""
        start, rest = self.ends[0] - self.began, self.ends[-1] - self.ends[0]
        if (self.jobs - 1) * rest > start / 2:
            return ""
        return (
            f"{self.jobs} workers took {start:.0f} s to the first submission and {rest:.0f} s for the others: for so"
            " few, one is about as quick (no --jobs)."
        )


def grade(
    course: "Course",
    *,
    assignment: str,
    students: Sequence[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    again: bool = False,
    isolation: "Isolation" = "auto",
    pictures: bool = False,
    json: bool = False,
    at_once: bool = False,
) -> int:
    """Grade a class.

    `at_once`: Ctrl-C ends it in the middle of a submission, and its workers with it. What is done is on the disk, and
    what is half done is done again, as after any other sudden end.
    """
    began = time.monotonic()
    from autograder.engine.run import grade as run_grade

    told = Told(assignment, again, json)
    pace = Pace(jobs if scheduler is None else 0, began)
    if at_once:
        signal.signal(signal.SIGINT, lambda number, frame: told.leave())
    try:
        if not json:
            _begin(scheduler, isolation)
        run = run_grade(
            course,
            assignment,
            students,
            jobs=jobs,
            scheduler=scheduler,
            isolation=isolation,
            again=again,
            pictures=pictures,
        )
        try:
            kept = _kept(run, told.lines)
            for line in kept if json else _with_bar(kept, pace):
                if json:
                    _as_json(line)
        finally:
            with contextlib.suppress(KeyboardInterrupt):  # a second one, while workers are sent home
                run.close()  # type: ignore[attr-defined]
    except KeyboardInterrupt:
        told.stopped()
        return shared.STOPPED
    if not json and pace.in_the_end():
        print(f"\n{pace.in_the_end()}")
    return _summary(told, _absent(course, assignment) if students is None else [])


command = shared.command(
    "grade",
    "Grade what was handed in: each notebook in a sandbox, marks into nbgrader's gradebook.",
    "grade attention",
    "grade attention --student ada --student bob",
    "grade attention --jobs 4                             four cores of this machine",
    "grade attention --db postgresql://grader@host/gradebook",
    "grade attention --scheduler tcp://10.0.0.5:8786      after .venv/bin/dask scheduler --host 10.0.0.5",
    "worker tcp://10.0.0.5:8786                           on every machine that lends its cores",
    options=[
        shared.STUDENTS,
        JOBS,
        SCHEDULER,
        _again,
        ISOLATION,
        option(
            "--pictures",
            action="store_true",
            help="draw the course's own pictures into the graded notebooks; without it their alternative text stands"
            " there",
        ),
        option("--json", action="store_true", help="one JSON object per submission, and one at the end"),
    ],
)
main = command(grade)  # as a function: Ctrl-C is heard between two submissions
program = command(functools.partial(grade, at_once=True))  # in a process of its own


def _kept(run: "Iterator[Line]", lines: "list[Line]") -> "Iterator[Line]":
    for line in run:
        lines.append(line)
        yield line


def _begin(scheduler: str | None, isolation: "Isolation") -> None:
    """The walls and the limits, before anything runs."""
    from autograder.box import Limits
    from autograder.box.tiers import choose

    if scheduler is None:
        tier = choose(isolation)
        print(f"Students' code runs {tier.words}.")
        for missing in tier.missing:
            print(f"  {missing}")
    else:
        print(f"Students' code runs on the workers of {scheduler}, isolation: {isolation}.")
    limits = Limits()
    print(
        f"Limits per notebook: {limits.wall:g} s, a cell {limits.cell_wall:g} s, a call {limits.call_wall:g} s,"
        f" {limits.cpu} s of processor; {_size(limits.memory)} memory, {_size(limits.disk)} of files,"
        f" {_size(limits.output)} of output per cell; no network, no other processes."
    )


def _size(number: int) -> str:
    return f"{number >> 20} MB" if number >= 1 << 20 else f"{number >> 10} KB"


def _with_bar(run: "Iterator[Line]", pace: Pace) -> "Iterator[Line]":
    """One line for each that is new, above a bar with the time left."""
    from tqdm import tqdm

    bar: Any = None
    before = 0
    try:
        for line in run:
            if not line.new:
                before = line.number
                yield line
                continue
            if bar is None:
                if before:
                    print(f"{count(before, 'submission')} graded already.")
                bar = tqdm(total=line.of, initial=line.number, unit=" submissions", dynamic_ncols=True, file=sys.stderr)
            else:
                bar.update()
            contained = "" if line.record.isolation != "none" else "  [NOT ISOLATED]"
            bar.write(f"{STATES[line.record.state]:14} {line.words}{contained}", file=sys.stdout)
            advice = pace.after(line.of - line.number)
            if advice:
                bar.write(advice, file=sys.stdout)
            yield line
    finally:
        if bar is not None:
            bar.close()


def _as_json(line: "Line") -> None:
    import json
    from dataclasses import asdict

    print(json.dumps({**asdict(line.record), "new": line.new}, ensure_ascii=False), flush=True)


def _absent(course: "Course", assignment: str) -> "list[Person]":
    from autograder.intake.roster import class_without

    return class_without(course, assignment)


def _summary(told: Told, absent: "Sequence[Person]") -> int:
    from autograder.preflight.finding import listed

    def who(state: str) -> str:
        return listed(sorted(line.record.student for line in lines if line.record.state == state), 12)

    lines, name = told.lines, told.assignment
    states = Counter(line.record.state for line in lines)
    looking = [line.record.student for line in lines if line.record.incidents and line.record.state == "graded"]
    loose = sum(line.record.isolation == "none" for line in lines)
    new = sum(line.new for line in lines)
    if told.json:
        about = {
            "new": new,
            "to look at": len(looking),
            "not isolated": loose,
            "nothing handed in": [one.id for one in absent],
        }
        shared.as_json({"summary": {**states, **about}})
        return 1 if states["fault"] or states["blocked"] else 0
    if not lines:
        print(f"Nothing was handed in for {name}: submitted/STUDENT/{name}/ is where it is looked for.")
        return 0
    print(
        f"\n{count(len(lines), 'submission')}: {states['graded']} graded, {states['blocked']} not gradable,"
        f" {states['fault']} failed through the grader's fault; {new} of them in this run."
    )
    if absent:
        print(f"  Nothing handed in, which is no zero: {len(absent)}: {listed((one.shown for one in absent), 40)}.")
    if states["blocked"]:
        print(f"  Not gradable, which is no zero: {who('blocked')}. Why: python -m autograder preflight {name}")
    if states["fault"]:
        print(f"  The grader's fault, and no mark: {who('fault')}. Mended, the same command grades them, too.")
    if looking:
        looks = listed(sorted(looking), 12)
        print(f"  To be looked at by a person: {looks}. All of it: python -m autograder report {name}")
    if loose:
        print(f"  {loose} ran WITHOUT ISOLATION: that code could read and write whatever you can.")
    print(f"  What a person marks, written answers above all: python -m autograder mark {name}")
    print(f"  Who waits for that, and the class: python -m autograder report {name}. Then feedback {name}.")
    return 1 if states["fault"] or states["blocked"] else 0
