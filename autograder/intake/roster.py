"""A class list -> nbgrader's gradebook: columns are recognised by their headings, whatever system wrote them.

Nobody is ever removed, and data missing from a file are kept. So a list may be read again, and lists of several systems
may be read in turn: a student is recognised by id, otherwise by address, otherwise by the number of the system.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, Student

from autograder.grading.course import Course
from autograder.grading.database import patiently
from autograder.intake.naming import Names, Person, spellings
from autograder.intake.spreadsheet import WORDS, Sheet, plain, read_sheet
from autograder.preflight.finding import listed, shown

HEADINGS: dict[str, list[str]] = WORDS["headings"]
CANVAS = ("sis login id", "sis user id")  # beside them "Student" is a name, and "ID" Canvas's own number
WORKSHEET = tuple(WORDS["worksheet"]["times"])
STAFF = re.compile(
    "instructor|teacher|assistant|reader|tutor|trainer|lehr|dozent|manager|observer|enseignant|profesor|designer|owner"
    "|leitung|grader|beobachter"
)
WAYS = ("id", "login", "number", "email")  # what ids are taken from: the first that everybody has
UNFIT = set('/\\+*?:"<>|')  # in an id: it is a folder's name, and nbgrader's exchange divides names at a "+"


@dataclass(frozen=True)
class Line:
    """A row of the file: its values by field."""

    number: int
    values: dict[str, str]

    def __getitem__(self, field_: str) -> str:
        return self.values.get(field_, "")

    @property
    def shown(self) -> str:
        name = f"{self['first']} {self['last']}".strip() or self["email"] or self["login"] or "nobody"
        return f"line {self.number} ({shown(name, 40)})"


@dataclass
class Changes:
    """The changes a list has made to the gradebook, or would make."""

    way: str = ""  # in words: where ids come from
    added: list[str] = field(default_factory=list)
    changed: list[tuple[str, str]] = field(default_factory=list)  # (id, what)
    same: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)  # (who, why)
    absent: list[str] = field(default_factory=list)  # in the gradebook, and not in the file


def read_roster(path: Path, id_column: str | None = None) -> tuple[list[Person], Changes]:
    """The people in a file, and the rows that were left out. Raises ValueError, with a message, if the file is not a
    list of people."""
    sheet = read_sheet(path)
    columns = columns_of(sheet)
    if id_column is not None:
        chosen = sheet.column(plain(id_column))
        if chosen is None:
            raise ValueError(f"{path.name} has no column {id_column!r}; it has {', '.join(sheet.headings)}")
        columns["id"] = chosen
    if not any(way in columns for way in WAYS):
        raise ValueError(
            f"{path.name} has no column that tells students apart: none is called like a user name, a number or an"
            f" e-mail address. Its columns: {', '.join(filter(None, sheet.headings))}. Say which: --id COLUMN"
        )
    made = Changes()
    lines = [line_of(number, row, columns) for number, row in sheet.rows]
    students = [line for line in lines if _is_student(line, made)]
    if not students:
        raise ValueError(f"{path.name} has headings and no students below them")
    way = "id" if id_column else _way(students)
    made.way = f'ids are from the column "{sheet.headings[columns[way]]}"' + (
        ", the part before the @" if way == "email" else ""
    )
    return _people(students, way, made), made


def column(sheet: Sheet, name: str) -> int | None:
    """The column of a field of `HEADINGS`."""
    return sheet.column(*HEADINGS[name])


def columns_of(sheet: Sheet) -> dict[str, int]:
    found = {name: place for name in HEADINGS if (place := column(sheet, name)) is not None}
    if sheet.column(*CANVAS) is not None:
        for name, heading in (("name", "student"), ("lms", "id")):
            place = sheet.column(heading)
            if place is not None:
                found[name] = place
        found.pop("id", None)
    elif any(plain(heading).startswith(WORKSHEET) for heading in sheet.headings):
        found.pop("id", None)  # "Participant 4711": Moodle's number for one assignment
    elif "name" not in found and "first" not in found and sheet.column("student") is not None and len(found) > 1:
        place = sheet.column("student")
        if found.get("id") == place:  # "Student, Email": a name, as an id would have names beside it
            found.pop("id")
            found["name"] = place or 0
    if "first" in found and "last" not in found and "name" in found:  # "Name, Vorname, …"
        found["last"] = found.pop("name")
    return found


def line_of(number: int, row: list[str], columns: dict[str, int]) -> Line:
    values = {name: row[place] for name, place in columns.items()}
    if values.get("name") and not (values.get("first") or values.get("last")):
        last, comma, first = values["name"].partition(",")
        if not comma:
            first, _, last = values["name"].rpartition(" ")
        values |= {"first": first.strip(), "last": last.strip()}
    if "@" in values.get("login", "") and not values.get("email"):
        values["email"] = values["login"]
    return Line(number, values)


def _is_student(line: Line, made: Changes) -> bool:
    name = plain(line["name"])
    if not any(line[way] for way in WAYS) and (not name or name == "points possible"):
        return False  # an empty row, or Canvas's second heading
    if name in ("student test", "test student"):
        made.left_out.append((line.shown, "Canvas's student for trying things out"))
        return False
    role = plain(line["role"])
    if role == "ta" or STAFF.search(role):
        made.left_out.append((line.shown, f"is no student, but {shown(line['role'], 40)}"))
        return False
    return True


def _way(lines: Sequence[Line]) -> str:
    counts = {way: sum(bool(line[way]) for line in lines) for way in WAYS}
    return max(WAYS, key=lambda way: (counts[way] == len(lines), counts[way]))


def _people(lines: Sequence[Line], way: str, made: Changes) -> list[Person]:
    local = Counter(line["email"].partition("@")[0].casefold() for line in lines)
    found: dict[str, tuple[Line, Person]] = {}
    for line in lines:
        name = line[way]
        if way == "email" and local[name.partition("@")[0].casefold()] == 1:
            name = name.partition("@")[0]
        why = _unfit(name)
        if why:
            made.left_out.append((line.shown, why))
            continue
        about = {field_: line[field_] for field_ in ("first", "last", "email", "lms")}
        person = Person(id=name, **about, number=line["number"] if way != "number" else "")
        if name.casefold() in found:
            before, other = found[name.casefold()]
            if other != person:
                made.left_out.append((line.shown, f"has the id {name!r} of line {before.number}, which counts"))
            continue
        found[name.casefold()] = (line, person)
    return [person for _, person in found.values()]


def _unfit(name: str) -> str:
    if not name:
        return "has nothing in the column that ids are taken from"
    if name.startswith(".") or not name.isprintable() or len(name) > 128 or set(name) & UNFIT:
        return f"{shown(name, 40)!r} cannot be an id: it has to be a folder's name. Take another column: --id COLUMN"
    return ""


# --- the gradebook ------------------------------------------------------------------------------------------


def people_of(gradebook: Any) -> list[Person]:
    """The class, as the gradebook has it."""
    return [
        Person(
            id=student.id,
            first=student.first_name or "",
            last=student.last_name or "",
            email=student.email or "",
            lms=student.lms_user_id or "",
        )
        for student in gradebook.students
    ]


def enrol(course: Course, people: Sequence[Person], made: Changes, write: bool = True) -> Changes:
    """Put people into the gradebook, all or none; `made` is filled. Raises GradebookBusy."""

    def work(gradebook: Gradebook) -> None:
        made.added, made.changed, made.same = [], [], 0
        before = {person.id: person for person in people_of(gradebook)}
        seen = set()
        for person, old, why in _matched(people, before):
            if why:
                made.left_out.append((person.shown, why))
            elif old is None:
                made.added.append(person.shown)
                about = {"first_name": person.first, "last_name": person.last, "email": person.email}
                gradebook.db.add(Student(id=person.id, lms_user_id=person.lms or person.number or None, **about))
            else:
                seen.add(old.id)
                new = _merged(old, person)
                if new == old:
                    made.same += 1
                    continue
                made.changed.append((old.id, _difference(old, new)))
                row = gradebook.db.get(Student, old.id)
                row.first_name, row.last_name, row.email = new.first, new.last, new.email
                row.lms_user_id = new.lms or None
        made.absent = sorted(before[name].shown for name in before.keys() - seen)
        if write:
            gradebook.db.commit()
        else:
            gradebook.db.rollback()

    with course.gradebook() as gradebook:
        patiently(gradebook, lambda: work(gradebook))
    return made


def _matched(people: Sequence[Person], before: dict[str, Person]) -> list[tuple[Person, Person | None, str]]:
    """(person, the student in the gradebook, why that is not certain)."""
    names = Names(before.values())
    by_case = {name.casefold(): name for name in before}
    made: list[tuple[Person, Person | None, str]] = []
    taken: dict[str, Person] = {}
    for person in people:
        there = by_case.get(person.id.casefold())
        if there is None:
            ids = set(names.find(numbers=[person.email]).ids) or _by_number(names, person)
            if len(ids) > 1:
                who = listed(sorted(ids))
                made.append((person, None, f"has the address or number of several in the gradebook: {who}"))
                continue
            there = next(iter(ids), None)
        elif person.email != before[there].email and (other := set(names.find(numbers=[person.email]).ids) - {there}):
            made.append((person, None, f"has the address of {listed(sorted(other))}"))
            continue
        if there is not None and there in taken:
            made.append((person, None, f"would be {there}, as {taken[there].shown} is"))
            continue
        if there is not None:
            taken[there] = person
        made.append((person, before[there] if there is not None else None, ""))
    return made


def _by_number(names: Names, person: Person) -> set[str]:
    """The student with this number and last name, because the numbers of two systems may coincide."""
    ids = {i for number in (person.lms, person.number) for i in names.find(numbers=[number]).ids}
    return {i for i in ids if set(spellings(names.people[i].last)) & set(spellings(person.last))}


def _merged(old: Person, new: Person) -> Person:
    given = {name: value for name in ("first", "last", "email", "lms") if (value := getattr(new, name))}
    return replace(old, **{"lms": old.lms or new.number, **given})


def _difference(old: Person, new: Person) -> str:
    words = {"first": "first name", "last": "last name", "email": "e-mail", "lms": "number in the LMS"}
    return ", ".join(
        f"{said} {shown(getattr(old, name), 40) or 'empty'} → {shown(getattr(new, name), 40)}"
        for name, said in words.items()
        if getattr(old, name) != getattr(new, name)
    )


def class_without(course: Course, assignment: str) -> list[Person]:
    """Everybody in the gradebook, and those of them who have handed in nothing."""
    there = set(course.students(assignment))
    with course.gradebook() as gradebook:
        return sorted((one for one in people_of(gradebook) if one.id not in there), key=lambda one: one.id)
