"""`autograder.race.home` inside the box: the race is not run there, but by the grader's own command."""

from typing import Any

__all__ = ["curve", "race"]


def race(*given: Any, **more: Any) -> str:
    """Does nothing."""
    return ""


def curve() -> None:
    """Does nothing."""
