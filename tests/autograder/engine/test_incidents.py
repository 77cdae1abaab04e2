"""What an incident says of hidden inputs does not reach the student's page."""

from autograder.box.session import KNOWN_INCIDENTS
from autograder.engine.gradebook import NO_TIME
from autograder.engine.incidents import for_students

HIDDEN = "4711"


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
        f"check_{HIDDEN}: a call did not come to an end and was interrupted",
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
