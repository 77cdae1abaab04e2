"""One student must not stop a verb for the class: a class of odd submissions through every verb."""

import os
import signal
import time

import pytest

import autograder.grading.run as run_module
from autograder.commands.around import feedback, preflight
from autograder.commands.grade import grade
from autograder.commands.marks import report
from autograder.grading import records
from autograder.guard import Guard, NotRead
from tests.autograder import odd
from tests.autograder.courses import ANSWERS, copy, env, hand_in, writes
from tests.autograder.grading import fake

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.everything
def test_a_class_of_odd_submissions_goes_through_every_verb(plain_template, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run_module, "work", fake.work)
    root = copy(plain_template, tmp_path / "course")
    odd_ones = odd.hand_in_all(root, "plain", "one")
    hand_in(root, "plain", "zoe", writes(ANSWERS))
    place = env(root)
    assert preflight(place, ["plain"]) == 1
    assert grade(place, ["plain", "--json"]) == 1
    known = {student: records.load(root, "plain", student) for student in [*odd_ones, "zoe"]}
    assert known["zoe"].words.startswith("5 of 10")
    for student, record in known.items():
        assert record.state in ("graded", "blocked"), (student, record.words)
        assert "report this" not in record.words, (student, record.words)
        assert len(record.words) < 500
        assert record.words.isprintable()
    assert report(place, ["plain"]) == 0
    assert feedback(place, ["plain"]) == 0
    pages = sorted((root / "feedback").glob("*/plain/one.html"))
    assert len(pages) == len(known)
    assert "Traceback" not in capsys.readouterr().err


# --- the guard --------------------------------------------------------------------------------------------


def doubled(text: str) -> str:
    return text * 2


def process(_: object) -> int:
    return os.getpid()


def endless(_: object) -> None:
    while True:
        pass


def asleep(_: object) -> None:
    time.sleep(60)


def hungry(_: object) -> int:
    return len(bytearray(3 << 30))


def crashes(_: object) -> None:
    os.abort()


def deep(_: object) -> None:
    deep(_)


def sends_what_cannot_be_sent(_: object) -> object:
    return lambda: None


def refuses(_: object) -> None:
    raise NotRead("it is no text")


def test_a_guard_answers_and_keeps_its_child():
    with Guard() as guard:
        assert guard.ask(doubled, "ab") == "abab"
        assert guard.ask(process, 0) == guard.ask(process, 0) != os.getpid()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (endless, "1 second of processor time"),
        (asleep, "more than 1.5 seconds"),
        (hungry, "too large"),
        (crashes, "ended the process"),
        (deep, "nested too deeply"),
        (sends_what_cannot_be_sent, "unknown kind"),
        (refuses, "it is no text"),
    ],
)
def test_what_cannot_be_read_costs_nobody_else_anything(function, words):
    with Guard(seconds=1, wall=1.5 if function is asleep else 60.0) as guard:
        with pytest.raises(NotRead, match=words):
            guard.ask(function, 0)
        assert guard.ask(doubled, "ab") == "abab"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_a_guard_of_a_server_that_handles_its_own_end_can_be_ended():
    before = signal.signal(signal.SIGTERM, lambda *about: None)  # as a Jupyter server has one
    try:
        with Guard() as guard:
            assert guard.ask(len, "ada") == 3
            guard._child.terminate()
            guard._child.join(30)
            assert guard._child.exitcode == -signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_guard_whose_parent_has_gone_goes_too():
    ours, theirs = os.pipe()
    parent = os.fork()
    if parent == 0:
        with Guard() as guard:
            os.write(theirs, str(guard.ask(process, 0)).encode())
            os._exit(0)
    os.waitpid(parent, 0)
    child = int(os.read(ours, 20))
    until = time.monotonic() + 5
    while time.monotonic() < until and os.path.exists(f"/proc/{child}"):
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{child}")
    os.close(ours), os.close(theirs)
