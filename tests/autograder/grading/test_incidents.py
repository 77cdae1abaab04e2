"""What an incident says of hidden inputs does not reach the student's page."""

# ruff: noqa: E501  (a table: one case to a line)

import pytest

from autograder.grading.beside import NO_TIME
from autograder.grading.incidents import for_students
from autograder.grading.marking import LATE, nothing_new
from autograder.question.closed import ALONE
from autograder.question.outcome import Fault
from autograder.sandbox.session import KNOWN_INCIDENTS

HIDDEN = "4711"


SOURCE = "def attend(x):\n    if x is None:\n        raise ValueError('no scores here')\n    return helper(x)"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (Fault(kind="ValueError", words=f"ValueError: {HIDDEN}"), Fault(kind="ValueError", words="ValueError")),
        (Fault(kind=f"E{HIDDEN}", words=f"E{HIDDEN}: x"), Fault(kind="Exception", words="Exception")),
        (Fault(kind="wrong return", words=f"it returned {HIDDEN} numbers, shape ({HIDDEN},)"), None),
        (Fault(kind="TookTooLong", words=f"it did not finish in {HIDDEN} seconds"), None),
        (Fault(kind="not read", words=HIDDEN), None),
        (Fault(kind="NameError", words=f"there is no '{HIDDEN}': the cell that defines it raised or is missing"), None),
        (
            Fault(kind="KeyError", words="KeyError: 1", line=f"line {HIDDEN} of your cell: x", function=f"f{HIDDEN}"),
            None,
        ),
        (Fault(kind="KeyError", words="KeyError", line="line 47 of your cell: return helper(x)"), None),
    ],
)
def test_a_fault_after_hidden_inputs_says_nothing_that_a_fault_can_choose(given, kept):
    told = nothing_new(given, [SOURCE])
    assert HIDDEN not in repr(told)
    assert "47" not in repr(told)
    assert kept is None or told == kept


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="ValueError", words="ValueError: no scores here", line="line 3 of your cell: raise ValueError('no scores here')"),
        Fault(kind="NotImplementedError", words="NotImplementedError", function="attend"),
        Fault(kind="wrong return", words="it returned None, but y was asked for. Is a `return` missing?"),
        Fault(kind="NameError", words="there is no 'attend': the cell that defines it raised or is missing"),
        Fault(kind="ClosedName", words=f"ClosedName: {ALONE}"),
    ],
)  # fmt: skip
def test_what_the_notebook_says_itself_stays(fault):
    assert nothing_new(fault, ["1", SOURCE]) == fault


def test_a_student_is_told_sentences_that_no_code_can_choose():
    given = [
        f"asked for a file outside its folder: /{HIDDEN}",
        f"asked for a file outside its folder: /{HIDDEN}/2",
        f"a file of the submission could not be put into its folder: {HIDDEN}",
        *(f"{words} ({HIDDEN} times)" for words in KNOWN_INCIDENTS),
        f"sent a reply of {HIDDEN} + 0 bytes",
        "ended by SIGUSR1",
        f"Cell 'code cell {HIDDEN}': it took longer than it may.",
        f"All cells together took longer than their {HIDDEN} seconds.",
        f"check_{HIDDEN}: {LATE}",
        f"check_attend: used torch.{HIDDEN}, which is closed",
        f"{HIDDEN}: of the notebook's own making",
        NO_TIME,
    ]
    told = for_students(given)
    assert HIDDEN not in " ".join(told)
    assert len(told) == len(given) - 2  # one of two paths, and nothing of what is not known
    assert for_students(reversed(given)) == told
    assert for_students(given[:1] * 50) == ("asked for a file outside its folder",)
    assert for_students([]) == ()
