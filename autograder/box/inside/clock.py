"""A time limit on a piece of Python: it is interrupted, again and again if it goes on.

Code that swallows every interrupt, or that never comes back from C, is ended from outside by the wall limit.
"""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_AGAIN = 0.5


class TookTooLong(KeyboardInterrupt):
    """Raised in the student's code when its time is up."""


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise TookTooLong in the block after so many seconds."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"it did not finish in {seconds:g} seconds")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
