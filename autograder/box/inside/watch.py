"""What the notebook asks for outside its folder, noted for the report. A note, not a lock: the kernel is the lock."""

import os
import sys
from collections.abc import Sequence
from typing import Any

_EVENTS = {"open", "os.listdir", "os.scandir", "os.chdir"}
_MOST = 20


class Watch:
    """An audit hook (PEP 578) that knows which folders are everybody's."""

    def __init__(self, open_to_all: Sequence[str]) -> None:
        self._open = (*open_to_all, "/dev/null", "/dev/urandom", "/dev/random", "/dev/zero")
        self.noted: list[str] = []

    def begin(self) -> None:
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS or not arguments:
            return
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str):
            return
        if not path.startswith("/"):
            if ".." not in path:
                return
            path = os.path.abspath(path)
        path = os.path.normpath(path)
        if len(self.noted) < _MOST and not path.startswith(self._open):
            words = f"asked for a file outside its folder: {path[:150]}"
            if words not in self.noted:
                self.noted.append(words)
