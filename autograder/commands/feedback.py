"""`feedback ASSIGNMENT`: a page for every student."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.commands import common

if TYPE_CHECKING:
    from autograder.course.environment import Environment

EXAMPLES = """
feedback attention
feedback attention --student ada
"""


def parser() -> argparse.ArgumentParser:
    made = common.parser(
        "feedback", "Write feedback/STUDENT/ASSIGNMENT/*.html from the marks in the gradebook.", EXAMPLES
    )
    common.students(made)
    made.add_argument("--json", action="store_true", help="the files that were written, for a program")
    return made


def main(place: "Environment", words: Sequence[str]) -> int:
    given = parser().parse_args(words)
    return common.run(lambda: _write(place, given))


def _write(place: "Environment", given: argparse.Namespace) -> int:
    from autograder.feedback.write import write_feedback

    course = common.course(place, given)
    unknown = sorted(set(given.students or ()) - set(course.students(given.assignment)))
    if unknown:
        raise common.Misuse(f"nothing was handed in for {given.assignment} by {', '.join(unknown)}")
    written = write_feedback(course, given.assignment, given.students)
    if given.json:
        common.as_json([str(path) for path in written])
    elif written:
        print(f"{common.count(len(written), 'page')} written: {written[0]}{', …' if len(written) > 1 else ''}")
        print("To hand them out: nbgrader release_feedback, or send them by your own means.")
    else:
        print(f"Nothing was handed in for {given.assignment}.")
    return 0
