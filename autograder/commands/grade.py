"""`grade ASSIGNMENT`: grade a class, one line per submission; if stopped at any moment, the same command resumes."""

import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autograder.commands import shared
from autograder.commands.running import ISOLATION, JOBS, SCHEDULER, Pace, Told
from autograder.commands.shared import Given, option
from autograder.commands.together import share_out
from autograder.launcher.say import count

if TYPE_CHECKING:
    from autograder.grading.run import Line
    from autograder.intake.naming import Person

STATES = {"graded": "graded", "blocked": "NOT GRADED", "fault": "GRADER'S FAULT"}


@shared.command(
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
        option("--again", action="store_true", help="grade what is graded, too (marks by hand are kept)"),
        ISOLATION,
        option(
            "--pictures",
            action="store_true",
            help="draw the course's pictures, in place of their text",
        ),
        option("--json", action="store_true", help="one JSON object per submission, and one at the end"),
    ],
)
def grade(course: "shared.Course", given: Given) -> int:
    began = time.monotonic()
    from autograder.grading.run import grade as run_grade
    from autograder.intake.roster import class_without

    assignment, told = given.assignment, Told(given.again)
    pace = Pace(given.jobs if given.scheduler is None else 0, began)
    told.listen()
    share_out(course, assignment, quiet=given.json)
    how = {name: vars(given)[name] for name in ("jobs", "scheduler", "isolation", "again", "pictures")}
    try:
        if not given.json:
            _begin(given)
        with contextlib.closing(run_grade(course, assignment, given.students, **how)) as run:
            for line in run if given.json else _with_bar(run, pace):
                told.lines.append(line)
                if given.json:
                    print(json.dumps({**asdict(line.record), "new": line.new}, ensure_ascii=False), flush=True)
    except KeyboardInterrupt:
        told.stopped()
        return shared.STOPPED
    if not given.json and pace.in_the_end():
        print(f"\n{pace.in_the_end()}")
    by_hand = any(cell.task or cell.solution for one in course.masters(assignment) for cell in one.cells if cell.points)
    absent = class_without(course, assignment) if given.students is None else []
    return _summary(given, told.lines, absent, by_hand)


def _begin(given: Given) -> None:
    """Print the sandbox's tier and limits before anything runs."""
    from autograder.sandbox import Limits
    from autograder.sandbox.tiers import choose

    if given.scheduler is None:
        tier = choose(given.isolation)
        print(f"Students' code runs {tier.words}.")
        for missing in tier.missing:
            print(f"  {missing}")
    else:
        print(f"Students' code runs on the workers of {given.scheduler}, isolation: {given.isolation}.")
    limits = Limits()
    print(
        f"Limits per notebook: {limits.cpu} s of processor time, a cell {limits.cell_cpu:g} s, a question"
        f" {limits.question_cpu:g} s, a call {limits.call_cpu:g} s; {limits.wall:g} s by the clock;"
        f" {_size(limits.memory)} memory, {_size(limits.disk)} of files,"
        f" {_size(limits.output)} of output per cell; no network, no other processes."
    )


def _size(number: int) -> str:
    return f"{number >> 20} MB" if number >= 1 << 20 else f"{number >> 10} KB"


def _with_bar(run: "Iterable[Line]", pace: Pace) -> "Iterator[Line]":
    """One line for each new submission, above a bar with the time left."""
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


def _summary(given: Given, lines: "Sequence[Line]", absent: "Sequence[Person]", by_hand: bool) -> int:
    def who(state: str) -> list[str]:
        return sorted(line.record.student for line in lines if line.record.state == state)

    name = given.assignment
    states = Counter(line.record.state for line in lines)
    looking = sorted(line.record.student for line in lines if line.record.incidents and line.record.state == "graded")
    loose = sum(line.record.isolation == "none" for line in lines)
    new = sum(line.new for line in lines)
    if given.json:
        about = {"new": new, "to look at": len(looking), "not isolated": loose}
        shared.as_json({"summary": {**states, **about, "nothing handed in": [one.id for one in absent]}})
        return 1 if states["fault"] or states["blocked"] else 0
    if not lines:
        print(f"Nothing was handed in for {name}: submitted/STUDENT/{name}/ is where submissions should be.")
        return 0
    print(
        f"\n{count(len(lines), 'submission')}: {states['graded']} graded, {states['blocked']} not gradable,"
        f" {states['fault']} failed through the grader's fault; {new} of them in this run."
    )
    nobody = f"  Nothing handed in, which is not a zero: {len(absent)}: {{}}."
    shared.names(nobody, (one.shown for one in absent), 40)
    blocked = f"  Not gradable, which is not a zero: {{}}. Why: python3 -m autograder preflight {name}"
    shared.names(blocked, who("blocked"), 12)
    fault = "  The grader's fault, and no mark: {}. Fix it, and the same command grades them as well."
    shared.names(fault, who("fault"), 12)
    look = f"  Needs your attention: {{}}. All of it: python3 -m autograder report {name}"
    shared.names(look, looking, 12)
    if loose:
        print(f"  {loose} ran WITHOUT ISOLATION: that code could read and write whatever you can.")
    if by_hand:
        print(f"  To mark by hand, mainly written answers: python3 -m autograder mark {name}")
    print(f"  The marks, and the class: python3 -m autograder report {name}. Then feedback {name}.")
    return 1 if states["fault"] or states["blocked"] else 0
