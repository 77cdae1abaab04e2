"""`mine`: a student's library."""

from autograder.commands import shared
from autograder.commands.shared import Environment, Given, command
from autograder.files import WORK


@command(
    "mine",
    "Show the functions that passed their checks, and what they can do together. In a notebook, `mine()` from\n"
    "autograder.mine does the same. To move them to another computer, copy the folder.",
    "mine",
    shared.path("--folder", metavar="FOLDER", help="where they are (default: work/mine)"),
)
def mine(place: Environment, given: Given) -> int:
    from autograder.mine.shelf import FOLDER
    from autograder.mine.told import shown

    print(shown(given.folder or place.root / WORK / FOLDER))
    return 0
