"""`report`: the marks as a table, for a person, a program or a learning management system; and the overview."""

import argparse
import json
import statistics
from collections import Counter
from dataclasses import asdict

from autograder.commands import shared
from autograder.commands.shared import Course, Given, command, count, flag, option, several

MOST = 40  # names in a line
WEIGHT = "with --all: counts W times, and is never dropped (default: 1; 0 leaves it out)"
INTO = "a copy of a file exported from Canvas or Moodle, with the marks filled in"


def _weight(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if not name or not 0 <= weight < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a weight; write capstone=3")
    return name, weight


@command(
    "report",
    "Write the marks per student and question (what is ungraded stays empty), and the overview; or, with --lms or "
    "--into, the final marks as another system takes them; or, with --all, everybody's total.",
    "report attention                         grading/attention/report.csv and overview.html",
    "report attention --automatic             the points that no person has to give, before essays are read",
    "report attention --into canvas-export.csv --column 'Attention'",
    "report attention --lms moodle --out marks.csv",
    "report attention --format json",
    "report --all --drop 1 --weight capstone=3    the whole course: grading/course.csv",
    shared.ONE_OR_ALL,
    flag("--all", "percentages of all assignments so far, and a total"),
    option("--drop", type=int, default=0, metavar="N", help="with --all: leave out each student's N lowest"),
    several("--weight", type=_weight, metavar="ASSIGNMENT=W", help=WEIGHT),
    flag("--zero", "with --all: nothing handed in counts as zero"),
    option("--format", choices=("csv", "json"), default="csv"),
    flag("--automatic", "automatic points alone, before late penalties"),
    option("--lms", choices=("canvas", "moodle", "gradescope"), help="a new file with columns as this system's"),
    shared.path("--into", metavar="EXPORT", help=INTO),
    option("--column", metavar="NAME", help="what the assignment is called there (default: ASSIGNMENT)"),
    option("--out-of", type=float, metavar="POINTS", help="scale the marks to this maximum"),
    option("--out", metavar="FILE", type=shared.out_file, help="where to, if not grading/ASSIGNMENT/"),
    shared.STALE,
    flag("--json", "the files that were written, for a program"),
)
def report(course: Course, given: Given) -> int:
    from autograder.instructor import write_overview, write_report
    from autograder.instructor.rows import absent, rows_asked_for, stale_in

    shared.refuse((given.assignment is None) != given.all, "give an assignment, or --all")
    if given.all:
        return _whole(course, given)
    of_all = given.drop or given.weight or given.zero
    shared.refuse(of_all, "--drop, --weight and --zero are for the whole course: --all")
    leaves = given.lms or given.into
    shared.refuse(leaves and given.format != "csv", f"other systems take CSV, and not {given.format}")
    of_theirs = "--column and --out-of are for a file of another system: --lms or --into"
    shared.refuse((given.column or given.out_of) and not leaves, of_theirs)
    if given.out_of is not None and not 0 < given.out_of < float("inf"):
        raise shared.Misuse(f"--out-of must be more than 0, got {given.out_of:g}")
    if leaves:
        return _for_lms(course, given)
    assignment, automatic = given.assignment, given.automatic
    table = write_report(course, assignment, given.format, given.out, automatic=automatic)
    overview = write_overview(course, assignment)
    if given.json:
        return shared.as_json({"table": str(table), "overview": str(overview)})
    print(f"The {'automatic points' if automatic else 'marks'}: {table}")
    print(f"What to teach again, and whom to look at: {overview}")
    _, rows = rows_asked_for(course, assignment, automatic)
    words = {"waiting": "waiting for a person", "blocked": "not gradable"}
    states = Counter(words.get(row.state, row.state) for row in rows).most_common()
    told = ", ".join(f"{number} {state}" for state, number in states) or "nobody"
    print(f"{count(len(rows), 'student')}: {told}.")
    if automatic:
        print(f"  Automatic points alone, out of {rows[0].of if rows else 0:g}: no final marks.")
    shared.names("  Nothing handed in: {}.", absent(rows), MOST)
    if old := stale_in(rows, assignment):
        print(f"  {shared.sentence(old)}")
    if any(row.state == "waiting" for row in rows):
        print(f"  For those waiting: python3 -m autograder mark {assignment} (for marks on code: Formgrader).")
    return 0


def _whole(course: Course, given: Given) -> int:
    from autograder.files import write_whole
    from autograder.instructor.table import as_csv
    from autograder.instructor.totals import as_table, fallen, totals, twice

    if given.lms or given.into or given.column or given.out_of or given.automatic:
        raise shared.Misuse("with --all there is a table of our own, from final marks; other systems add up their own")
    shared.refuse(given.drop < 0, f"--drop must not be negative, got {given.drop}")
    found, rows = totals(course, dict(given.weight), given.drop, given.zero)
    path = given.out or course.root / "grading" / f"course.{given.format}"
    json_ = json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False) + "\n"
    write_whole(path, json_ if given.format == "json" else as_csv(as_table(found)))
    if given.json:
        return shared.as_json({"table": str(path)})
    print(f"{path}: {count(len(found), 'student')}, {count(len(found[0].parts), 'assignment')}.")
    for name in found[0].parts:
        if marks := [part for one in found if (part := one.parts[name]) is not None]:
            print(f"  {name:24}{count(len(marks), 'final mark')}, median {statistics.median(marks):.0f} %")
    unsure = [one.student for one in found if one.open]
    shared.names("  Not final, because a mark is still to be given: {}.", unsure, MOST)
    shared.names("  Without any final mark: {}.", [one.student for one in found if one.percent is None], MOST)
    fell = "Their latest mark is 25 points or more below the mean of their earlier ones"
    shared.names(f"  {fell}: {{}}.", fallen(found), MOST)
    for one, other, number, students in twice(found):
        words = f"  {one} and {other} have {count(number, 'question')} in common, counted twice for: {{}}."
        shared.names(f"{words} Leave one out: --weight {other}=0.", students, MOST)
    if any(row.stale for row in rows):
        print("  Some marks were given before their assignment changed: see report ASSIGNMENT.")
    return 0


def _for_lms(course: Course, given: Given) -> int:
    from autograder.instructor.lms import fill, write_new
    from autograder.instructor.rows import absent, rows_asked_for, stale_in

    assignment, automatic = given.assignment, given.automatic
    asked, rows = rows_asked_for(course, assignment, automatic)
    shared.refuse_stale(stale_in(rows, assignment), given.stale)
    of = sum(question.of for question in asked)
    name = f"{given.lms or 'filled-in'}{'-automatic' if automatic else ''}.csv"
    path = given.out or course.root / "grading" / assignment / name
    if given.into is not None:
        same = path.exists() and path.samefile(given.into)
        shared.refuse(same, f"{path} is the file that was exported: give another --out")
        made = fill(course, given.into, path, given.column or assignment, of, rows, given.out_of)
    else:
        title = given.column or (f"{assignment} (automatic points)" if automatic else assignment)
        made = write_new(path, given.lms, title, asked, rows, given.out_of)
    if given.json:
        return shared.as_json({**vars(made), "path": str(made.path), "out of": given.out_of or of})
    what = count(made.marks, "mark") + " of automatic points alone" if automatic else count(made.marks, "final mark")
    print(f"{made.path}: {what} in the column {made.title!r}, out of {given.out_of or of:g}.")
    shared.names("  Without a mark, which is not a zero: {}. Nothing is written for them.", made.without, MOST)
    shared.names("  Replaced a different mark: {}.", made.replaced, MOST)
    shared.names("  WITH A MARK, AND NOT IN THE FILE: {}.", made.absent, MOST)
    shared.lines("  Unchanged: {}.", made.left, MOST)
    shared.lines("  {}.", made.notes)
    shared.names("  Nothing handed in: {}.", absent(rows), MOST)
    return 0
