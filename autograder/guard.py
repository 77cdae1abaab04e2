"""Parses students' texts in a child process with limits, so that no submission can stop a command for the whole class.

    with Guard() as guard:
        for path in paths:
            try:
                cells = guard.ask(read, path)
            except NotRead as why:
                …                                # one sentence; the next one is read all the same

A parser needs only milliseconds, except for texts made to break it: nested endlessly, a hundred megabytes long, or of
the one form that takes exponential time. Some of these end in an exception, some run out of memory, some never end, and
some kill the process. One child reads everything for a command; if it dies, a new one is started.
"""

import contextlib
import math
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Self, TypeVar

SECONDS, WALL = 30, 180.0  # for one question: of processor time, and in all, on a machine that has much else to do
MEMORY = 2 << 30  # bytes besides what the process had at its start

T = TypeVar("T")


class NotRead(Exception):  # noqa: N818 - about a file, not an error of ours
    """Why something cannot be read, as a clause. Nothing in it is the student's own text."""


class Guard:
    """Runs functions of a module on a text. Not for several threads at a time."""

    def __init__(self, seconds: int = SECONDS, wall: float = WALL) -> None:
        self.limits = (seconds, MEMORY)
        self.wall = wall
        self._child: Any = None
        self._pipe: Any = None

    def __enter__(self) -> Self:
        self._start()  # now, while this process is still small and has one thread
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """`function(*arguments)`, computed in the child. Raises NotRead, or what the function raises of its kind."""
        if self._child is None or not self._child.is_alive():
            self._end()
            self._start()
        try:
            self._pipe.send((function, arguments))
            if not self._pipe.poll(self.wall):
                self._end()
                raise NotRead(f"it takes more than {self.wall:g} seconds to read it")
            answer, trace = self._pipe.recv()
        except (EOFError, OSError):
            raise NotRead(self._how_it_ended()) from None
        if isinstance(answer, BaseException):
            if trace:
                answer.add_note(trace)
            raise answer
        given: T = answer[0]
        return given

    def _start(self) -> None:
        fork = sys.platform == "linux"  # quick; elsewhere libraries do not stand it
        context: Any = multiprocessing.get_context("fork" if fork else "spawn")
        self._pipe, theirs = context.Pipe()
        self._child = context.Process(target=_serve, args=(theirs, fork, *self.limits), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Python's, about threads: the child uses none
            self._child.start()
        theirs.close()

    def _end(self) -> None:
        if self._child is None:
            return
        self._pipe.close()
        self._child.kill()
        self._child.join()
        self._child.close()
        self._child = None

    def _how_it_ended(self) -> str:
        self._child.join()
        ended = self._child.exitcode
        self._end()
        if ended == -getattr(signal, "SIGXCPU", 0):
            seconds = self.limits[0]
            return f"it takes more than {seconds} second{'' if seconds == 1 else 's'} of processor time to read it"
        return "reading it ended the process that did it: it is nested too deeply, or too large"


def why(error: BaseException) -> str:
    """An exception of a parser, as a clause."""
    if isinstance(error, NotRead):
        return str(error)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it is too large, or nested too deeply"
    return f"it is damaged, or of an unknown kind ({type(error).__name__})"


# --- the child --------------------------------------------------------------------------------------------


def _serve(pipe: Connection, forked: bool, seconds: int, memory: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a server's own handler would never let go of this copy of it
    warnings.simplefilter("ignore")  # about a student's text: nobody's business here
    if forked:  # it would hold the parent's end of its own line open, and locks of files
        os.closerange(3, pipe.fileno())
        os.closerange(pipe.fileno() + 1, 1 << 20)
    _limit_memory(memory)
    while True:
        try:
            function, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        _limit_time(seconds)
        trace = ""
        try:
            answer: Any = (function(*arguments),)
        except (NotRead, ImportError) as error:
            answer = error
        except Exception as error:
            answer, trace = NotRead(why(error)), "".join(traceback.format_exception(error)[-8:])[-4000:]
        try:
            pipe.send((answer, trace))
        except (ValueError, RecursionError, MemoryError, TypeError, AttributeError) as error:  # it cannot be sent
            pipe.send((NotRead(why(error)), ""))


def _limit_memory(most: int) -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # not on Windows; not wherever there is no /proc
        import resource

        with open("/proc/self/statm") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + most, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: int) -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = math.ceil(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))
