"""Finds the exercises of an assignment: declared in `solutions`, or, in a student's copy, as data."""

import functools
from collections.abc import Mapping

from autograder import assignments
from autograder.question.public import FOLDER, read_exercises
from autograder.question.specification import Exercise

_recorded = functools.cache(read_exercises)


def exercises_of(assignment: str) -> Mapping[str, Exercise]:
    """All exercises of an assignment, by name; none if it is made of plain nbgrader tests, or does not exist."""
    checks = assignments.module(assignment)
    if checks is None:
        return _recorded(assignment)
    declared: Mapping[str, Exercise] = checks.EXERCISES
    return declared


def find(name: str) -> Exercise:
    """The exercise "assignment.function". Raises ValueError if it does not exist; the message lists those that do."""
    assignment = name.partition(".")[0]
    known = exercises_of(assignment)
    if name not in known:
        there = f"there are {', '.join(known)}" if known else f"there is no assignment {assignment!r}"
        raise ValueError(f"no exercise is called {name!r}; {there}")
    return known[name]


def is_asked_for(function: str) -> bool:
    """Whether an assignment asks for a function of this name. Found by text, since importing all declarations takes
    seconds."""
    files = (*FOLDER.glob("*.json"), *assignments.code())
    return any(f'.{function}"' in file.read_text(encoding="utf-8") for file in files)
