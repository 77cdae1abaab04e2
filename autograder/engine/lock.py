"""One run at a time grades an assignment: two would write the same folders."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class AlreadyRunning(Exception):  # noqa: N818 - said to the instructor
    """Another process is grading this assignment."""


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. It goes with the process, however that ends. Raises AlreadyRunning."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a+", encoding="ascii") as file:
        try:
            import fcntl
        except ImportError:  # Windows: no lock
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            who = file.read(20).strip()
            raise AlreadyRunning(
                f"{folder.name} is being graded by another process{f' ({who})' if who else ''}: wait for it, or stop it"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}")
        file.flush()
        yield
