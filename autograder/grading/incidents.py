"""What a student is told about what their code tried, or why it was stopped: one of a few sentences, or nothing.

An incident, as the instructor sees it, says which path was requested, how often, and how much was sent. A function that
is called with hidden inputs can encode them in all of that, so none of it appears on a page that students get.
"""

from collections.abc import Iterable

from autograder.grading.beside import MARKED_LATE, NO_TIME
from autograder.grading.marking import LATE
from autograder.sandbox.session import ENDED_BY, KNOWN_INCIDENTS, SENT

_BEGINNINGS = {
    **{words: words for words in KNOWN_INCIDENTS},
    "asked for a file outside its folder": "asked for a file outside its folder",
    "a file of the submission could not be put": "a file of the submission could not be put into its folder",
    "Cell '": "a cell had to be stopped, or ended its own process",
    "All cells together took longer": "all cells together took longer than they may",
    SENT: "sent what is no answer",
    ENDED_BY: "crashed in compiled code",
    MARKED_LATE: MARKED_LATE,
    NO_TIME: NO_TIME,
}
_ENDINGS = {LATE: LATE, "which is closed": "used a name that is closed in the question"}


def for_students(incidents: Iterable[str]) -> tuple[str, ...]:
    """Each sentence once, in a fixed order."""
    found = list(incidents)
    told = [said for begins, said in _BEGINNINGS.items() if any(words.startswith(begins) for words in found)]
    told += [said for ends, said in _ENDINGS.items() if any(words.endswith(ends) for words in found)]
    return tuple(dict.fromkeys(told))
