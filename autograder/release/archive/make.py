"""From a checkout to the zip: build, collect, search for what must stay, write."""

from collections.abc import Sequence
from pathlib import Path

from autograder.course import exercises, notebooks
from autograder.release.archive.contents import contents
from autograder.release.archive.leaks import leaks
from autograder.release.archive.pack import TOP, pack
from autograder.release.build import NotReleasedError


def release(root: Path, folder: Path, assignments: Sequence[str]) -> Path:
    """Write the archive and return its path. Raises ValueError or RuntimeError, in sentences; then nothing is written.

    The ordinary build comes first, so that the gradebook knows the very cells that leave the house.
    """
    notebooks.build(root)
    try:
        exercises.build(root)
    except NotReleasedError as error:
        if not assignments or set(assignments) & error.why.keys():  # another's fault is its own
            raise
    files = contents(root, assignments)
    found = leaks(root, files)
    if found:
        raise ValueError(
            "Nothing was released. This must not leave the house:\n" + "\n".join(f"  - {f}" for f in found)
        )
    path = folder / f"{TOP}.zip"
    pack(files, path)
    return path
