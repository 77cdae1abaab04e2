"""A new semester in the same checkout: what belongs to a class goes into a backup, what belongs to the course stays.

A crash at any moment loses nothing, and the same call goes on. First the backup is written and compared with the
course, and what the new semester begins with is made in `.new-semester/`; then a plan is written there. From then on
the old files are moved there, and each is deleted only if the backup has it to the byte. What is left stays, and is
named.
"""

import os
import re
import shutil
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from pathlib import Path

from autograder.files import for_owner_alone, read_json, write_json
from autograder.grading import deadlines, log, markers, records, rubric
from autograder.grading.byhand import answers_to
from autograder.grading.course import Course
from autograder.grading.keeping import JOURNALS, folders, gradebook_of, passing, same, same_marks, save, unlike
from autograder.instructor.rows import questions_asked, report_rows
from autograder.intake.exchange import STUDENTS
from autograder.intake.place import free

ROOM, PLAN = ".new-semester", "plan.json"
STAYS = ("markers.json", "lti.pem", ".exchange", STUDENTS, f"*/{rubric.FILE}")  # of grading/
OF_THE_CLASS = ("grade", "comment", "submitted_notebook", "submitted_assignment", "student")  # tables
OPEN = {"waiting": "to be marked", "fault": "not graded by the grader's fault", "blocked": "not gradable"}
MANY = 3  # students who got a comment in the same words, so that it may be of use again


@dataclass(kw_only=True)
class Change:
    """From one semester to the next: the plan, and then what was done."""

    backup: str
    students: int = 0
    submissions: int = 0
    assignments: list[str] = field(default_factory=list)
    schemes: int = 0  # questions whose items were kept
    comments: int = 0
    markers: list[str] = field(default_factory=list)
    moved: bool = False  # the old files, all of them
    left: list[str] = field(default_factory=list)  # old files that the backup has not


def open_ends(course: Course) -> Iterator[str]:
    """Why the semester is not over, a line for each assignment."""
    with course.gradebook() as gradebook:
        names = [each.name for each in gradebook.assignments if each.notebooks]
        if gradebook.students and not any(map(course.students, names)):
            yield "nothing was handed in"
    for name, when in deadlines.due_dates(course).items():
        if when is not None and when > datetime.now().astimezone():
            yield f"{name}: due on {when:%A}, {when.day} {when:%B %Y}"
    for name in names:
        found = Counter[str]()
        marked = {one.student: one.when for one in log.entries(course.root, name) if not one.second}
        for row in report_rows(course, name):
            if row.state not in ("graded", "nothing handed in"):
                found[OPEN.get(row.state, row.state)] += 1
            elif row.stale:
                found["graded before the assignment changed"] += 1
            elif row.state == "graded" and not _returned(course, name, row.student, marked.get(row.student, "")):
                found["without a feedback page of these marks"] += 1
        if found:
            yield f"{name}: {', '.join(f'{many} {what}' for what, many in found.items())}"


def _returned(course: Course, assignment: str, student: str, marked: str) -> bool:
    """Whether the student's pages are newer than the marks."""
    about = course.directory
    pages = Path(about.format_path(about.feedback_directory, student, assignment)).glob("*.html")
    record = records.record_file(course.root, assignment, student)
    graded = record.stat().st_mtime if record.is_file() else 0.0
    by_hand = datetime.fromisoformat(marked).timestamp() if marked else 0.0
    return max((page.stat().st_mtime for page in pages), default=-1.0) >= max(graded, by_hand)


def begun(course: Course) -> Change | None:
    """A change that was interrupted after its backup."""
    plan = read_json(course.root / ROOM / PLAN, "begin again")
    return Change(**plan) if plan else None


def begin(course: Course, backup: Path) -> None:
    """Write the backup, or take one that is equal to the course, and prepare the new semester; the course itself does
    not change. Raises ValueError, AlreadyRunning, OSError."""
    room, book = course.root / ROOM, gradebook_of(course)
    if book is None:
        raise ValueError(
            "the gradebook is on a server, so it would be in no backup of ours. Keep it there, put the URL of a new"
            " database into course_config.py of a fresh checkout, and go on in that"
        )
    if (away := _beside(book, "old")).exists():
        raise ValueError(f"{away} is a gradebook of an earlier semester that no backup has: move it away first")
    shutil.rmtree(room, ignore_errors=True)
    if not backup.exists():
        save(course, backup, feedback=True)
    if other := unlike(course, backup):
        raise ValueError(f"{backup} is not what the course has now ({other[0]} differs): give another name")
    room.mkdir(mode=0o700)
    made = Change(backup=str(backup.resolve()), markers=[*markers.shares(course.root)])
    for path in (one for pattern in STAYS for one in sorted((course.root / "grading").glob(pattern))):
        target = room / "new" / path.relative_to(course.root / "grading")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        made.schemes += len(read_json(path, "change the items again")) * (path.name == rubric.FILE)
    _empty(book, made)
    for assignment in made.assignments:
        if said := _comments(course, assignment):
            write_json(room / "new" / assignment / rubric.COMMENTS, said)
            made.comments += sum(map(len, said.values()))
    write_json(room / PLAN, asdict(made))


def _empty(book: Path, made: Change) -> None:
    """A gradebook with the assignments as they were released, and nobody in it, nor any trace of one in its file."""
    target = _beside(book, "new")
    target.unlink(missing_ok=True)
    for_owner_alone(target)
    with closing(sqlite3.connect(book)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        made.students, made.submissions = (
            new.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("student", "submitted_assignment")
        )
        released = "SELECT name FROM assignment WHERE id IN (SELECT assignment_id FROM notebook) ORDER BY name"
        made.assignments = [name for (name,) in new.execute(released)]
        for table in OF_THE_CLASS:
            new.execute(f"DELETE FROM {table}")
        new.execute("UPDATE assignment SET duedate = NULL")
        new.commit()
        new.execute("VACUUM")


def _beside(book: Path, what: str) -> Path:
    return book.with_name(f".{book.name}.{what}")


def _comments(course: Course, assignment: str) -> dict[str, list[str]]:
    """By question, what several students were told in the same words, the most frequent first, and what earlier classes
    were told; nothing with a name of the class in it."""
    found = rubric.comments(course.root, assignment)
    with course.gradebook() as gradebook:
        people = (f"{each.id} {each.first_name or ''} {each.last_name or ''}" for each in gradebook.students)
        names = set[str]().union(*map(_words, people))
        for asked in (one for one in questions_asked(course, assignment) if one.by_hand):
            given = answers_to(gradebook, assignment, asked.notebook, asked.cell)
            said = Counter(one.words for one in given if one.words and not names & _words(one.words))
            place = f"{asked.notebook}/{asked.cell}"
            often = [words for words, many in said.most_common() if many >= MANY]
            found[place] = [*dict.fromkeys([*often, *found.get(place, [])])][: rubric.MOST]
    return {place: words for place, words in found.items() if words}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w+", text)}


def go_on(course: Course) -> Change:
    """Do what the plan says. Raises ValueError, and then changes nothing, if marks have changed since the backup."""
    room, made, book = course.root / ROOM, begun(course), gradebook_of(course)
    assert made is not None
    assert book is not None
    old, backup = room / "old", Path(made.backup)
    if not backup.is_file():
        raise ValueError(f"there is no {backup} any more: put it back, then run the same command again")
    with zipfile.ZipFile(backup) as kept:
        if not made.moved:
            _move(course, book, kept)
            made.moved = True
            write_json(room / PLAN, asdict(made))
        for path in sorted(old.rglob("*"), reverse=True):  # what lies in a folder before the folder
            name = path.relative_to(old)
            if path.is_dir() and not path.is_symlink():
                with suppress(OSError):
                    path.rmdir()
            elif passing(name) or (not path.is_symlink() and same(kept, name.as_posix(), path)):
                path.unlink()
        if same_marks(kept, _beside(book, "old")):
            _rename(_beside(book, "old"), None)
    made.left = [path.relative_to(old).as_posix() for path in sorted(old.rglob("*")) if not path.is_dir()]
    if made.left:
        place = old.rename(free(course.root / f"left-over-{date.today().isoformat()}"))
        made.left = [f"{place.name}/{name}" for name in made.left]
    if (away := _beside(book, "old")).exists():
        made.left.append(away.name)
    shutil.rmtree(room)
    return made


def _move(course: Course, book: Path, kept: zipfile.ZipFile) -> None:
    """The old files out of the way, and the new ones into their places; what is done is not done again."""
    room, away, empty = course.root / ROOM, _beside(book, "old"), _beside(book, "new")
    if empty.exists():
        if not away.exists():
            _rename(book, away)
        if not same_marks(kept, away):
            _rename(away, book)
            shutil.rmtree(room)
            raise ValueError("marks have changed since the backup was written. Nothing was changed: begin again")
        if book.exists():
            raise ValueError(f"{book} was made while this was interrupted: move it away, then run this again")
        empty.rename(book)
    moves = [(course.root / top, room / "old" / top) for top in folders(course, True)]
    new = (path for path in sorted((room / "new").rglob("*")) if path.is_file())
    moves += [(path, course.root / "grading" / path.relative_to(room / "new")) for path in new]
    for path, target in moves:
        if path.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)


def _rename(book: Path, target: Path | None) -> None:
    """A gradebook with its journals; None: delete it."""
    for end in JOURNALS:
        path = book.with_name(book.name + end)
        if target is None:
            path.unlink(missing_ok=True)
        elif path.exists():
            path.rename(target.with_name(target.name + end))
