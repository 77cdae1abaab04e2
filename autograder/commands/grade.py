"""`grade ASSIGNMENT`: grade a class, one line per submission; if stopped at any moment, the same command resumes."""

import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from autograder.commands import shared
from autograder.commands.running import ISOLATION, JOBS, SCHEDULER, Pace, Told
from autograder.commands.shared import Course, Given, command, count, flag
from autograder.commands.together import share_out

if TYPE_CHECKING:
    from autograder.grading.run import Line
    from autograder.intake.naming import Person

STATES = {"graded": "graded", "blocked": "NOT GRADED", "fault": "GRADER'S FAULT"}


@command(
    "grade",
    "Grade what was handed in: each notebook in a sandbox, marks into nbgrader's gradebook.",
    "grade attention",
    "grade attention --student ada --student bob",
    "grade attention --jobs 4                             four cores of this machine",
    "grade attention --db postgresql://grader@host/gradebook",
    "grade attention --scheduler tcp://10.0.0.5:8786      after .venv/bin/dask scheduler --host 10.0.0.5",
    "worker tcp://10.0.0.5:8786                           on every machine that lends its cores",
    shared.STUDENTS,
    JOBS,
    SCHEDULER,
    flag("--again", "grade what is graded, too (marks by hand are kept)"),
    ISOLATION,
    flag("--pictures", "draw the course's pictures, in place of their text"),
    flag("--json", "one JSON object per submission, and one at the end"),
)
def grade(course: Course, assignment: str, given: Given) -> int:
    began = time.monotonic()
    from autograder.grading.run import grade as run_grade
    from autograder.intake.roster import class_without

    told, pace = Told(given.again), Pace(given.jobs if given.scheduler is None else 0, began)
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
    if not given.json and (advice := pace.in_the_end()):
        print(f"\n{advice}")
    by_hand = any(cell.task or cell.solution for one in course.masters(assignment) for cell in one.cells if cell.points)
    absent = class_without(course, assignment) if given.students is None else []
    return _summary(given, told.lines, absent, by_hand)


def _begin(given: Given) -> None:
    """Print the sandbox's tier and limits before anything runs."""
    from autograder.sandbox import Limits
    from autograder.sandbox.tiers import choose

    if given.scheduler is None:
        tier = choose(given.isolation)
        print(f"Students' code runs {tier.words}.", *tier.missing, sep="\n  ")
    else:
        print(f"Students' code runs on the workers of {given.scheduler}, isolation: {given.isolation}.")
    of = Limits()
    print(
        f"Limits per notebook: {of.cpu} s of processor time, a cell {of.cell_cpu:g} s, a question {of.question_cpu:g}"
        f" s, a call {of.call_cpu:g} s; {of.wall:g} s by the clock; {_size(of.memory)} memory, {_size(of.disk)} of"
        f" files, {_size(of.output)} of output per cell; no network, no other processes."
    )


def _size(number: int) -> str:
    return f"{number >> 20} MB" if number >= 1 << 20 else f"{number >> 10} KB"


def _with_bar(run: "Iterable[Line]", pace: Pace) -> "Iterator[Line]":
    """One line for each new submission, above a bar with the time left."""
    from tqdm import tqdm

    bar, before = None, 0
    try:
        for line in run:
            if not line.new:
                before = line.number
                yield line
                continue
            if bar is None and before:
                print(f"{count(before, 'submission')} graded already.")
            if bar is None:
                bar = tqdm(total=line.of, initial=line.number, unit=" submissions", dynamic_ncols=True, file=sys.stderr)
            else:
                bar.update()
            contained = "" if line.record.isolation != "none" else "  [NOT ISOLATED]"
            said = f"{STATES[line.record.state]:14} {line.words}{contained}"
            for words in filter(None, (said, pace.after(line.of - line.number))):
                bar.write(words, file=sys.stdout)
            yield line
    finally:
        if bar is not None:
            bar.close()


def _summary(given: Given, lines: "Sequence[Line]", absent: "Sequence[Person]", by_hand: bool) -> int:
    name, found = given.assignment, [line.record for line in lines]
    states = Counter(one.state for one in found)
    who = {state: sorted(one.student for one in found if one.state == state) for state in STATES}
    looking = sorted(one.student for one in found if one.incidents and one.state == "graded")
    loose, new = sum(one.isolation == "none" for one in found), sum(line.new for line in lines)
    code = 1 if states["fault"] or states["blocked"] else 0
    if given.json:
        about = {"new": new, "to look at": len(looking), "not isolated": loose}
        return shared.as_json({"summary": {**states, **about, "nothing handed in": [one.id for one in absent]}}, code)
    if not lines:
        print(f"Nothing was handed in for {name}: submitted/STUDENT/{name}/ is where submissions should be.")
        return 0
    print(
        f"\n{count(len(lines), 'submission')}: {states['graded']} graded, {states['blocked']} not gradable,"
        f" {states['fault']} failed through the grader's fault; {new} of them in this run."
    )
    nobody = f"  Nothing handed in, which is not a zero: {len(absent)}: {{}}."
    shared.names(nobody, (one.shown for one in absent), 40)
    again = f"Why: python3 -m autograder preflight {name}"
    shared.names(f"  Not gradable, which is not a zero: {{}}. {again}", who["blocked"])
    again = "Fix it, and the same command grades them as well."
    shared.names(f"  The grader's fault, and no mark: {{}}. {again}", who["fault"])
    shared.names(f"  Needs your attention: {{}}. All of it: python3 -m autograder report {name}", looking)
    if loose:
        print(f"  {loose} ran WITHOUT ISOLATION: that code could read and write whatever you can.")
    if by_hand:
        print(f"  To mark by hand, mainly written answers: python3 -m autograder mark {name}")
    print(f"  The marks, and the class: python3 -m autograder report {name}. Then feedback {name}.")
    return code
