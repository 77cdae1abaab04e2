"""Steps with their time; the output of a step's commands goes to a log, not to the screen."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.launcher import say

TAIL = 20  # how many lines of the log are shown when a step fails


class Steps:
    """The steps, one line each with its time: `with steps.step("pip"): steps.call(python, "-m", "ensurepip")`."""

    def __init__(self, log: Path, environ: Mapping[str, str]) -> None:
        self.log, self.environ = log, dict(environ)
        self.head, self.started = "", 0.0
        self.terminal = sys.stdout.isatty()

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        self._begin(f"  {what} ... ")
        try:
            yield
        except say.SetupError:
            self._end(f"failed after {say.took(time.monotonic() - self.started)}")
            raise
        self._end(say.took(time.monotonic() - self.started))

    def instead(self, why: str, what: str) -> None:
        """The step is done in a different way: prints why, and what is done now."""
        self._end("not to be had")
        for row in why.splitlines():
            say.line(f"    {row}")
        self._begin(f"    {what} ... ")

    def _begin(self, head: str) -> None:
        self.head, self.started = head, time.monotonic()
        print(head, end="\r" if self.terminal else "", flush=True)

    def _end(self, result: str) -> None:
        say.line(f"\r{self.head}{result:<20}".rstrip(" ") if self.terminal else result)

    def call(self, *command: str, may_fail: bool = False) -> bool:
        """Run one command of the step; True when it has ended well. One that fails raises `SetupError` with the last
        lines of the log, or with `may_fail` gives False."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log:
            log.write("\n$ " + " ".join(command) + "\n")
            log.flush()
            where = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL, "cwd": self.log.parent}
            try:
                process = subprocess.Popen(command, env=self.environ, **where)  # type: ignore[call-overload]
            except OSError as error:
                log.write(f"{error}\n")
                code = 127
            else:
                code = self._wait(process)
        if code and not may_fail:
            raise say.SetupError(self.failure())
        return code == 0

    def _wait(self, process: "subprocess.Popen[bytes]") -> int:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(timeout=0.2)
                if self.terminal:
                    print(f"\r{self.head}{say.took(time.monotonic() - self.started)} ", end="\r", flush=True)
        except BaseException:
            process.terminate()
            process.wait()
            raise

    def last_output(self) -> str:
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return text[text.rfind("\n$ ") + 1 :]

    def failure(self) -> str:
        text = self.last_output()
        tail = "\n".join("    " + row for row in text.splitlines()[-TAIL:])
        return f"\nThe last lines of {self.log}:\n\n{tail}\n\n{say.advice(text)}"
