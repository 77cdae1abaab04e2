"""`groups` and `markers`: students who hand in together, and people who mark together."""

import argparse
import math

from autograder.commands import shared
from autograder.commands.shared import Course, Given, command, count, flag, option, several


def _share(text: str) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    try:
        share = float(number) if equals else 1.0
    except ValueError:
        share = math.nan
    if not name.isprintable() or not name.strip() or set(name) & set("@/") or not 0 < share < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no marker; write bob, or bob=2 for twice as much")
    return name.strip(), share


@command(
    "groups",
    "Let students hand in together: the newest submission of a group counts for all members, with one mark, one\n"
    "lateness and the longest extension. Without a file, say what groups there are.",
    "groups",
    "groups teams.csv                     for every assignment",
    "groups teams.csv capstone            for this one, instead of the others",
    "groups --none capstone               alone",
    shared.path("file", metavar="FILE", nargs="?", help="a table with a column group and one that names students"),
    option("assignments", metavar="ASSIGNMENT", nargs="*", help="by default all"),
    option("--none", metavar="ASSIGNMENT", help="everybody alone; all: everywhere"),
)
def groups(course: Course, given: Given) -> int:
    from autograder.grading.groups import ALL, kept
    from autograder.intake.handing_in_together import keep, read_groups

    if given.none is not None:
        shared.refuse(given.file is not None, "give a list of groups, or --none ASSIGNMENT")
        keep(course, [] if given.none == "all" else [given.none], None)
    elif given.file is not None:
        keep(course, given.assignments, read_groups(course, given.file))
    there = kept(course.root)
    if not there:
        print("There are no groups.")
    for assignment, found in sorted(there.items()):
        people = sum(map(len, found.values()))
        where = "Every assignment without groups of its own" if assignment == ALL else assignment
        print(f"{where}: {count(len(found), 'group')}, {count(people, 'student')}.")
        for name, members in sorted(found.items()) if given.file is None else ():
            print(f"    {name:20}{', '.join(members)}")
    return 0


def share_out(course: Course, assignment: str, quiet: bool = False) -> None:
    """Give every member of a group its newest submission, and say so."""
    from autograder.intake.handing_in_together import share

    given, unsure = share(course, assignment)
    if not quiet:
        shared.names("Their group's submission counts for: {}.", given, 20)
        shared.names("NOT SHARED, as several submissions differ and not all have a time: {}.", unsure, 20)


@command(
    "markers",
    "Name the people who mark, with their shares of the students; for an assignment, say what each has done, and\n"
    "where a second mark differs from the first.",
    "markers --share ada --share bob=2    bob marks twice as many",
    "markers attention",
    "markers --none                       one person marks everything",
    shared.ONE_OR_ALL,
    several("--share", metavar="NAME=SHARE", type=_share, dest="shares", help="a marker (default: 1)"),
    flag("--none", "forget the names"),
    flag("--json", "for a program"),
)
def markers(course: Course, given: Given) -> int:
    from autograder.grading.markers import keep, shares

    shared.refuse(given.none and given.shares, "give --share or --none")
    if given.none or given.shares:
        keep(course.root, dict(given.shares))
    there = shares(course.root)
    if given.assignment is None:
        named = ", ".join(f"{name} ({share / sum(there.values()):.0%})" for name, share in there.items())
        print(f"Markers: {named}." if there else "No markers are named: mark shows everything.")
        return 0
    from autograder.guard import Guard
    from autograder.instructor.shared_marking import in_words, work
    from autograder.instructor.written import Class

    with Guard(seconds=10, wall=60) as guard, course.gradebook() as gradebook:
        done, twice = work(Class(course, given.assignment, guard), gradebook)
    if given.json:
        names, marks = ([one._asdict() for one in found] for found in (done, twice))
        return shared.as_json({"markers": names, "marked twice": marks})
    for one in done:
        mean = "" if one.mean is None else f", on average {one.mean:.0%} of the points"
        to_do = f"; share {one.share}, {one.waiting} to go" if one.marker in there else ""
        print(f"{one.marker or 'not known'}: {count(one.marked, 'mark')} given{mean}{to_do}.")
    if twice:
        apart = [one for one in twice if one.difference or one.items]
        print(f"Marked twice: {len(twice)}, {len(apart)} of them differently.", *in_words(apart), sep="\n  ")
        if apart:
            print(f"  The first mark counts until somebody changes it: mark {given.assignment}")
    return 0
