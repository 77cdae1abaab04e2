"""Ctrl-C (or the notebook's stop button) as a wish, granted between two steps.

A KeyboardInterrupt in the middle of an update would leave half of the weights new and half old.
"""

import signal
import threading
from types import FrameType, TracebackType


class Interruption:
    """While it is entered, the first Ctrl-C sets `wanted`; a second one interrupts at once, as usual."""

    def __init__(self) -> None:
        self.wanted = False
        self._listens = False

    def __enter__(self) -> "Interruption":
        self._listens = threading.current_thread() is threading.main_thread()  # only there may handlers be set
        if self._listens:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True

    def __exit__(self, kind: type | None, error: BaseException | None, where: TracebackType | None) -> None:
        if self._listens:
            signal.signal(signal.SIGINT, self._before or signal.SIG_DFL)
