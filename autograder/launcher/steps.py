"""Steps with their time; the output of a step's commands goes to a log, not to the screen."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from autograder.launcher import say

TAIL = 20  # how many lines of the log are shown when a step fails


class Steps:
    """The steps, one line each with its time: `with steps.step("pip"): steps.call(python, "-m", "ensurepip")`."""

    def __init__(self, log: Path, environ: Mapping[str, str]) -> None:
        self.log, self.environ = log, dict(environ)
        self.number = 0
        self.head, self.started = "", 0.0
        self.terminal = sys.stdout.isatty()

    @contextlib.contextmanager
    def step(self, what: str, of: int = 0) -> Iterator[None]:
        self._begin(f"  {self.number}/{of}  {what} ... " if of else f"  {what} ... ")
        try:
            yield
        except say.SetupError:
            self._end(f"failed after {say.took(time.monotonic() - self.started)}")
            raise
        self._end(say.took(time.monotonic() - self.started))

    def instead(self, why: str, notes: str, what: str) -> None:
        """The step is done in a different way: prints why, the details, and what is done now."""
        self._end(why)
        for row in notes.splitlines():
            say.line(f"       {row}")
        self._begin(f"       {what} ... ")

    def _begin(self, head: str) -> None:
        self.head, self.started = head, time.monotonic()
        print(head, end="\r" if self.terminal else "", flush=True)

    def call(self, *command: str, may_fail: bool = False, stop_at: Callable[[str], bool] | None = None) -> bool:
        """Run one command of the step; True when it has ended well.

        A command that fails raises `SetupError` with the last lines of the log, or with `may_fail` gives False.
        `stop_at` gets the command's output so far; if it returns True the command is stopped, and the result is False.
        """
        code = self._run(command, stop_at)
        if code and not may_fail:
            raise say.SetupError(self.failure())
        return code == 0

    def last_output(self) -> str:
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return text[text.rfind("\n$ ") + 1 :]

    def failure(self) -> str:
        text = self.last_output()
        tail = "\n".join("    " + row for row in text.splitlines()[-TAIL:])
        return f"\nThe last lines of {self.log}:\n\n{tail}\n\n{say.advice(text)}"

    def _run(self, command: tuple[str, ...], stop_at: Callable[[str], bool] | None) -> int | None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log:
            log.write("\n$ " + " ".join(command) + "\n")
            log.flush()
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environ, cwd=self.log.parent
            )
            try:
                while True:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        return process.wait(timeout=0.2)
                    if self.terminal:
                        print(f"\r{self.head}{say.took(time.monotonic() - self.started)} ", end="\r", flush=True)
                    if stop_at is not None and stop_at(self.last_output()):
                        _stop(process)
                        return None
            except BaseException:
                _stop(process)
                raise

    def _end(self, result: str) -> None:
        say.line(f"\r{self.head}{result:<20}".rstrip(" ") if self.terminal else result)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
