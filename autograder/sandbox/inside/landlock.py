"""Landlock: from now on, this process and everything that it starts see only the named files.

Source: Linux manual page landlock(7). Rules name folders and files, and everything beneath a folder goes with
it; all other files can be neither opened nor listed, regardless of their owner. Nothing can be added afterwards.
"""

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Sequence

from autograder.sandbox.inside import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ = 1 << 2 | 1 << 3  # read a file, list a folder
_RUN = 1 << 0
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_ALL = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_DEVICES = 1 << 6 | 1 << 11 | 1 << 15  # never granted: character and block devices, their ioctl
_NETWORK = 3
_SCOPES = 3  # abstract sockets, and signals to processes outside


def version() -> int:
    """The kernel's Landlock version; 0 if it has no Landlock."""
    try:
        return kernel.syscall(_CREATE, None, ctypes.c_ulong(0), ctypes.c_ulong(1))
    except OSError:
        return 0


def restrict(read: Iterable[str], write: Iterable[str]) -> None:
    """Only `read` and `write` can be opened after this. Raises OSError; needs `kernel.gain_nothing`."""
    known = version()
    every = _ALL[min(known, 5)]
    attributes = struct.pack("=QQQ", every, _NETWORK if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    ruleset = kernel.syscall(_CREATE, attributes, ctypes.c_ulong(size), ctypes.c_ulong(0))
    try:
        for path in read:
            _allow(ruleset, path, _READ | _RUN)
        for path in write:
            _allow(ruleset, path, every & ~_DEVICES & ~_RUN)
        kernel.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_ulong(0))
    finally:
        os.close(ruleset)


def all_but(folder: str, hidden: Sequence[str]) -> list[str]:
    """`folder` as a list of paths that leaves `hidden` out: folders on the way to it are named child by child."""
    inside = [path for path in hidden if path == folder or path.startswith(folder.rstrip("/") + "/")]
    if not inside:
        return [folder]
    if folder in inside:
        return []
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            found += all_but(os.path.realpath(entry.path), hidden)  # a rule for a link would be one for its target
    return found


def _allow(ruleset: int, path: str, access: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                access &= _OF_FILES
            rule = struct.pack("=Qi", access, descriptor)
            kernel.syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0))
        finally:
            os.close(descriptor)
