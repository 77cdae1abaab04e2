"""`due` and `extend`: when an assignment is due, and who has longer."""

import argparse
import re
from datetime import datetime, time, timedelta

from autograder.commands import shared
from autograder.commands.shared import Course, Given, command, count, flag, option

UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}


def _when(text: str) -> datetime:
    """A moment; a day without a time ends with its last second."""
    from autograder.intake.when import moment

    if re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()):
        text = f"{text.strip()}T{time(23, 59, 59)}"
    found = moment(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; write 2026-11-20T23:59, or the day alone")
    return found


def _longer(text: str) -> timedelta:
    parts = re.fullmatch(r"\+((?:\d+[wdhm])+|0)", text.strip())
    if parts is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not an extension; write +2d, +36h or +1d12h, +0 to take it back")
    found = re.findall(r"(\d+)([wdhm])", parts[1])
    return sum((timedelta(**{UNITS[unit]: int(number)}) for number, unit in found), timedelta())


@command(
    "due",
    "Set when an assignment is due, in this machine's time zone; without a time, say when each is due, and who has\n"
    "longer. What comes later is late: it is listed, and loses points if the course has a rule for that.",
    "due                                  all due dates and extensions",
    "due attention 2026-11-20T23:59",
    "due attention 2026-11-20             at the end of that day, 23:59",
    "due attention --none                 nobody is late",
    shared.ONE_OR_ALL,
    option("when", metavar="WHEN", nargs="?", type=_when, help="a day, or a day and a time"),
    flag("--none", "remove the due date"),
)
def due(course: Course, given: Given) -> int:
    from autograder.grading import deadlines

    if given.assignment is None:
        return _all(course)
    shared.refuse((given.when is None) != given.none, "give a time, such as 2026-11-20T23:59, or --none")
    deadlines.set_due(course, given.assignment, given.when)
    if given.none:
        print(f"{given.assignment} has no due date, so nobody is late.")
    else:
        print(f"{given.assignment} is due on {_shown(deadlines.due_dates(course)[given.assignment])}.")
    return 0


def _all(course: Course) -> int:
    from autograder.grading import deadlines

    extensions, found = deadlines.in_force(course.root), deadlines.due_dates(course)
    if not found:
        print("The gradebook has no assignment yet. Make them first: python3 -m autograder build")
    for name, when in found.items():
        if when is not None:
            print(f"{name:24}{_shown(when)}")
            for student, seconds in sorted(extensions.get(name, {}).items()):
                print(f"    {student:20}{_shown(deadlines.later(when, timedelta(seconds=seconds)))}")
    shared.names("Without a due date: {}.", [name for name, when in found.items() if when is None], 30)
    return 0


def _shown(when: datetime | None) -> str:
    return "" if when is None else when.strftime("%A, %d %B %Y, %H:%M (%Z)").replace(" 0", " ")


@command(
    "extend",
    "Give students longer for an assignment, before or after they hand in. Extensions do not add up: a new one\n"
    "replaces the old one. Points for being late follow in the next report, without grading again.",
    "extend attention ada +2d",
    "extend attention ada bob +1d12h      weeks w, days d, hours h, minutes m",
    "extend attention ada +0              take it back",
    option("students", metavar="STUDENT", nargs="+", help="an id, as in the gradebook"),
    option("by", metavar="+TIME", type=_longer, help="how much longer than everybody else"),
)
def extend(course: Course, assignment: str, given: Given) -> int:
    from autograder.grading import deadlines
    from autograder.grading.groups import members

    new = deadlines.extend(course, assignment, given.students, given.by)
    who = ", ".join(given.students)
    print(f"{assignment} is due on {_shown(new)} for {who}{'' if given.by else ', as for everybody'}.")
    partners = {one for student in given.students for one in members(course.root, assignment, student)}
    shared.names("So it is for their groups: {}.", sorted(partners - {*given.students}), 20)
    if not given.by:
        print(f"{count(len(given.students), 'extension')} taken back.")
    return 0
