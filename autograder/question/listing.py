"""The function that a find-the-bug question gives to students: its text, its lines, and which of them is wrong."""

import functools
from dataclasses import dataclass
from typing import Any

from autograder.question.specification import Exercise

BEGIN = "### BEGIN SOLUTION"


class EditError(ValueError):
    """An edit that cannot be applied to a solution. The text names the question, the misconception and the edit."""


def solution_in(function: Any) -> str:
    """The part of a declared function that students write, indented; "" where solutions are not."""
    source: str = function.__dict__.get("source", "")
    return source.partition(f"{BEGIN}\n")[2]


@dataclass(frozen=True)
class Listing:
    lines: tuple[str, ...]  # from `def` on
    right: tuple[str, ...]  # the same of the solution
    given: str
    """The part that replaces the solution."""

    @property
    def wrong(self) -> int:
        """The number of the line that is wrong, from 1."""
        return next(n for n, pair in enumerate(zip(self.lines, self.right, strict=True), 1) if pair[0] != pair[1])

    def number(self, text: str) -> int:
        """The number of the only line that contains a text."""
        found = [n for n, line in enumerate(self.lines, 1) if text in line]
        if len(found) != 1:
            raise EditError(f"the text {text!r} should occur in one line of the listing, and occurs in {len(found)}")
        return found[0]

    @property
    def numbered(self) -> str:
        rows = (f"{n:2}  {line}".rstrip() for n, line in enumerate(self.lines, 1))
        return "\n".join(["```text", *rows, "```"])


@functools.cache
def listing_of(exercise: Exercise) -> Listing:
    """Raises EditError if not exactly one line differs from the solution, or if the exercise plants no bug."""
    if exercise.planted is None:
        raise EditError(f"{exercise.name} plants no bug, so it has no listing")
    lines, right = (_lines(function.__dict__["source"]) for function in (exercise.planted, exercise.reference))
    differ = sum(one != other for one, other in zip(lines, right, strict=False)) + abs(len(lines) - len(right))
    if differ != 1:
        raise EditError(f"{exercise.name}: a planted bug is one wrong line, and here {differ} lines differ")
    if any(one in other for one, other in zip(right, lines, strict=True) if one != other):
        raise EditError(f"{exercise.name}: the wrong line contains the right one, which would give it away")
    return Listing(lines, right, solution_in(exercise.planted))


def _lines(source: str) -> tuple[str, ...]:
    return tuple(line for line in source.rstrip().split("\n") if line.strip() != BEGIN)
