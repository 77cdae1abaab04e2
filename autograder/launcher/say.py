"""What the launcher says: short lines, steps with their time, and what to do about a failure. Standard library only."""

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

TAIL = 20  # how many lines of the log are shown when a step fails
ADVICE = {
    r"No space left on device|Errno 28|os error 28": (
        "The disk is full. Free some space (the course takes about 2 GB) and run the same command again."
    ),
    r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|invalid peer certificate": (
        "The download was stopped because a security certificate could not be checked. Behind the proxy of a\n"
        "company or a university, ask for its certificate file, set PIP_CERT=/path/to/it.pem and run the same\n"
        "command again."
    ),
    "name resolution|Name or service not known|getaddrinfo failed|nodename nor servname|dns error"
    "|Failed to establish a new connection|NewConnectionError|Network is unreachable|No route to host"
    "|Connection refused|ConnectTimeoutError|ReadTimeoutError|Read timed out|ProxyError|error sending request": (
        "The package index could not be reached: this machine has no network just now, or it needs a proxy\n"
        "(set HTTPS_PROXY=http://host:port). Nothing is lost: run the same command again when the network is\n"
        "back, and it goes on where it stopped."
    ),
    r"[Nn]o matching distribution found for torch|No solution found[\s\S]*torch": (
        "PyTorch has no build for this Python on this machine. Try another Python version, for instance\n"
        "    make lab PYTHON=python3.13"
    ),
    r"(?i)externally[- ]managed": (
        "This Python belongs to the operating system. Run without --here, so that the course gets its own .venv."
    ),
    r"Permission denied": "A file could not be written. Check that the folder belongs to you (sudo is never needed).",
    "": "Run the same command again; if it fails in the same way, the whole log says more.",
}


class SetupError(Exception):
    """A message that the user should read in full, without a traceback."""


def line(text: str = "") -> None:
    print(text, flush=True)


def result(written: Iterable[str], faults: Iterable[str], otherwise: str) -> int:
    """What a verb wrote, and what it left to do, or `otherwise` if there is neither; returns the exit status."""
    done, left = [f"  wrote {name}" for name in written], [f"  ! {fault}" for fault in faults]
    for words in [*done, *left] or [otherwise]:
        line(words)
    return 1 if left else 0


def took(seconds: float) -> str:
    """A duration in everyday words: 12 s, 3 min 05 s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def count(number: int, thing: str) -> str:
    """1 notebook, 2 notebooks."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def advice(log: str) -> str:
    """What to do about a failed step, judging by its log."""
    return next(words for pattern, words in ADVICE.items() if re.search(pattern, log))


class Steps:
    """Steps, one line each with its time; what their commands print goes to a log:
    `with steps.step("pip"): steps.call(python, "-m", "ensurepip")`."""

    def __init__(self, log: Path, environ: Mapping[str, str]) -> None:
        self.log, self.environ, self.output = log, dict(environ), ""
        self.head, self.started = "", 0.0

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        self.head, self.started, done = f"  {what} ... ", time.monotonic(), "failed after "
        print(self.head, end="", flush=True)
        try:
            yield
            done = ""
        finally:
            self._tick(done, "\n")
            self.head = ""

    def note(self, words: str) -> None:
        """Something to know before the step goes on."""
        line("".join(f"\n    {row}" for row in words.splitlines()))

    def _tick(self, done: str = "", end: str = "") -> None:
        again = f"\r{self.head}" if self.head and sys.stdout.isatty() else ""
        if again or end:
            print(f"{again}{done}{took(time.monotonic() - self.started)}  ", end=end, flush=True)

    def call(self, *command: str) -> int:
        """Run one command of the step; returns its exit status."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a+", encoding="utf-8", errors="replace") as log:
            log.write(f"\n$ {' '.join(command)}\n")
            log.flush()
            begin = log.tell()
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.log.parent, env=self.environ
            )
            try:
                while process.poll() is None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=0.2)
                    self._tick()
            except BaseException:
                process.terminate()
                process.wait()
                raise
            log.seek(begin)
            self.output = log.read()
        return process.returncode

    def must(self, *command: str) -> None:
        if self.call(*command):
            raise self.failure()

    def failure(self) -> SetupError:
        """About the last command, with the end of the log."""
        tail = "\n".join("    " + row for row in self.output.splitlines()[-TAIL:])
        return SetupError(f"\nThe last lines of {self.log}:\n\n{tail}\n\n{advice(self.output)}")
