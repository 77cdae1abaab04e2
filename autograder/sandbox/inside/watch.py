"""Watches the student's code while it runs: its time, and its access to files outside its folder.

Both are a courtesy, not a lock. Code that swallows every interrupt, or never returns from C, is ended from outside by
the wall-clock limit. The kernel guards the files; this only records accesses for the report.
"""

import contextlib
import os
import signal
import sys
from _signal import signal as handle  # that of `signal` makes an enumeration of every answer, 20 µs each time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

_AGAIN = 0.5
_CLOCKS = {int(signal.SIGALRM): signal.ITIMER_REAL, int(signal.SIGPROF): signal.ITIMER_PROF}


class TookTooLong(KeyboardInterrupt):
    """Raised in the student's code when its time is up."""


@contextlib.contextmanager
def limit(seconds: Sequence[float]) -> Iterator[None]:
    """Raise TookTooLong in the block after so many seconds by the clock, or so many of processor time."""
    words = dict(zip(_CLOCKS, ("seconds", "seconds of processor time"), strict=True))
    most = dict(zip(_CLOCKS, seconds, strict=True))

    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"it did not finish in {most[number]:g} {words[number]}")

    for number, clock in _CLOCKS.items():
        handle(number, ring)
        signal.setitimer(clock, most[number], _AGAIN)
    try:
        yield
    finally:
        lift()


def lift() -> None:
    """The limit's block is over, or what it is meant for."""
    for clock in _CLOCKS.values():
        signal.setitimer(clock, 0)


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
