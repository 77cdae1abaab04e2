"""`report ASSIGNMENT`: the marks as a table, and a page on what the class has understood."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.commands import common

if TYPE_CHECKING:
    from autograder.course.environment import Environment
    from autograder.instructor.rows import Row

EXAMPLES = """
report attention                         grading/attention/report.csv and overview.html
report attention --format json
report attention --lms moodle --out marks.csv
"""


def parser() -> argparse.ArgumentParser:
    made = common.parser(
        "report", "Write the marks per student and question (what is ungraded stays empty), and the overview.", EXAMPLES
    )
    made.add_argument("--format", choices=("csv", "json"), default="csv")
    made.add_argument("--lms", choices=("canvas", "moodle"), help="columns as this system takes them")
    made.add_argument("--out", metavar="FILE", help="where to, if not grading/ASSIGNMENT/")
    made.add_argument("--json", action="store_true", help="the files that were written, for a program")
    return made


def main(place: "Environment", words: Sequence[str]) -> int:
    given = parser().parse_args(words)
    return common.run(lambda: _write(place, given))


def _write(place: "Environment", given: argparse.Namespace) -> int:
    from autograder.instructor.overview import write_overview
    from autograder.instructor.rows import report_rows
    from autograder.instructor.table import write_report

    course = common.course(place, given)
    out = common.here(given.out) if given.out else None
    table = write_report(course, given.assignment, given.format, given.lms, out)
    overview = write_overview(course, given.assignment)
    if given.json:
        common.as_json({"table": str(table), "overview": str(overview)})
    else:
        print(f"The marks: {table}\nWhat to teach again, and whom to look at: {overview}")
        rows = report_rows(course, given.assignment)
        print(f"{common.count(len(rows), 'student')}: {_states(rows)}.")
        if given.lms and any(row.state != "graded" for row in rows):
            print(f"  Only who is graded has a mark for {given.lms}; the other lines are empty, which is no zero.")
        if any(row.state == "waiting" for row in rows):
            print("  Who waits needs a person: python -m autograder lab, then Nbgrader, Formgrader, Manual Grading.")
    return 0


def _states(rows: "Sequence[Row]") -> str:
    """ "3 graded, 25 waiting for a person, 2 blocked"."""
    said = Counter({"waiting": "waiting for a person", "blocked": "not gradable"}.get(r.state, r.state) for r in rows)
    return ", ".join(f"{number} {state}" for state, number in said.most_common()) or "nobody"
