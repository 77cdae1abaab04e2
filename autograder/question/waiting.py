"""What a check at home says of a call that does not come back: once, while it runs, that it is still running; after an
interrupt, which call that was.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from autograder.question.interview import call_seconds
from autograder.question.outcome import students_line
from autograder.question.report import inputs_in_words
from autograder.question.specification import Case, Exercise

WAITING = 4
"""A call that uses no processor time has stopped as well after so many times the seconds that it may use."""


class Interrupted(KeyboardInterrupt):
    """Jupyter shows its text without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints instead of a traceback."""
        return [str(self)]


class Watch:
    """A block in which a student's function is called; call the watch before each call. It costs one thread, which
    sleeps, whatever the number of calls."""

    def __init__(self, exercise: Exercise, say: Callable[[str], None] = lambda words: print(words, flush=True)) -> None:
        self._exercise, self._say = exercise, say
        self._most: float = call_seconds(exercise)
        self._number, self._label, self._given = 0, "", ()  # of the call that runs
        self._began = self._now()
        self._over = threading.Event()

    def __call__(self, case: Case, given: Sequence[Any]) -> None:
        self._began = self._now()
        self._number, self._label, self._given = self._number + 1, case.label, tuple(given)

    def __enter__(self) -> "Watch":
        threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        self._over.set()
        if isinstance(error, KeyboardInterrupt) and self._number:
            raise Interrupted(self._stopped(error)) from None

    def _now(self) -> tuple[float, float]:
        return time.process_time(), time.monotonic()

    def _look(self) -> None:
        left = self._most
        while not self._over.wait(left):
            used, passed = (now - began for now, began in zip(self._now(), self._began, strict=True))
            left = min(self._most - used, WAITING * self._most - passed)
            if left <= 0 and self._number == 0:  # inputs are drawn
                left = self._most
            elif left <= 0:
                self._say(
                    f"{self._exercise.function} is still running: call {self._number} (“{self._label}”) has not come"
                    f" back after {passed:.0f} s. The grader stops a call after {self._most:g} s of processor time."
                    " To stop it here, choose Kernel → Interrupt Kernel, or press ■."
                )
                return

    def _stopped(self, error: BaseException) -> str:
        where = students_line(error)
        inputs = inputs_in_words(self._exercise, self._given)
        return (
            f"{self._exercise.function} was interrupted{f' ({where})' if where else ''}. Call {self._number}"
            f" (“{self._label}”) had run for {time.monotonic() - self._began[1]:.0f} s. {inputs}"
        ).rstrip()
