"""The rows as a file of our own, CSV or JSON; `lms` writes what other systems take.

Every question is a column; an empty cell (null) is "no mark", 0 is zero. A cell of text that a spreadsheet would run as
a formula (it begins with = + - @ or a control character) gets an apostrophe before it.
"""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.files import write_json, write_whole
from autograder.grading.course import Course
from autograder.instructor.rows import Asked, Row, rows_asked_for
from autograder.instructor.written import titles

Table = list[list[Any]]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write_report(
    course: Course, assignment: str, format: str = "csv", path: Path | None = None, *, automatic: bool = False
) -> Path:
    """Write the report, by default to `grading/<assignment>/report.csv` or `.json`; with only the automatic points, to
    `automatic.csv`. Raises ValueError for an unknown format, NotACourse for an unknown assignment."""
    if format not in ("csv", "json"):
        raise ValueError(f"format must be csv or json, got {format!r}")
    asked, rows = rows_asked_for(course, assignment, automatic)
    called = titles(course, assignment)
    target = path or course.root / "grading" / assignment / f"{'automatic' if automatic else 'report'}.{format}"
    if format == "csv":
        write_whole(target, as_csv(own(asked, rows, called, automatic)))
        return target
    facts = {"assignment": assignment, "automatic points alone": automatic, "points": sum(q.of for q in asked)}
    questions = [
        {"name": q.name, "title": called[q.name], "notebook": q.notebook, "cell": q.cell, "points": q.of} for q in asked
    ]
    write_json(target, {**facts, "questions": questions, "students": [asdict(row) for row in rows]})
    return target


def own(asked: Sequence[Asked], rows: Sequence[Row], called: Mapping[str, str], automatic: bool) -> Table:
    """called: the title of each question by its name, for the columns; a title that several have is not enough."""
    several = Counter(called[question.name] for question in asked)
    titled = {name: title if several[title] == 1 else f"{title} ({name})" for name, title in called.items()}
    head = ["student", "first name", "last name", "email", "state", "automatic points" if automatic else "score"]
    head += ["out of", "late penalty", "extra credit"]
    columns = [titled[question.name] for question in asked]
    made: Table = [[*head, "hours late", *columns, "waiting for a person", "words"]]
    for row in rows:
        facts = [row.student, row.first_name, row.last_name, row.email, row.state, plain(row.score), plain(row.of)]
        marks = [plain(row.questions[question.name]) for question in asked]
        late = round(row.late / 3600, 2)
        waiting = ", ".join(titled[name] for name in row.waiting)
        made.append([*facts, row.penalty, row.extra, late, *marks, waiting, row.words])
    return made


def as_csv(lines: Table) -> str:
    """RFC 4180, with a byte order mark, without which spreadsheets misread names."""
    text = io.StringIO()
    csv.writer(text).writerows([[_defused(value) for value in line] for line in lines])
    return "\ufeff" + text.getvalue()


def _defused(value: Any) -> Any:
    if not isinstance(value, str):
        return "" if value is None else value
    clean = "".join(c for c in value if c >= " " or c in "\t\r\n")
    return f"'{clean}" if clean.lstrip(" ").startswith(FORMULA) else clean


def plain(value: float | None) -> Any:
    return None if value is None else int(value) if float(value).is_integer() else round(value, 4)
