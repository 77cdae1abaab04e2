"""The student's archive: build, collect, search for secrets, write. A zip without answers.

It has the same bytes for the same files: names in order, one date, one set of permissions.
"""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.files import write_whole
from autograder.release.build import NotReleasedError
from autograder.release.contents import contents
from autograder.release.leaks import leaks
from autograder.texts import exercises, notebooks

TOP = "neural-language-models"  # the one folder that a student finds in the zip, and its name without the ending
DATE = (1980, 1, 1, 0, 0, 0)


def write_zip(root: Path, folder: Path, assignments: Sequence[str]) -> Path:
    """Write the archive and return its path. Raises ValueError or RuntimeError, with messages; then nothing is written.
    The ordinary build comes first, so that the gradebook has exactly the cells that students get."""
    notebooks.build(root)
    try:
        exercises.build(root)
    except NotReleasedError as error:
        if not assignments or set(assignments) & error.why.keys():  # another's fault is its own
            raise
    files = contents(root, assignments)
    found = leaks(root, files)
    if found:
        raise ValueError("Nothing was released. This must not reach students:\n" + "\n".join(f"  - {f}" for f in found))
    path = folder / f"{TOP}.zip"
    pack(files, path)
    return path


def pack(files: Mapping[str, bytes], path: Path, top: str = f"{TOP}/") -> None:
    """Write a zip. Files at its top that start with #! are executable."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{top}{name}", DATE)
            entry.create_system = 3  # permissions are Unix's, wherever this runs
            program = files[name].startswith(b"#!") and "/" not in name
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name], compresslevel=9)
    write_whole(path, made.getvalue())
