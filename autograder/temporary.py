"""Temporary folders that disappear with their process, even if it is killed.

All folders of a process are in one folder of the system's temporary folder, next to a file that the process keeps
locked while it lives. When a process makes its first folder, it looks for others whose lock is free and removes them. A
lock ends with its process, however that ends, and is visible from other containers, where process numbers mean nothing.
"""

import atexit
import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any

PREFIX = "nlm-course-"
_homes: dict[int, tuple[Path, Any]] = {}  # by process: a fork has a folder of its own


def home() -> Path:
    """The folder of this process."""
    process = os.getpid()
    if process not in _homes or not _homes[process][0].is_dir():
        from filelock import FileLock  # not needed to say --help

        sweep()
        made = Path(tempfile.gettempdir()).resolve() / f"{PREFIX}{process}-{secrets.token_hex(8)}"
        lock = FileLock(_lock_of(made))
        lock.acquire()  # before there is a folder, so that nobody can take it for one that was left
        made.mkdir(mode=0o700)
        _homes[process] = (made, lock)
        atexit.register(leave)
    return _homes[process][0]


def folder(kind: str) -> Path:
    """A new, empty folder; `kind` is the prefix of its name."""
    return Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=home()))


def sweep() -> None:
    """Remove the folders left behind by processes that have ended."""
    from filelock import FileLock, Timeout

    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, Timeout):
            lock = _lock_of(left)
            if left.suffix == ".lock" or not (_ours(left, stat.S_ISDIR) and _ours(lock, stat.S_ISREG)):
                continue
            with FileLock(lock, timeout=0):
                shutil.rmtree(left, ignore_errors=True)
                lock.unlink()


def leave() -> None:
    """Remove all folders of this process."""
    mine = _homes.pop(os.getpid(), None)
    if mine is not None:
        shutil.rmtree(mine[0], ignore_errors=True)
        mine[1].release()
        with contextlib.suppress(OSError):
            _lock_of(mine[0]).unlink()


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _ours(path: Path, kind: object) -> bool:
    about = path.lstat()
    return bool(kind(about.st_mode)) and (not hasattr(os, "getuid") or about.st_uid == os.getuid())  # type: ignore[operator]
