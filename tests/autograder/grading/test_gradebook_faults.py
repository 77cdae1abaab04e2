"""A gradebook that cannot be used is a sentence that says what to do, at whatever verb, and no traceback."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from autograder.commands.around import feedback, preflight
from autograder.commands.grade import grade
from autograder.commands.marks import report
from autograder.grading.course import Course
from autograder.grading.database import GradebookBusy, GradebookFault, opened, patiently
from autograder.nbgrader_config import _scripts_on_path
from tests.autograder.courses import env

pytestmark = pytest.mark.everything  # starts many programs; `.ci/run` has them

VERBS = {command.verb: command for command in (preflight, grade, report, feedback)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    _scripts_on_path()
    path = tmp_path_factory.mktemp("whole") / "gradebook.db"
    with opened(f"sqlite:///{path}", "c") as gradebook:
        gradebook.add_assignment("plain")
    return path.read_bytes()


@pytest.fixture
def root(tmp_path, whole):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    (tmp_path / "gradebook.db").write_bytes(whole)
    return tmp_path


def damaged(path: Path) -> None:
    path.write_bytes(b"no database at all, and long enough to be looked at" * 100)


def torn(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:20480] = b"\xff" * 16384
    path.write_bytes(content)


def of_another(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE bookmarks (url TEXT)")


def old(path: Path) -> None:
    with closing(sqlite3.connect(path)) as made:
        made.execute("ALTER TABLE assignment DROP COLUMN duedate")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


CASES = {
    damaged: "put back a copy",
    torn: "put back a copy",
    of_another: "database of another program",
    old: "nbgrader db upgrade",
    a_folder: "must belong to you",
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("spoil", CASES, ids=lambda function: function.__name__)
def test_a_gradebook_that_cannot_be_used_is_said(root, capsys, spoil, verb):
    spoil(root / "gradebook.db")
    before = (root / "gradebook.db").read_bytes() if spoil is not a_folder else b""
    code = VERBS[verb](env(root), ["plain", *(["--isolation", "none"] if verb == "grade" else [])])
    said = capsys.readouterr().err
    assert code == 1, said
    assert CASES[spoil] in said.replace("Put back", "put back"), said
    assert said.count("\n") == 1
    if spoil is of_another:
        assert (root / "gradebook.db").read_bytes() == before


def test_a_gradebook_that_is_locked_from_the_start_is_said(root, monkeypatch):
    monkeypatch.setattr("sqlite3.dbapi2.connect", partial(sqlite3.dbapi2.connect, timeout=0.1))
    with closing(sqlite3.connect(root / "gradebook.db", isolation_level=None)) as held:
        held.execute("BEGIN EXCLUSIVE")
        with pytest.raises(GradebookBusy, match=r"keeps it locked\. Close what uses it"):
            Course.load(root).masters("plain")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:////nowhere/at/all/gradebook.db", "must belong to you"),
        ("postgresql+psycopg2://me:secret@127.0.0.1:1/x", "its server cannot be reached|is not installed"),
        ("nothing at all", "names no database"),
        ("oracle7://x", "names no database"),
    ],
)
def test_a_url_that_leads_nowhere(url, words):
    with pytest.raises(GradebookFault, match=words) as caught, opened(url, "c"):
        pass
    assert "secret" not in str(caught.value)


def test_a_full_disk_in_the_middle(root):
    def full(*_, **__):
        raise OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))

    course = Course.load(root)
    with pytest.raises(GradebookFault, match="Make room on it, then run"), course.gradebook() as gradebook:
        patiently(gradebook, full)
