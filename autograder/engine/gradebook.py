"""Marks go into nbgrader's gradebook here, by its own rules, and by one writer.

The same as nbgrader's SaveAutoGrades and AssignLatePenalties, but one transaction per submission, the student and all
marks included: a mark that a human gave stays, and is flagged for a second look if the answer has changed; an untouched
answer is "No response."; a late submission is penalised by the course's own plugin. A process that dies leaves the old
marks or the new ones, never a mixture.
"""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from nbgrader import utils
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import selectinload

PATIENCE = 60.0  # seconds to wait for a gradebook that somebody else has locked

Scores = dict[str, dict[str, float | None]]  # by notebook and cell: the automatic marks; None is no mark
Same = Mapping[str, Collection[str]]  # by notebook: the cells whose answer is what it was at the last grading
T = TypeVar("T")


UNMARKED = "nlm-unmarked"
"""In a graded cell's metadata: there is no automatic mark, and a person is asked for one."""


class GradebookFault(Exception):  # noqa: N818 - said to the instructor
    """The gradebook cannot be used. The text says why, and what to do."""


class GradebookBusy(GradebookFault):
    """Another program keeps the gradebook locked, or its server cannot be reached."""


AGAIN = "then run the same command again; what is done stays done"
FAULTS = (
    (("fatal:",), "its server does not let you in. See the user, the password and the name in its URL"),
    (("locked", "busy"), f"another program keeps it locked. Close what uses it (formgrader, another run), {AGAIN}"),
    (("is full", "no space left", "disk full"), f"the disk is full. Make room on it, {AGAIN}"),
    (("disk i/o",), f"its disk cannot be read or written. Is it full, or a folder of the network? Mend that, {AGAIN}"),
    (
        ("not a database", "malformed", "corrupt", "could not decode"),
        "it is damaged, or no database. Put back a copy of it. If there is none, move it away: `build` makes a new one,"
        " and `grade ASSIGNMENT --again` gives all automatic marks again; marks given by hand were in it alone",
    ),
    (
        ("readonly", "read-only", "unable to open", "permission denied"),
        "it cannot be written. It and its folder must belong to you, on a disk that can be written",
    ),
    (
        ("no such column", "no such table", "has no column", "does not exist"),
        "it was made by another version of nbgrader, or is not nbgrader's. For an older one: nbgrader db upgrade, which"
        " keeps a copy",
    ),
    (
        ("connect", "server closed", "could not translate", "timeout", "terminat"),
        f"its server cannot be reached. See that it runs and that its name is right, {AGAIN}",
    ),
    (("parse", "can't load plugin"), "its URL names no database: sqlite:///FILE, or postgresql://USER@HOST/NAME"),
    (("no module named",), "its driver is not installed: python -m pip install psycopg2-binary"),
)
"""What is in the message of a database, in small letters; and what it means for the instructor."""


@contextmanager
def opened(url: str, course: str) -> Iterator[Any]:
    """nbgrader's Gradebook. What its database has against it, then or while it is used, is a GradebookFault."""
    _must_be_nbgraders(url)
    try:
        gradebook = Gradebook(url, course)
    except (SQLAlchemyError, ImportError) as error:
        raise _fault(error, url) from error
    try:
        yield gradebook
    except SQLAlchemyError as error:
        raise _fault(error, url) from error
    finally:
        gradebook.close()


def _must_be_nbgraders(url: str) -> None:
    """Gradebook makes its tables in whatever database it is given; so not in one of another program's."""
    path = url.removeprefix("sqlite:///")
    if path == url or not os.path.isfile(path):
        return
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", 0.1, uri=True)) as book:
        names = {name for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if names and "assignment" not in names:
            raise GradebookFault(
                f"{path} is a database of another program, and no gradebook. The gradebook's own is named by"
                " c.CourseDirectory.db_url in nbgrader_config.py, or by --db"
            )


def _fault(error: Exception, url: str) -> GradebookFault:
    said = " ".join(str(error).split("\n[SQL:")[0].split())
    said = said.partition(") ")[2] or said  # without the name of the driver's class
    why = next((words for signs, words in FAULTS if any(sign in said.lower() for sign in signs)), "it cannot be used")
    made = GradebookBusy if _passes(error) else GradebookFault
    place = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", url).removeprefix("sqlite:///")
    return made(f"the gradebook {place}: {why} ({said[:200]})")


def save_marks(
    gradebook: Any,
    student: str,
    assignment: str,
    notebooks: Mapping[str, Any],
    timestamp: str | None,
    config: Any,
    same: Same | None = None,
    patience: float | None = None,
) -> Scores:
    """Write a submission's marks, and say which; `notebooks` are graded, by name. Those of the assignment that are not
    among them stay without a mark and ask for a human. Raises GradebookBusy if it cannot be written."""

    def work() -> Scores:
        return _save(gradebook, student, assignment, notebooks, timestamp, config, same or {})

    return patiently(gradebook, work, patience)


def patiently(gradebook: Any, work: Callable[[], T], patience: float | None = None) -> T:
    """`work`, a transaction, again and again until the gradebook can be written. Raises GradebookBusy."""
    until = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        try:
            return work()
        except (OperationalError, IntegrityError) as error:
            gradebook.db.rollback()
            if not _passes(error):
                raise
            if time.monotonic() > until:
                raise _fault(error, str(gradebook.engine.url)) from error
            time.sleep(0.5)


def _passes(error: Exception) -> bool:
    said = str(error).lower()  # an IntegrityError: another program has just made the same student
    return isinstance(error, IntegrityError) or any(
        words in said for words in ("locked", "connection", "connect to server", "deadlock")
    )


def _save(
    gradebook: Any,
    student: str,
    assignment: str,
    notebooks: Mapping[str, Any],
    timestamp: str | None,
    config: Any,
    same: Same,
) -> Scores:
    about = gradebook.find_assignment(assignment)
    shape = _shape(gradebook.db, about)
    submission = _submission(gradebook.db, about, student, shape)
    if timestamp:
        submission.timestamp = utils.parse_utc(timestamp)
    scores: Scores = {}
    for submitted in submission.notebooks:
        notebook, names = shape[submitted.notebook_id]
        cells = _named(notebooks.get(notebook))
        scores[notebook] = {}
        for grade in submitted.grades:
            name = names[grade.cell_id][0]
            cell = cells.get(name)
            confirmed = stays_confirmed(grade, name in same.get(notebook, ()))
            if cell is not None and not utils.is_grade(cell):
                grade.needs_manual_grade = not confirmed
                continue  # a task: a human's alone, and without an automatic mark
            unmarked = cell is None or cell.metadata.get(UNMARKED)
            grade.auto_score = None if unmarked else utils.determine_grade(cell)[0]
            by_hand = grade.manual_score is not None
            grade.needs_manual_grade = not confirmed if by_hand else grade.auto_score is None
            scores[notebook][name] = grade.auto_score
        for comment in submitted.comments:
            cell = cells.get(names[comment.cell_id][0])
            if cell is not None:
                untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
                comment.auto_comment = "No response." if untouched and not utils.is_task(cell) else None
    gradebook.db.flush()
    _penalise(gradebook, submission, shape, student, notebooks, config)
    gradebook.db.commit()
    return scores


def stays_confirmed(grade: Any, same: bool) -> bool:
    """Whether a mark that a human gave and confirmed needs no second look: only if the answer is what it was."""
    return grade.manual_score is not None and not grade.needs_manual_grade and same


Shape = dict[str, tuple[str, dict[str, tuple[str, str]]]]
"""Of an assignment, by ids: a notebook's name, and its cells' names and kinds."""


def _shape(db: Any, assignment: Any) -> Shape:
    rows = db.execute(
        select(Notebook.id, Notebook.name, BaseCell.id, BaseCell.name, BaseCell.type)
        .outerjoin(BaseCell, BaseCell.notebook_id == Notebook.id)
        .where(Notebook.assignment_id == assignment.id)
        .order_by(Notebook.name)
    )
    found: Shape = {}
    for notebook, name, cell, cell_name, kind in rows:
        cells = found.setdefault(notebook, (name, {}))[1]
        if cell is not None:
            cells[cell] = (cell_name, kind)
    return found


def _submission(db: Any, assignment: Any, student: str, shape: Shape) -> Any:
    """The submission with all that is below it, as it is there, or new: as nbgrader makes it, but not committed."""
    found = db.scalars(
        select(SubmittedAssignment)
        .where(SubmittedAssignment.assignment_id == assignment.id, SubmittedAssignment.student_id == student)
        .options(
            selectinload(SubmittedAssignment.notebooks).options(
                selectinload(SubmittedNotebook.grades), selectinload(SubmittedNotebook.comments)
            )
        )
    ).one_or_none()
    if found is not None:
        return found
    if db.get(Student, student) is None:
        db.add(Student(id=student))
        db.flush()  # the submission's key refers to it
    made = SubmittedAssignment(assignment=assignment, student_id=student)
    for notebook, (_, cells) in shape.items():
        submitted = SubmittedNotebook(notebook_id=notebook, assignment=made)
        for cell, (_, kind) in cells.items():
            if kind in ("GradeCell", "TaskCell"):
                Grade(cell_id=cell, notebook=submitted)
            if kind in ("SolutionCell", "TaskCell"):
                Comment(cell_id=cell, notebook=submitted)
    db.add(made)
    return made


def _named(notebook: Any) -> dict[str, Any]:
    cells = [] if notebook is None else notebook.cells
    return {cell.metadata.nbgrader["grade_id"]: cell for cell in cells if cell.metadata.get("nbgrader")}


def _penalise(
    gradebook: Any, submission: Any, shape: Shape, student: str, notebooks: Mapping[str, Any], config: Any
) -> None:
    late = submission.total_seconds_late
    for submitted in submission.notebooks:
        penalty = None
        if late > 0 and shape[submitted.notebook_id][0] in notebooks:
            gradebook.db.refresh(submitted)
            penalty = late_penalty(config, student, submitted.score, late)
        submitted.late_submission_penalty = penalty


def late_penalty(config: Any, student: str, score: float, late: float) -> float | None:
    """What the course's own plugin takes off a notebook's points, for so many seconds."""
    preprocessor = AssignLatePenalties(config=config)
    plugin = preprocessor.plugin_class(parent=preprocessor)
    penalty = plugin.late_submission_penalty(student, score, late)
    return None if penalty is None else min(max(0, penalty), score)


def automatic_marks(notebook: Any) -> dict[str, float | None]:
    """The automatic marks of a graded notebook, by cell, as nbgrader reads them; None is no mark."""
    return {name: utils.determine_grade(cell)[0] for name, cell in _named(notebook).items() if utils.is_grade(cell)}


class GradeRow(NamedTuple):
    student: str
    notebook: str
    cell: str
    kind: str  # GradeCell, or TaskCell: a human's alone
    auto: float | None
    manual: float | None
    extra: float | None
    waiting: bool
    penalty: float | None  # of the notebook, for being late


def grade_rows(gradebook: Any, assignment: str) -> Iterator[GradeRow]:
    """Every mark of everybody: one query for a class, not one per mark."""
    found = (
        gradebook.db.query(
            SubmittedAssignment.student_id,
            Notebook.name,
            BaseCell.name,
            BaseCell.type,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
            SubmittedNotebook.late_submission_penalty,
        )
        .select_from(Grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.name == assignment)
    )
    return (GradeRow(*row) for row in found)


def scores_of(gradebook: Any, assignment: str) -> dict[str, Scores]:
    """The automatic marks of everybody, as the gradebook has them: by student, notebook and cell."""
    found: dict[str, Scores] = {}
    for row in grade_rows(gradebook, assignment):
        if row.kind == "GradeCell":
            found.setdefault(row.student, {}).setdefault(row.notebook, {})[row.cell] = row.auto
    return found


MARKED_LATE_FILE = "marked_late.txt"  # from `collect`: it is late by the word of a system that does not say when
MARKED_LATE = "handed in late, by the LMS's own mark; it does not say when, so nothing was taken off"
NO_TIME = "its timestamp.txt holds no time: whether it was late is not known"


SECRET_FILE = "submission_secret.txt"  # nbgrader's: feedback is released under a name that only its student can know


def secret_of(folder: Path) -> str:
    """What nbgrader wrote when the submission was handed in through the exchange; else empty."""
    path = folder / SECRET_FILE
    if path.is_symlink() or not path.is_file():
        return ""
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read(1000).strip()


def timestamp_of(folder: Path) -> tuple[str | None, str]:
    """(what nbgrader wrote when it collected the submission, what is wrong with it); (None, "") if there is nothing."""
    path = folder / "timestamp.txt"
    if not path.exists():
        return None, MARKED_LATE if (folder / MARKED_LATE_FILE).is_file() else ""
    try:
        if path.is_symlink() or not path.is_file():
            raise ValueError("it is no plain file")
        with open(path, encoding="utf-8") as file:
            words = file.read(200).strip()
        if isinstance(utils.parse_utc(words), datetime):
            return words, ""
    except (OSError, ValueError, OverflowError):
        pass
    return None, NO_TIME
