"""A few a day: counted by student and question, said when there is more, and nothing for what was not answered."""

from datetime import datetime, timedelta

import pytest

from autograder.extras.desk.ledger import Ledger, Spent


@pytest.fixture
def clock():
    return [datetime(2025, 11, 20, 22, 30).astimezone()]


@pytest.fixture
def ledger(tmp_path, clock):
    return Ledger(tmp_path, 2, lambda: clock[0])


def ask(ledger, student="ada", question="q1"):
    with ledger.one("a", student, question) as note:
        note({"holds": True})


def test_the_third_is_refused_until_midnight(ledger, clock):
    ask(ledger)
    ask(ledger)
    with pytest.raises(Spent, match=r"2 a day .* more from Friday 21 November, 00:00"):
        ask(ledger)
    ask(ledger, question="q2")
    ask(ledger, student="bob")
    clock[0] += timedelta(hours=2)
    assert ledger.left("a", "ada", "q1") == 2
    ask(ledger)


def test_what_fails_is_not_counted_and_a_student_asks_one_thing_at_a_time(ledger):
    with pytest.raises(RuntimeError), ledger.one("a", "ada", "q1"):
        raise RuntimeError
    with ledger.one("a", "ada", "q1"), pytest.raises(Spent, match="still being worked on"):
        ask(ledger, question="q2")
    assert ledger.left("a", "ada", "q1") == 2


def test_it_outlives_the_process_and_a_line_that_was_cut_off(ledger, tmp_path):
    ask(ledger, student="a/b")
    (path,) = (tmp_path / "grading" / "desk" / "a").iterdir()
    path.write_text(path.read_text() + '{"time": "2025')
    assert Ledger(tmp_path, 2, ledger.now).left("a", "a/b", "q1") == 1
