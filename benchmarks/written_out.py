"""Answers to exercises as the text of a cell: named misconceptions, and the second solutions of the tests."""

import sys
from pathlib import Path

from autograder.question.find import find

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the tests are: a script has its own folder alone

from tests.autograder.answers import sources as second_solutions

__all__ = ["mistaken", "second_solutions"]


def mistaken(name: str) -> list[str]:
    """Each misconception of an exercise as the text of a cell."""
    return [mistake.implementation.source for mistake in find(name).misconceptions]
