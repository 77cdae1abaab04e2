"""Times as learning management systems write them, and lists that identify the students in a download, with times."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.intake.naming import Names, joined
from autograder.intake.roster import WORKSHEET, column
from autograder.intake.spreadsheet import WORDS, Sheet, plain, read_sheet
from autograder.preflight.finding import shown

MONTHS = [names.split() for names in WORDS["dates"]["months"]]
NAME = ("name", "in the download", "download", "file", "folder")
STUDENT = ("student", "id", "student id")
TIME = ("time", "when", "submitted", "submitted at", "timestamp")
SUBMISSION = WORDS["worksheet"]["submission"]
NOBODY = "-"  # in a list of pairs: leave this one out


def moment(text: str) -> datetime | None:
    """The time in `text`, in this machine's zone if it names none; None if it has no time."""
    try:
        return datetime.fromisoformat(text.strip().removesuffix(" UTC") + ("+00:00" if text.endswith(" UTC") else ""))
    except ValueError:
        pass
    words = plain(text).split()
    month = next((n for n, names in enumerate(MONTHS, 1) for word in words if word in names), None)
    clock = re.search(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap]\.?m)?", text, re.I)
    year = re.search(r"\b20\d\d\b", text)
    if clock is None or year is None:
        return None
    rest = text.replace(clock[0], " ").replace(year[0], " ")
    days = [int(number) for number in re.findall(r"\d+", rest)]
    hour = int(clock[1]) % 12 + 12 * (clock[4][0].lower() == "p") if clock[4] else int(clock[1])
    try:
        if month is None and len(days) == 2 and "." in rest:  # 21.11.2026
            day, month = days
        elif month is not None and len(days) == 1:
            day = days[0]
        else:
            return None
        return datetime(int(year[0]), month, day, hour, int(clock[2]), int(clock[3] or 0))
    except ValueError:
        return None


def in_utc(when: datetime) -> datetime:
    """The same moment in UTC; a time without a zone is this machine's."""
    return when.astimezone(UTC)


@dataclass(frozen=True)
class Known:
    """What a list says about one name in a download."""

    students: tuple[str, ...]  # several: they have handed in together; none: nobody, leave it out
    when: datetime | None = None
    called: str = ""  # by a number that is for one assignment alone: what a name is replaced by, if names are hidden


def read_pairs(path: Path, names: Names) -> tuple[dict[str, Known], list[str]]:
    """The content of a list, by the names in a download, joined; and messages about the lines that could not be used.
    The list is Moodle's grading worksheet, or lines NAME,STUDENT or NAME,STUDENT,TIME. Raises ValueError for anything
    else."""
    sheet = read_sheet(path)
    trouble: list[str] = []
    if any(plain(heading).startswith(WORKSHEET) for heading in sheet.headings):
        return dict(_worksheet(sheet, names, trouble, path.name)), trouble
    found: dict[str, Known] = {}
    for number, name, student, time in _pairs(sheet):
        if not joined(name):
            continue
        if student != NOBODY and student not in names.people:
            raise ValueError(f"{path.name}, line {number}: {shown(student, 40)!r} is no student in the gradebook")
        when = moment(time) if time else None
        if time and when is None:
            raise ValueError(f"{path.name}, line {number}: {shown(time, 40)!r} is no time; write 2026-11-21 23:58")
        before = found.get(joined(name), Known(()))
        more = () if student == NOBODY or student in before.students else (student,)
        found[joined(name)] = Known((*before.students, *more), when or before.when)
    return found, trouble


def _pairs(sheet: Sheet) -> Iterator[tuple[int, str, str, str]]:
    name, student, time = (sheet.column(*names) for names in (NAME, STUDENT, TIME))
    rows = sheet.rows
    if student is None:  # no headings: the first line is a pair too
        name, student, time, rows = 0, 1, 2, [(1, sheet.headings), *rows]
    if len(sheet.headings) < 2:
        raise ValueError("a list of who is who has lines NAME,STUDENT: the name in the download, and the student's id")
    for number, row in rows:
        yield number, row[student if name is None else name], row[student], _at(row, time)


def _at(row: list[str], place: int | None) -> str:
    return row[place] if place is not None and place < len(row) else ""


def _worksheet(sheet: Sheet, names: Names, trouble: list[str], file: str) -> Iterator[tuple[str, Known]]:
    """Its first column is "Participant 4711", and 4711 occurs in the name of that participant's folder in the
    download."""
    place = {name: column(sheet, name) for name in ("name", "email", "number", "login")}
    modified = [(n, plain(heading)) for n, heading in enumerate(sheet.headings) if plain(heading).startswith(WORKSHEET)]
    times = [n for n, heading in modified if any(word in heading for word in SUBMISSION)]
    unread = 0
    for number, row in sheet.rows:
        own = re.search(r"(\d+)$", row[0])
        if own is None:
            continue
        values: Mapping[str, str] = {name: _at(row, n) for name, n in place.items()}
        found = names.find(values["name"], [values["login"], values["email"], values["number"]])
        said = row[times[0]] if times else ""
        when = moment(said) if said.strip("-") else None
        unread += bool(said.strip("-")) and when is None
        if len(found.ids) == 1:
            yield own[1], Known(found.ids, when, called=joined(row[0].removesuffix(own[1])) or "?")
        elif when is not None:
            trouble.append(f"{file}, line {number}: {shown(values['name'] or row[0], 40)} is nobody in the gradebook")
    if unread:
        trouble.append(f"{file}: {unread} times are written in a way that is not known, and were left out")
