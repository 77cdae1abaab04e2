"""`autograder.check` inside the box: it has no answers, so it says nothing. The verdict is computed outside."""

from typing import Any

__all__ = ["CheckFailed", "GraderFault", "Mark", "check", "passes"]


class CheckFailed(AssertionError):  # noqa: N818
    """Never raised here."""


class GraderFault(Exception):  # noqa: N818
    """Never raised here."""


class Mark:
    """No mark is made here."""


def check(name: str, function: Any, *, hidden: bool = False) -> None:
    """Says nothing."""


def passes(name: str, function: Any) -> bool:
    """False: code that depends on a finished exercise is skipped while grading."""
    return False
