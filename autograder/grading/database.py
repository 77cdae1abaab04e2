"""nbgrader's gradebook as a database: opening it, waiting for it, and explaining its faults."""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from nbgrader.api import Gradebook
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from autograder.files import for_owner_alone

PATIENCE = 60.0  # seconds to wait for a gradebook that somebody else has locked

T = TypeVar("T")


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
    (("no module named",), "its driver is not installed: .venv/bin/python -m pip install psycopg2-binary"),
)
"""Parts of a database's messages, in lower case, and what they mean for the instructor."""


@contextmanager
def opened(url: str, course: str) -> Iterator[Any]:
    """nbgrader's Gradebook. Errors of its database, now or while it is used, raise GradebookFault."""
    _must_be_nbgraders(url)
    if url.startswith("sqlite:///"):
        for_owner_alone(Path(url.removeprefix("sqlite:///")))
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
    """Gradebook makes its tables in any database that it is given, so make sure that it is not another program's."""
    path = url.removeprefix("sqlite:///")
    if path == url or not os.path.isfile(path):
        return
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", timeout=0.1, uri=True)) as book,
    ):
        names = {name for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if names and "assignment" not in names:
            raise GradebookFault(
                f"{path} is a database of another program, and no gradebook. The gradebook's own is named by"
                " c.CourseDirectory.db_url in course_config.py, or by --db"
            )


def _fault(error: Exception, url: str) -> GradebookFault:
    said = " ".join(str(error).split("\n[SQL:")[0].split())
    said = said.partition(") ")[2] or said  # without the name of the driver's class
    why = next((words for signs, words in FAULTS if any(sign in said.lower() for sign in signs)), "it cannot be used")
    made = GradebookBusy if _passes(error) else GradebookFault
    place = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", url).removeprefix("sqlite:///")
    return made(f"the gradebook {place}: {why} ({said[:200]})")


def patiently(gradebook: Any, work: Callable[[], T], patience: float | None = None) -> T:
    """Repeat `work`, a transaction, until the gradebook can be written. Raises GradebookBusy."""
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
