"""Files that are written as a whole. Standard library only."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

WRITING = ".writing"  # how the names of half-made files and folders end: whoever finds one may remove it


def write_whole(path: Path, content: str | bytes) -> None:
    """Write the complete file or nothing, even if the process dies or the disk is full. A text's line ends stay."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}{WRITING}")
    try:
        with open(beside, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def read_json(path: Path, again: str) -> dict[str, Any]:
    """What a command of ours has kept; nothing if there is no file. again: what to do if it has to be deleted. Raises
    ValueError if it cannot be read."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path} cannot be read ({error}). Mend it, or delete it and {again}") from None
    return found


def write_json(path: Path, value: Any) -> None:
    write_whole(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def append_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows to a file with a line of JSON for each, in one call of the system: several processes may do so at the
    same time. They are ASCII, so that no text has a line's end in it, and a crash cuts no character in two."""
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        torn = end and file.seek(end - 1) is not None and file.read(1) != b"\n"  # by a crash
        file.write((b"\n" if torn else b"") + lines.encode())
        os.fsync(file.fileno())


def rows_in(path: Path) -> Iterator[Any]:
    """The rows of such a file, in the order in which they were written; a line that was cut off is left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)


KEPT = ("gradebook.db", "submitted", "autograded", "feedback", "grading", "solutions")
"""What a course with students keeps to itself."""
WORK = "work"
"""Where students work: the folder that no update changes."""


def open_to_others(root: Path) -> list[str]:
    """What other accounts of this machine can read of a course with students, and what to do about it, in words."""
    if os.name != "posix" or not (root / "submitted").is_dir():
        return []
    found = []
    for name in KEPT:
        path = root / name
        if path.exists() and any(_reaches(path, who) for who in (0o070, 0o007)):
            found.append(name)
    if not found:
        return []
    return [f"other accounts of this machine can read {', '.join(found)}: chmod 700 {root} closes the whole course"]


def _reaches(path: Path, who: int) -> bool:
    """Whether the group (0o070) or everybody (0o007) can read a path, and enter every folder above it."""
    above = all(folder.stat().st_mode & who & 0o111 for folder in path.resolve().parents)
    return above and bool(path.stat().st_mode & who & 0o444)


def for_owner_alone(gradebook: Path) -> None:
    """Make the file of a gradebook that is not there yet, so that only its owner can read it: SQLite itself would leave
    that to the account's settings, and gives a journal the mode of its database."""
    with contextlib.suppress(OSError):
        os.close(os.open(gradebook, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def plain_files(root: Path, *patterns: str) -> list[Path]:
    """The files below `root` that match a pattern, in order; hidden ones and Python's caches are left out."""
    found = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    left = (".", "__pycache__")
    return sorted(p for p in found if not any(part.startswith(left) for part in p.relative_to(root).parts))


def sweep(folder: Path, deep: bool = False) -> None:
    """Remove unfinished files that a killed process left in a folder; `deep`: also in its subfolders."""
    for path in (folder.rglob if deep else folder.glob)(f".*{WRITING}"):
        maker = path.name.removesuffix(WRITING).rpartition(".")[2]
        if maker.isdecimal() and int(maker) != os.getpid() and _alive(int(maker)):
            continue  # a report that is being written meanwhile
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
