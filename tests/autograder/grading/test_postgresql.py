"""The gradebook in PostgreSQL, on a real server, by nbgrader's own URL."""

from pathlib import Path

import pytest

import autograder.grading.gradebook as gradebook_module
import autograder.grading.run as run_module
from autograder.grading.byhand import ChangedMeanwhile, answers_to, mark_by_hand
from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.release.build import build_exercises
from tests.autograder.courses import ANSWERS, hand_in, nothing, snapshot, writes
from tests.autograder.grading import fake
from tests.autograder.grading.postgres import database

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_the_marks_are_those_of_sqlite_and_a_lost_connection_is_waited_for(server, plain, monkeypatch):
    monkeypatch.setattr(run_module, "work", fake.work)
    hand_in(plain, "plain", "all", writes(ANSWERS))
    hand_in(plain, "plain", "none", nothing)
    list(grade(Course.load(plain), "plain"))
    url = database(server, "course")
    build_exercises(plain, url.replace("://", "+psycopg2://"))
    seen = list(grade(Course.load(plain, url), "plain"))
    assert all(line.new for line in seen), "another gradebook has no marks yet"
    assert snapshot(plain, "plain", url) == snapshot(plain, "plain")
    assert not any(line.new for line in grade(Course.load(plain, url), "plain"))

    original, cut = gradebook_module._submission, []

    def cutting(*arguments):
        if not cut:
            cut.append(True)
            terminate(server)
        return original(*arguments)

    monkeypatch.setattr(gradebook_module, "_submission", cutting)
    assert len(list(grade(Course.load(plain, url), "plain", again=True))) == 2
    assert cut
    assert snapshot(plain, "plain", url) == snapshot(plain, "plain")

    with Course.load(plain, url).gradebook() as book:
        seen = [answer for answer in answers_to(book, "plain", "one", "why") if answer.student == "all"]
        mark_by_hand(book, seen, 2.5, "Good.")
        with pytest.raises(ChangedMeanwhile):
            mark_by_hand(book, seen, 1.0, "Mine.")
        after = [answer for answer in answers_to(book, "plain", "one", "why") if answer.student == "all"]
        assert [(one.manual, one.waiting, one.words) for one in after] == [(2.5, False, "Good.")]
    list(grade(Course.load(plain, url), "plain", again=True))
    marks = snapshot(plain, "plain", url)["all"]["one"]["grades"]
    assert ("why", None, 2.5, False) in marks


def terminate(server: Path) -> None:
    """End every other connection, as a restart of the server would."""
    import psycopg2

    connection = psycopg2.connect(host=str(server), user="grader", dbname="postgres")
    connection.cursor().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'course' AND pid <> pg_backend_pid()"
    )
    connection.close()
