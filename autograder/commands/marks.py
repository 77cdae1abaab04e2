"""`report`: the marks as a table, for a person, a program or a learning management system; and the overview."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands import shared
from autograder.commands.shared import option
from autograder.launcher.say import count

if TYPE_CHECKING:
    from autograder.engine.course import Course
    from autograder.instructor.lms import Filled
    from autograder.instructor.rows import Row

MOST = 40  # names in a line


@shared.command(
    "report",
    "Write the marks per student and question (what is ungraded stays empty), and the overview; or, with --lms or "
    "--into, the final marks as another system takes them.",
    "report attention                         grading/attention/report.csv and overview.html",
    "report attention --automatic             the points that no person has to give, before essays are read",
    "report attention --into canvas-export.csv --column 'Attention'",
    "report attention --lms moodle --out marks.csv",
    "report attention --format json",
    options=[
        option("--format", choices=("csv", "json"), default="csv"),
        option("--automatic", action="store_true", help="automatic points alone, before late penalties"),
        option("--lms", choices=("canvas", "moodle", "gradescope"), help="a new file with columns as this system's"),
        option(
            "--into", metavar="EXPORT", help="a copy of a file exported from Canvas or Moodle, with the marks filled in"
        ),
        option("--column", metavar="NAME", help="what the assignment is called there (default: ASSIGNMENT)"),
        option("--out-of", type=float, metavar="POINTS", help="scale the marks to this maximum"),
        option("--out", metavar="FILE", help="where to, if not grading/ASSIGNMENT/"),
        option("--json", action="store_true", help="the files that were written, for a program"),
    ],
)
def report(
    course: "Course",
    *,
    assignment: str,
    format: str = "csv",
    automatic: bool = False,
    lms: str | None = None,
    into: str | None = None,
    column: str | None = None,
    out_of: float | None = None,
    out: str | None = None,
    json: bool = False,
) -> int:
    from autograder.instructor import write_overview, write_report

    leaves = lms is not None or into is not None
    if leaves and format != "csv":
        raise shared.Misuse(f"other systems take CSV, and not {format}")
    if (column or out_of) and not leaves:
        raise shared.Misuse("--column and --out-of are for a file of another system: --lms or --into")
    if out_of is not None and not 0 < out_of < float("inf"):
        raise shared.Misuse(f"--out-of must be more than 0, got {out_of:g}")
    target = shared.out_file(out)
    if leaves:
        return _for_lms(course, assignment, lms, into, column, out_of, automatic, target, json)
    table = write_report(course, assignment, format, target, automatic=automatic)
    overview = write_overview(course, assignment)
    if json:
        shared.as_json({"table": str(table), "overview": str(overview)})
        return 0
    print(f"The {'automatic points' if automatic else 'marks'}: {table}")
    print(f"What to teach again, and whom to look at: {overview}")
    rows = _rows(course, assignment, automatic)
    words = {"waiting": "waiting for a person", "blocked": "not gradable"}
    states = Counter(words.get(row.state, row.state) for row in rows).most_common()
    told = ", ".join(f"{number} {state}" for state, number in states) or "nobody"
    print(f"{count(len(rows), 'student')}: {told}.")
    if automatic:
        print(f"  Automatic points alone, out of {rows[0].of if rows else 0:g}: no final marks.")
    _absent(rows)
    if any(row.state == "waiting" for row in rows):
        print(f"  Who waits needs a person: python -m autograder mark {assignment} (for marks on code: Formgrader).")
    return 0


def _rows(course: "Course", assignment: str, automatic: bool) -> "list[Row]":
    from autograder.instructor.rows import automatic_alone, questions_asked, report_rows

    rows = report_rows(course, assignment)
    return automatic_alone(questions_asked(course, assignment), rows)[1] if automatic else rows


def _absent(rows: "Sequence[Row]") -> None:
    from autograder.preflight.finding import listed

    absent = [row.shown for row in rows if row.state == "nothing handed in"]
    if absent:
        print(f"  Nothing handed in: {listed(absent, MOST)}.")


def _for_lms(
    course: "Course",
    assignment: str,
    lms: str | None,
    into: str | None,
    column: str | None,
    out_of: float | None,
    automatic: bool,
    target: Path | None,
    json: bool,
) -> int:
    from autograder.instructor.lms import fill, write_new
    from autograder.instructor.rows import automatic_alone, questions_asked, report_rows

    asked, rows = questions_asked(course, assignment), report_rows(course, assignment)
    if automatic:
        asked, rows = automatic_alone(asked, rows)
    of = sum(question.of for question in asked)
    name = f"{lms or 'filled-in'}{'-automatic' if automatic else ''}.csv"
    path = target or course.root / "grading" / assignment / name
    if into is not None:
        exported = shared.here(into)
        if path.exists() and path.samefile(exported):
            raise shared.Misuse(f"{path} is the file that was exported: give another --out")
        made = fill(course, exported, path, [column or assignment], of, rows, out_of)
    else:
        title = column or (f"{assignment} (automatic points)" if automatic else assignment)
        made = write_new(path, str(lms), title, asked, rows, out_of)
    if json:
        shared.as_json({**vars(made), "path": str(made.path), "out of": out_of or of})
        return 0
    _say(made, out_of or of, automatic)
    _absent(rows)
    return 0


def _say(made: "Filled", of: float, automatic: bool) -> None:
    from autograder.preflight.finding import listed

    what = count(made.marks, "mark") + " of automatic points alone" if automatic else count(made.marks, "final mark")
    print(f"{made.path}: {what} in the column {made.title!r}, out of {of:g}.")
    if made.without:
        print(f"  Without a mark, which is not a zero: {listed(made.without, MOST)}. Nothing is written for them.")
    if made.replaced:
        print(f"  Replaced a different mark: {listed(made.replaced, MOST)}.")
    if made.absent:
        print(f"  WITH A MARK, AND NOT IN THE FILE: {listed(made.absent, MOST)}.")
    for words in made.left[:MOST]:
        print(f"  Unchanged: {words}.")
    if len(made.left) > MOST:
        print(f"  And {len(made.left) - MOST} more.")
    for words in made.notes:
        print(f"  {words}.")
