"""`autograder.check` inside the box: it has no answers, so it says nothing. The verdict is computed outside."""

from typing import Any

__all__ = ["CheckFailed", "GraderFault", "Mark", "check", "failing", "passes", "show_rows"]


class CheckFailed(AssertionError):  # noqa: N818
    """Never raised here."""


class GraderFault(Exception):  # noqa: N818
    """Never raised here."""


class Mark:
    """No mark is made here."""


def check(name: str, function: Any, *, hidden: bool = False) -> None:
    """Says nothing."""


def failing(name: str) -> None:
    """There is none here."""
    raise ValueError("while grading there is no failing input to look at")


def show_rows(name: str, function: Any, *columns: str) -> None:
    """Says nothing."""


def passes(name: str, function: Any) -> bool:
    """False: code that depends on a finished exercise is skipped while grading."""
    return False
