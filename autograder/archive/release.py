"""`python -m autograder release [--to FOLDER] [ASSIGNMENT …]`: the zip that students unpack."""

import argparse
import sys
from pathlib import Path

from autograder.archive.contents import contents
from autograder.archive.leaks import leaks
from autograder.archive.pack import TOP, pack
from autograder.course import exercises, notebooks, say
from autograder.course.environment import Environment


def main(place: Environment, rest: list[str]) -> int:
    """Exit codes: 0 written, 1 not fit to be released (nothing is written), 2 misuse."""
    parser = argparse.ArgumentParser(prog="python -m autograder release", description="A zip for students.")
    parser.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="which exercises (default: all)")
    parser.add_argument("--to", type=Path, default=Path("release"), metavar="FOLDER", help="where (default: release)")
    try:
        options = parser.parse_args(rest)
    except SystemExit as error:
        return int(error.code or 0)
    folder = options.to if options.to.is_absolute() else place.root / options.to
    try:
        path = release(place.root, folder, options.assignments)
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    say.line(f"{path}  ({path.stat().st_size / 1e6:.1f} MB)")
    say.line("Students unpack it and run, in the folder it makes:  make lab   (or: python3 -m autograder lab)")
    return 0


def release(root: Path, folder: Path, assignments: list[str]) -> Path:
    """Build, collect, search for what must stay, and write. Raises ValueError or RuntimeError, in sentences.

    The ordinary build comes first, so that the gradebook knows the very cells that leave the house.
    """
    notebooks.build(root)
    exercises.build(root)
    files = contents(root, assignments)
    found = leaks(root, files)
    if found:
        raise ValueError(
            "Nothing was released. This must not leave the house:\n" + "\n".join(f"  - {f}" for f in found)
        )
    path = folder / f"{TOP}.zip"
    pack(files, path)
    return path
