"""The launcher's messages: short lines, durations in everyday words, and what to do about a failure."""

import re
from collections.abc import Iterable

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
    r"(?i)externally[- ]managed": (
        "This Python belongs to the operating system. Run without --here, so that the course gets its own .venv."
    ),
    r"Permission denied": "A file could not be written. Check that the folder belongs to you (sudo is never needed).",
}
NO_BUILD = r"[Nn]o matching distribution found for torch|No solution found[\s\S]*torch"
NO_TORCH = """\
PyTorch has no build for this Python on this machine. Try another Python version, for instance
    make lab PYTHON=python3.13"""
OTHERWISE = "Run the same command again; if it fails in the same way, the whole log says more."


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
    """A duration in everyday words: 0.4 s, 12 s, 3 min 05 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def count(number: int, thing: str) -> str:
    """1 notebook, 2 notebooks."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def known(log: str) -> str:
    """What to do about a failure that has nothing to do with what was asked for; empty if it may have."""
    return next((words for pattern, words in ADVICE.items() if re.search(pattern, log)), "")


def advice(log: str) -> str:
    """What to do about a failed step, judging by its log."""
    return known(log) or (NO_TORCH if re.search(NO_BUILD, log) else OTHERWISE)
