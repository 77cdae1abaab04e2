"""`python -m autograder release [--to FOLDER] [ASSIGNMENT …]`: the zip that students unpack."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands import common

if TYPE_CHECKING:
    from autograder.course.environment import Environment

EXAMPLES = """
release                        every assignment, into release/
release attention              one; students unpack it over what they have
release --to /srv/course
"""


def parser() -> argparse.ArgumentParser:
    made = common.parser(
        "release",
        "Write a zip for students: the course, the exercises, and data in place of answers. Every file of it is\n"
        "searched for solutions, hidden tests and the like first; if any is found, nothing is written.",
        EXAMPLES,
        assignment=False,
    )
    made.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="which exercises (default: all)")
    made.add_argument("--to", metavar="FOLDER", help="where to write it (default: release/ in the checkout)")
    return made


def main(place: "Environment", words: Sequence[str]) -> int:
    """Exit codes: 0 written; 1 not fit to be released, and nothing is written."""
    given = parser().parse_args(words)
    from autograder.release.archive.make import release

    folder = common.here(given.to) if given.to else Path(place.root) / "release"
    try:
        path = release(place.root, folder, given.assignments)
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{path}  ({path.stat().st_size / 1e6:.1f} MB)")
    print("Students unpack it and run, in the folder that it makes:  make lab   (or: python3 -m autograder lab)")
    return 0
