"""`autograder.mine` inside the box: nobody has a library there, so a submission is graded with what is in it."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["bring", "mine", "own", "smollm2"]

Function = TypeVar("Function", bound=Callable[..., Any])


def mine(name: str = "") -> None:
    """Nothing is kept here."""


def own(name: str) -> Callable[[Function], Function]:
    """Leaves the function as the notebook has it."""
    return lambda given: given


def bring(*names: str) -> None:
    """Says nothing."""


def smollm2(*functions: Any, **named: Any) -> None:
    """Loads nothing."""
