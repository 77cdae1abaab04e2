"""The rows as a file: CSV or JSON of our own, or CSV as Canvas and Moodle take it.

In our own, every question is a column; an empty cell (null) is "no mark", 0 is zero. For an LMS only final marks are
written: a row that waits for a person, or that could not be graded, has an empty cell there, which both leave as it is.

A cell of text that a spreadsheet would run as a formula (it begins with = + - @ or a control character) gets an
apostrophe before it.
"""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.engine.course import Course
from autograder.engine.records import write_whole
from autograder.instructor.rows import Asked, Row, questions_asked, report_rows

Table = list[list[Any]]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write_report(
    course: Course, assignment: str, format: str = "csv", lms: str | None = None, path: Path | None = None
) -> Path:
    """Write the report, by default to `grading/<assignment>/report.csv` (`.json`, `canvas.csv`, `moodle.csv`). Raises
    ValueError for an unknown format or LMS, NotACourse for an unknown assignment."""
    if format not in ("csv", "json"):
        raise ValueError(f"format must be csv or json, got {format!r}")
    if lms is not None and lms not in LMS:
        raise ValueError(f"lms must be one of {', '.join(LMS)}, got {lms!r}")
    if lms is not None and format != "csv":
        raise ValueError(f"an LMS takes csv, got format {format!r} for {lms}")
    asked = questions_asked(course, assignment)
    rows = report_rows(course, assignment)
    if format == "json":
        text = as_json(assignment, asked, rows)
    else:
        text = as_csv(LMS[lms](assignment, asked, rows) if lms else own(assignment, asked, rows))
    target = path or course.root / "grading" / assignment / (f"{lms}.csv" if lms else f"report.{format}")
    write_whole(target, text)
    return target


def as_json(assignment: str, asked: Sequence[Asked], rows: Sequence[Row]) -> str:
    facts = {
        "assignment": assignment,
        "points": sum(question.of for question in asked),
        "questions": [{"name": q.name, "notebook": q.notebook, "cell": q.cell, "points": q.of} for q in asked],
        "students": [asdict(row) for row in rows],
    }
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def own(assignment: str, asked: Sequence[Asked], rows: Sequence[Row]) -> Table:
    head = ["student", "first name", "last name", "email", "state", "score", "out of", "late penalty", "extra credit"]
    made: Table = [[*head, "hours late", *(question.name for question in asked), "waiting for a person", "words"]]
    for row in rows:
        facts = [row.student, row.first_name, row.last_name, row.email, row.state, plain(row.score), plain(row.of)]
        marks = [plain(row.questions[question.name]) for question in asked]
        late = round(row.late / 3600, 2)
        made.append([*facts, row.penalty, row.extra, late, *marks, " ".join(row.waiting), row.words])
    return made


def canvas(assignment: str, asked: Sequence[Asked], rows: Sequence[Row]) -> Table:
    """As Canvas imports it: the login is the course's name for the student, the second line says the points."""
    of = plain(sum(question.of for question in asked))
    made: Table = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment],
        ["Points Possible", "", "", "", "", of],
    ]
    for row in rows:
        name = ", ".join(part for part in (row.last_name, row.first_name) if part) or row.student
        made.append([name, "", "", row.student, "", _final(row)])
    return made


def moodle(assignment: str, asked: Sequence[Asked], rows: Sequence[Row]) -> Table:
    """As Moodle imports it: map "Username" or "Email address"."""
    made: Table = [["Username", "First name", "Last name", "Email address", assignment]]
    made += [[row.student, row.first_name, row.last_name, row.email, _final(row)] for row in rows]
    return made


LMS: dict[str, Callable[[str, Sequence[Asked], Sequence[Row]], Table]] = {"canvas": canvas, "moodle": moodle}


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


def _final(row: Row) -> Any:
    return plain(row.score) if row.state == "graded" and not row.waiting else None


def plain(value: float | None) -> Any:
    return None if value is None else int(value) if float(value).is_integer() else round(value, 4)
