"""What the launcher prints: numbered steps with their time, and pip's noise in a log instead of on the screen."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

TAIL = 20
"""How many lines of the log are shown when a step fails."""

_NO_NETWORK = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "getaddrinfo failed",
    "nodename nor servname",
    "Failed to establish a new connection",
    "NewConnectionError",
    "Network is unreachable",
    "No route to host",
    "Connection refused",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "Read timed out",
    "ProxyError",
    "dns error",
)


class SetupError(Exception):
    """Something the user should read, in full, and nothing else: no traceback is printed for it."""


def line(text: str = "") -> None:
    print(text, flush=True)


def took(seconds: float) -> str:
    """A duration as one says it: 0.4 s, 12 s, 3 min 05 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def advice(log: str) -> str:
    """What to do about a failed step, from the words that its log contains."""
    if "No space left on device" in log or "Errno 28" in log:
        return "The disk is full. Free some space (the course takes about 2 GB) and run the same command again."
    if "CERTIFICATE_VERIFY_FAILED" in log or "SSLCertVerificationError" in log:
        return (
            "The download was stopped because a security certificate could not be checked. Behind the proxy of a\n"
            "company or a university, ask for its certificate file, set PIP_CERT=/path/to/it.pem and run the same\n"
            "command again."
        )
    if any(sign in log for sign in _NO_NETWORK):
        return (
            "The package index could not be reached: this machine has no network just now, or it needs a proxy\n"
            "(set HTTPS_PROXY=http://host:port). Nothing is lost: run the same command again when the network is\n"
            "back, and it goes on where it stopped."
        )
    if "No matching distribution found for torch" in log or "no matching distribution found for torch" in log:
        return (
            "PyTorch has no build for this Python on this machine. Try another Python version, for instance\n"
            "    make lab PYTHON=python3.13"
        )
    if "externally-managed-environment" in log:
        return "This Python belongs to the operating system. Run without --here, so that the course gets its own .venv."
    if "Permission denied" in log:
        return "A file could not be written. Check that the folder belongs to you (sudo is never needed)."
    return "Run the same command again; if it fails in the same way, the whole log says more."


class Steps:
    """Numbered steps, each with its time; a failure leaves the log's last words on the screen and raises."""

    def __init__(self, total: int, log: Path) -> None:
        self.total, self.log, self.number = total, log, 0

    def run(
        self,
        what: str,
        *commands: Sequence[str],
        env: dict[str, str] | None = None,
        stop_at: Callable[[str], bool] | None = None,
        may_fail: bool = False,
    ) -> bool:
        """Run the commands one after the other as one step.

        Returns True when all have ended well. `stop_at` is shown what the running command has printed so far; when it
        says True the command is stopped and the answer is False. A failing command raises `SetupError` with the last
        lines of the log, or with `may_fail` gives False.
        """
        self.number += 1
        head = f"  {self.number}/{self.total}  {what} ... "
        started = time.monotonic()
        print(head, end="\r" if sys.stdout.isatty() else "", flush=True)
        for command in commands:
            code = self._run(command, head, started, env, stop_at)
            if code is None or (code and may_fail):
                self._end_line(head, "not to be had here")
                self.number -= 1
                return False
            if code:
                self._end_line(head, f"failed after {took(time.monotonic() - started)}")
                raise SetupError(self.failure(what, code))
        self._end_line(head, took(time.monotonic() - started))
        return True

    def last_output(self) -> str:
        """What the last command has printed."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return text[text.rfind("\n$ ") + 1 :]

    def failure(self, what: str, code: int) -> str:
        text = self.last_output()
        tail = "\n".join("    " + row for row in text.splitlines()[-TAIL:])
        return f"\n{what}: failed (exit code {code}). The last lines of {self.log}:\n\n{tail}\n\n{advice(text)}"

    def _run(
        self,
        command: Sequence[str],
        head: str,
        started: float,
        env: dict[str, str] | None,
        stop_at: Callable[[str], bool] | None,
    ) -> int | None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log:
            log.write("\n$ " + " ".join(command) + "\n")
            log.flush()
            process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env)
            try:
                while True:
                    with suppress(subprocess.TimeoutExpired):
                        return process.wait(timeout=0.2)
                    if sys.stdout.isatty():
                        print(f"\r{head}{took(time.monotonic() - started)} ", end="\r", flush=True)
                    if stop_at is not None and stop_at(self.last_output()):
                        self._kill(process)
                        return None
            except BaseException:
                self._kill(process)
                raise

    @staticmethod
    def _kill(process: "subprocess.Popen[bytes]") -> None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @staticmethod
    def _end_line(head: str, result: str) -> None:
        """Finish the step's line: written over on a terminal, written on in a file."""
        line(f"\r{head}{result:<20}".rstrip() if sys.stdout.isatty() else result)
