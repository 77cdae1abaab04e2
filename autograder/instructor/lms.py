"""Marks for a learning management system: a new file, or a file exported from it, filled in.

Empty is never 0, and never removes a mark. Canvas and Moodle read an empty cell as "no mark" and delete theirs, so a
new file has only rows with a final mark, and in an exported file every other cell is unchanged.

A filled-in file keeps its encoding, separator and every column. A row is matched to a student by number, login or
address, otherwise by name; if that is not certain, the row is left alone and reported. (Moodle refuses a whole file if
it does not know one row, and gives the marks of a row without an address to the student of the row above.)
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.grading.course import Course
from autograder.instructor.rows import Asked, Row
from autograder.instructor.table import Table, as_csv, plain
from autograder.intake.naming import Names
from autograder.intake.roster import WAYS, WORKSHEET, columns_of, line_of, people_of
from autograder.intake.spreadsheet import WORDS, Sheet, read_as_written, read_sheet
from autograder.intake.spreadsheet import plain as heading
from autograder.preflight.finding import shown

ABSENT = ("", "-")  # a cell without a mark, as these systems write it


@dataclass
class Filled:
    """The rows that were written, and those that were not."""

    path: Path
    title: str = ""  # of the column
    marks: int = 0
    replaced: list[str] = field(default_factory=list)  # students whose mark there was another one
    left: list[str] = field(default_factory=list)  # rows that were left alone, with the reason
    absent: list[str] = field(default_factory=list)  # students with a mark who are not in the file
    without: list[str] = field(default_factory=list)  # students without a final mark
    notes: list[str] = field(default_factory=list)


def final(row: Row) -> float | None:
    """The mark that may be passed on; None for students without a mark, or with answers still to be marked by hand."""
    return row.score if row.state == "graded" and not row.waiting else None


def write_new(
    path: Path, lms: str, title: str, asked: Sequence[Asked], rows: Sequence[Row], out_of: float | None = None
) -> Filled:
    """A new file. Gradescope's has everybody, as its own list of marks has."""
    of = sum(question.of for question in asked)
    marked, most = [row for row in rows if final(row) is not None], plain(out_of or of)
    marks = {row.student: plain((final(row) or 0.0) * _scale(of, out_of)) for row in marked}
    made = Filled(path, title, len(marked), without=[row.student for row in rows if final(row) is None])
    table = LMS[lms](title, asked, rows if lms == "gradescope" else marked, marks, most)
    if lms == "moodle":
        by = ("Email address", "the e-mail address") if all(r.email for r in marked) else ("Username", "the user name")
        made.notes.append(f'In Moodle, map "{by[0]}" to {by[1]}, and set the maximum to {most}')
    if lms == "canvas":
        made.notes.append("Canvas knows a row by its login or its name only: --into an exported file is surer")
    write_whole(path, as_csv(table))
    return made


# Each is a table of these rows: marks has the final ones as they are to be written, of is what they are out of.
Marks = Mapping[str, Any]


def canvas(title: str, asked: Sequence[Asked], rows: Sequence[Row], marks: Marks, of: Any) -> Table:
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    made: Table = [head, ["    Points Possible", "", "", "", "", of]]
    for row in rows:
        name = ", ".join(filter(None, (row.last_name, row.first_name))) or row.student
        made.append([name, "", "", row.student, "", marks[row.student]])
    return made


def moodle(title: str, asked: Sequence[Asked], rows: Sequence[Row], marks: Marks, of: Any) -> Table:
    """A column with a gap is left out, because Moodle would match such a row to the one above."""
    about = {"Username": "student", "First name": "first_name", "Last name": "last_name", "Email address": "email"}
    whole = [name for name in about if name != "Email address" or all(row.email for row in rows)]
    return [[*whole, title], *([*(getattr(row, about[name]) for name in whole), marks[row.student]] for row in rows)]


def gradescope(title: str, asked: Sequence[Asked], rows: Sequence[Row], marks: Marks, of: Any) -> Table:
    """The columns of Gradescope's own list of marks."""
    head = ["First Name", "Last Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission ID"]
    questions = [f"{n}: {question.name} ({plain(question.of)} pts)" for n, question in enumerate(asked, 1)]
    made: Table = [[*head, "Submission Time", "Lateness (H:M:S)", *questions]]
    for row in rows:
        status = "Graded" if row.student in marks else "Missing" if row.score is None else "Ungraded"
        minutes, seconds = divmod(round(row.late), 60)
        late = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
        about = [row.first_name, row.last_name, row.student, row.email, marks.get(row.student), of, status]
        made.append([*about, "", "", late, *(plain(row.questions[question.name]) for question in asked)])
    return made


LMS = {"canvas": canvas, "moodle": moodle, "gradescope": gradescope}


def _scale(of: float, out_of: float | None) -> float:
    return (out_of or of) / of if of else 1.0


# --- a file that was exported, filled in ------------------------------------------------------------------


def fill(
    course: Course, exported: Path, path: Path, title: str, of: float, rows: Sequence[Row], out_of: float | None = None
) -> Filled:
    """Write a copy of an exported file with the marks in it. title: of the column. out_of: the maximum to which marks
    are scaled. Raises ValueError, with a message, if the column or its maximum does not fit."""
    sheet = read_sheet(exported)
    raw, form = read_as_written(exported)
    lines = dict(raw)
    place = _column(exported.name, sheet, title)
    made = Filled(path, sheet.headings[place])
    owners, made.left = _owners(course, sheet)
    _check_maximum(exported.name, sheet, place, of, out_of)
    cells = [cell for row in lines.values() for cell in row]  # do the file's own numbers have a comma?
    commas, dots = (any(re.fullmatch(rf"\d+{mark}\d+", cell) for cell in cells) for mark in (",", r"\."))
    comma = form.separator != "," and commas and not dots
    marks = {row.student: mark * _scale(of, out_of) for row in rows if (mark := final(row)) is not None}
    for number, student in owners.items():
        if student not in marks:
            continue
        row, mark = lines[number], marks[student]
        row += [""] * (place + 1 - len(row))
        before, words = row[place].strip(), f"{plain(mark)}"
        had = mark if before in ABSENT else _number(before)
        if had is None:
            made.left.append(f"{student}: there is {shown(before, 20)!r} in the file, which stays")
            continue
        if abs(had - mark) >= 0.005:  # as Canvas compares them
            made.replaced.append(student)
        row[place] = words.replace(".", ",") if comma else words
        made.marks += 1
    made.absent = sorted(marks.keys() - {*owners.values()})
    made.without = sorted(row.student for row in rows if row.student not in marks)
    write_whole(path, form.write(row for _, row in raw))
    return made


def _column(name: str, sheet: Sheet, title: str) -> int:
    of_worksheet = any(heading(each).startswith(WORKSHEET) for each in sheet.headings)
    if of_worksheet and (place := sheet.column(*WORDS["worksheet"]["mark"])) is not None:
        return place
    found = [n for n, each in enumerate(sheet.headings) if _bare(title) in (_bare(each), heading(each))]
    if len(found) == 1:
        return found[0]
    fixed = set(columns_of(sheet).values())
    others = ", ".join(repr(each) for n, each in enumerate(sheet.headings) if each and n not in fixed)
    raise ValueError(
        f"{name} has no column that is certainly {title!r}. Say which: --column NAME, one of {others or 'none'}"
    )


def _bare(title: str) -> str:
    """A column's title without the additions of the systems: Canvas's number, Moodle's kind of activity and of
    display."""
    title = re.sub(r"\s*\((\d+|Real|Punkte|Brut|Real\w*)\)\s*$", "", title.strip())
    return heading(re.sub(r"^(Assignment|Aufgabe|Devoir|Tarea):", "", title))


def _owners(course: Course, sheet: Sheet) -> tuple[dict[int, str], list[str]]:
    """The student of each line, and the lines that cannot be matched with certainty."""
    with course.gradebook() as gradebook:
        names = Names(people_of(gradebook))
    columns = columns_of(sheet)
    found: dict[int, tuple[str, bool]] = {}  # by line: the student, and whether by more than the name
    left = []
    for number, row in sheet.rows:
        line = line_of(number, row, columns)
        name = line["name"] or f"{line['first']} {line['last']}".strip()
        if (not name and not any(line[way] for way in WAYS)) or "points possible" in heading(row[0]):
            continue
        certain = names.find("", [line[way] for way in (*WAYS, "lms")]).ids
        ids = certain or names.find(name).ids
        if len(ids) == 1:
            found[number] = ids[0], bool(certain)
        else:
            left.append(f"{line.shown}: {'several could be meant' if ids else 'not in the gradebook'}")
    surely = {student for student, sure in found.values() if sure}
    owners: dict[int, str] = {}
    twice = Counter(student for student, sure in found.values() if sure or student not in surely)
    for number, (student, sure) in found.items():
        if not sure and student in surely:  # who is called like another gets nothing of theirs
            left.append(f"line {number}: only the name is that of {student}, who is in another line")
        elif twice[student] > 1:
            left.append(f"line {number}: {student} is found in more than one line")
        else:
            owners[number] = student
    return owners, left


def _check_maximum(name: str, sheet: Sheet, place: int, of: float, out_of: float | None) -> None:
    """The maximum stated in the file must be that of the marks."""
    said = [row[place] for _, row in sheet.rows if "points possible" in heading(row[0])]
    most = sheet.column(*WORDS["worksheet"]["maximum"])
    said += [row[most] for _, row in sheet.rows] if most is not None else []
    there = next((value for text in said if (value := _number(text)) is not None), None)
    if there is not None and abs(there - (out_of or of)) >= 0.005:
        raise ValueError(
            f"{name} says that {sheet.headings[place]!r} is out of {plain(there)} points, and these marks are out of"
            f" {plain(out_of or of)}. Change the maximum there and export again, or scale the marks:"
            f" --out-of {plain(there)}"
        )


def _number(text: str) -> float | None:
    """As these systems read a number: the last point or comma is the decimal one."""
    if not re.fullmatch(r"-?[\d.,]+", text.strip()) or not re.search(r"\d", text):
        return None
    whole, _, part = text.strip().replace(",", ".").rpartition(".")
    return float(f"{whole.replace('.', '')}.{part}" if whole else part or text)
