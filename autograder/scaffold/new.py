"""`python3 -m autograder new NAME`: the files of an assignment, with two worked questions. Standard library only.

    solutions/NAME/NAME.py                         the notebook, with its solution
    solutions/NAME/checks.py                       its questions: inputs, properties, misconceptions
    solutions/NAME/answers.txt                     answers that must be right, or wrong; for a start, a second solution
    solutions/NAME/notes.md                        for instructors: common mistakes, what to ask in the oral

The result is a small real assignment (a softmax with a temperature) that builds, releases and grades without changes.
"""

import keyword
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.shared import Given, command, option

if TYPE_CHECKING:
    from autograder.launcher.environment import Environment

TEMPLATE = Path(__file__).resolve().parent / "template"
FILES = {
    "master.txt": "solutions/{name}/{name}.py",
    "checks.txt": "solutions/{name}/checks.py",
    "answers.txt": "solutions/{name}/answers.txt",
    "notes.txt": "solutions/{name}/notes.md",
}
"""Template -> target path. In a template NAME_ stands for the name, TITLE_ for the title."""


@command(
    "new",
    "Begin an assignment: four small files with two worked questions, to be changed into yours.",
    "new temperature",
    "new beam_search --title 'Beam search'",
    option("name", metavar="NAME", help="small letters, digits and _: it names folders and a module"),
    option("--title", help="the notebook's heading (default: from the name)"),
)
def main(place: "Environment", given: Given) -> int:
    """Exit codes: 0 written, 2 the name cannot be used (nothing is written)."""
    try:
        written = scaffold(place.root, given.name, given.title)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for path in written:
        print(f"  wrote {path}")
    print(
        "Now:\n"
        f"  1. change the question in {written[0]} and its declaration in {written[1]}\n"
        f"  2. python3 -m autograder test -- tests/autograder/test_checks.py -k {given.name}\n"
        "  3. python3 -m autograder build, then work through the exercise as a student would\n"
        "The guide: autograder/guide/writing-an-assignment.md"
    )
    return 0


def scaffold(root: Path, name: str, title: str | None = None) -> list[str]:
    """Write an assignment's files and return their paths. Raises ValueError for a name that cannot be used."""
    usable(root, name, [f"solutions/{name}"])
    title = title or name.replace("_", " ").capitalize()
    made = {place.format(name=name): (TEMPLATE / source).read_text(encoding="utf-8") for source, place in FILES.items()}
    for path, text in made.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text.replace("NAME_", name).replace("TITLE_", title), encoding="utf-8", newline="\n")
    return list(made)


def usable(root: Path, name: str, places: Sequence[str]) -> None:
    """Raises ValueError for a name that no assignment can have, or if one of the `places` is taken."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or len(name) > 40:
        near = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        hint = f"; perhaps {near}" if re.fullmatch(r"[a-z][a-z0-9_]*", near) and not keyword.iskeyword(near) else ""
        raise ValueError(
            f"an assignment's name is small letters, digits and _, beginning with a letter, at most 40 of them and no"
            f" word of Python: {name!r} is not{hint if near != name and len(near) <= 40 else ''}"
        )
    taken = [path for path in places if (root / path).exists()]
    if taken:
        raise ValueError(f"there is an assignment {name} already: {taken[0]} exists. Choose another name")
