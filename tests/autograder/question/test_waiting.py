import _thread
import io
import signal
import sys
import threading
import time

import pytest
import torch

from autograder.check import check, show_rows
from autograder.question import waiting
from autograder.question.find import find
from autograder.question.specification import case
from autograder.question.waiting import Interrupted, Watch

NAME = "attention.dot_score"


GIVEN = torch.zeros(3), torch.zeros(4, 3)
CALL = case("a query and several keys", *GIVEN), GIVEN


def test_an_endless_call_is_said_to_be_running_once(monkeypatch):
    monkeypatch.setattr(waiting, "call_seconds", lambda exercise: 0.03)
    out, ended = io.StringIO(), time.monotonic() + 20
    monkeypatch.setattr(sys, "stdout", out)  # capsys loses what is printed while it is read

    def patient(query, keys):
        while "still running" not in out.getvalue() and time.monotonic() < ended:
            pass
        return keys @ query

    check(NAME, patient)
    said = out.getvalue()
    assert "dot_score is still running: call 1 (“a query and several keys”)" in said
    assert said.count("Kernel → Interrupt") == 1
    assert "well done" in said


def test_a_call_that_waits_for_something_is_noticed_as_well(monkeypatch):
    monkeypatch.setattr(waiting, "call_seconds", lambda exercise: 0.01)
    heard = threading.Event()
    with Watch(find(NAME), lambda words: heard.set()) as watch:
        watch(*CALL)
        assert heard.wait(20)


def test_quick_calls_are_not_mentioned_however_many(monkeypatch):
    monkeypatch.setattr(waiting, "call_seconds", lambda exercise: 0.1)
    said = []
    with Watch(find(NAME), said.append) as watch:
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            watch(*CALL)
    assert said == []


@pytest.fixture
def interruptible():
    """What a shell starts with & ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_says_which_call_ran_on_what():
    def endless(query, keys):
        if len(keys) > 1:
            _thread.interrupt_main()
            while True:
                pass
        return keys @ query

    with pytest.raises(Interrupted, match=r"dot_score was interrupted \(line \d+ of your cell: .*") as caught:
        check(NAME, endless)
    assert "Call 1 (“a query and several keys”) had run for 0 s. Its inputs were query (3,) and keys (4, 3)." in str(
        caught.value
    )
    assert caught.value._render_traceback_() == [str(caught.value)]
    with pytest.raises(Interrupted, match=r"seeds \(a list of 5\)"):
        show_rows("gates.reach", lambda seeds: _thread.interrupt_main() or time.sleep(20))
